"""What ends a run, or a process of it: nothing lost, nothing twice, nothing left, one line."""

import json
import os
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from compare.fleet.tables import read_table
from compare.samples.families import Family
from tests.assay.calling import ASSAY
from tests.compare.fleet.processes import children
from tests.compare.fleet.running import Running, fill

GROUPS = 24
GOES_ON = "what was done is kept; the same command goes on"


@dataclass(frozen=True)
class End:
    """How a run ended, and what was left of it."""

    code: int
    out: str
    err: str
    left: list[str]

    @property
    def last(self) -> str:
        return self.err.splitlines()[-1]


@dataclass(frozen=True)
class Ends:
    """Runs of one job into one folder, each ended in another way; the last one ran to its end."""

    folder: Path
    by: dict[str, End]


def interrupted_while_java_starts(run: Running) -> tuple[int, str, str]:
    run.until(run.processes)
    return run.send(signal.SIGINT)


def interrupted(run: Running) -> tuple[int, str, str]:
    run.at_the_gate()
    return run.send(signal.SIGINT)


def terminated(run: Running) -> tuple[int, str, str]:
    run.at_the_gate()
    return run.send(signal.SIGTERM)


def killed(run: Running) -> tuple[int, str, str]:
    run.at_the_gate()
    return run.send(signal.SIGKILL)


def without_java(run: Running) -> tuple[int, str, str]:
    run.at_the_gate()
    os.kill(run.jvm(), signal.SIGKILL)
    return run.end()


def without_a_worker(run: Running) -> tuple[int, str, str]:
    run.at_the_gate()
    os.kill(run.worker(), signal.SIGKILL)
    return run.end()


def to_the_end(run: Running) -> tuple[int, str, str]:
    """A worker, then a child, then the daemon of the workers is killed on the way."""
    for part in (run.worker, run.child, run.daemon):
        run.at_the_gate()
        (run.folder / "asked").unlink()
        os.kill(part(), signal.SIGKILL)
    run.open()
    return run.end()


@pytest.fixture(scope="module")
def ends(tmp_path_factory) -> Ends:
    folder = tmp_path_factory.mktemp("ends")
    fill(folder, GROUPS)
    by = {}
    for ending, master in [
        (interrupted_while_java_starts, "local[2,3]"),
        (interrupted, "local[2,3]"),
        (terminated, "local[2,3]"),
        (killed, "local[2,3]"),
        (without_java, "local[2,3]"),
        (without_a_worker, "local[2]"),
        (to_the_end, "local[2,3]"),
    ]:
        run = Running(folder, "--master", master)
        by[ending.__name__] = End(*ending(run), run.left())
    return Ends(folder, by)


@pytest.mark.spark
@pytest.mark.parametrize(
    ("name", "code"),
    [("interrupted_while_java_starts", 130), ("interrupted", 130), ("terminated", 143)],
)
def test_a_signal_ends_a_run_in_one_line_with_its_exit_code(ends, name, code):
    end = ends.by[name]
    assert (end.code, end.out) == (code, "")
    assert end.last == f"assay: interrupted: {GOES_ON}"
    assert len([line for line in end.err.splitlines() if line.startswith("assay")]) == 1
    assert "Traceback" not in end.err


@pytest.mark.spark
@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("without_java", "Spark's Java process ended"),
        ("without_a_worker", "a Python process of Spark's ended"),
    ],
)
def test_a_process_of_sparks_that_ends_ends_the_run_in_one_line(ends, name, said):
    end = ends.by[name]
    assert (end.code, end.out) == (3, "")
    assert end.last == f"assay: an error inside: {said}; {GOES_ON}"
    assert "Traceback" not in end.err


@pytest.mark.spark
def test_no_process_and_no_scratch_is_left_however_a_run_ends(ends):
    assert {name: end.left for name, end in ends.by.items()} == {name: [] for name in ends.by}
    assert ends.by["killed"].code == -signal.SIGKILL


@pytest.mark.spark
def test_a_run_that_is_terminated_with_all_below_it_is_logged_as_interrupted(tmp_path):
    fill(tmp_path, 2)
    run = Running(tmp_path, "--master", "local[1]")
    run.at_the_gate()
    run.send_to_all(signal.SIGTERM)
    code, out, err = run.end()
    assert (code, out) == (143, "")
    assert err.splitlines()[-1] == f"assay: interrupted: {GOES_ON}"
    (row,) = read_table(tmp_path / "out", "runs").to_dict("records")
    assert (row["ended"], row["reason"]) == ("interrupted", None)
    assert run.left() == []


@pytest.mark.spark
def test_where_tasks_are_tried_again_no_process_below_java_is_missed(ends):
    end = ends.by["to_the_end"]
    assert end.code == 0, end.err
    assert f"\n{GROUPS} groups, {GROUPS} of them with a proved optimum, " in end.out
    assert "1 input failed" in end.out


@pytest.mark.spark
def test_after_all_these_ends_nothing_is_lost_and_nothing_is_there_twice(ends):
    tables = {
        name: read_table(ends.folder / "out", name)
        for name in ("groups", "optima", "scores", "failures")
    }
    names = sorted(f"g{n}" for n in range(GROUPS))
    assert sorted(tables["groups"]["group"]) == names
    assert sorted(tables["optima"]["group"]) == names
    assert set(tables["optima"]["status"]) == {"optimal"}
    assert len(tables["failures"]) == 1
    for assignor, rows in tables["scores"].groupby("assignor"):
        assert sorted(rows["group"]) == names, assignor
    asked = tables["scores"][tables["scores"]["assignor"] != "current"]
    reasons = asked[asked["status"] != "scored"]["reason"].tolist()
    # The group that a child was at when it was killed; a task that is tried again asks once more.
    assert len(reasons) <= 1
    assert all("died" in reason for reason in reasons)


@pytest.mark.spark
def test_a_run_that_solves_what_it_reads_goes_on_after_it_and_a_worker_were_killed(tmp_path):
    documents = [Family(10, 6, 6, "random", "join-one").group(n).to_dict() for n in range(50)]
    names = [f"g{n:05}" for n in range(5_000)]
    with (tmp_path / "in.jsonl").open("w") as lines:
        for n, name in enumerate(names):
            lines.write(f"{json.dumps({**documents[n % 50], 'group': name})}\n")
    out = tmp_path / "out"

    def parts() -> int:
        return len([*(out / "parts").glob("*.parquet")])

    def start() -> Running:
        return Running(tmp_path, "--master", "local[1,3]", assignors=("current",))

    run = start()
    run.until(parts)
    run.send(signal.SIGKILL)
    assert run.left() == []
    before = parts()
    run = start()
    run.until(lambda: parts() > before)
    os.kill(children(run.daemon())[0], signal.SIGKILL)
    code, said, err = run.end()
    assert code == 0, err
    assert "\n5,000 groups, 5,000 of them with a proved optimum, " in said
    assert run.left() == []
    for name in ("groups", "optima", "scores"):
        assert sorted(read_table(out, name)["group"]) == names, name
        files = (out / name).glob("*.parquet")
        assert sum(pq.read_metadata(file).num_rows for file in files) == 5_000, name


@pytest.mark.spark
def test_runs_side_by_side_into_one_folder_all_end_well_and_nothing_is_there_twice(tmp_path):
    fill(tmp_path, GROUPS)
    (tmp_path / "open").touch()
    runs = [Running(tmp_path, "--master", "local[1,3]") for _ in range(3)]
    ended = [run.end() for run in runs]
    assert [code for code, _, _ in ended] == [0, 0, 0], ended
    for _, out, _ in ended:
        assert f"\n{GROUPS} groups, {GROUPS} of them with a proved optimum, " in out
    for name, rows in (("groups", GROUPS), ("optima", GROUPS), ("scores", 2 * GROUPS)):
        assert len(read_table(tmp_path / "out", name)) == rows
    assert runs[0].left() == []


def test_a_scratch_folder_of_a_dead_run_is_cleared_by_the_next_one_and_others_are_not(
    tmp_path, monkeypatch
):
    from compare.runs.session.scratch import scratch

    monkeypatch.setenv("SPARK_LOCAL_DIRS", str(tmp_path))
    dead, other = tmp_path / "assay-spark-dead", tmp_path / "assay-spark-other"
    for folder in (dead, other):
        folder.mkdir()
    (dead / "lock").touch()
    before = children(os.getpid())
    with scratch() as first:
        assert not dead.exists()
        with scratch() as second:
            assert {first, second, other} == set(tmp_path.iterdir())
        assert not second.exists()
        assert first.exists()
    assert [*tmp_path.iterdir()] == [other]
    assert children(os.getpid()) == before


def run_with_scratch_on(disk: Path, room: str) -> subprocess.CompletedProcess[str]:
    """Run with scratch on a disk of its own; say the exit code, and what is left on it."""
    fill(disk.parent, GROUPS)
    disk.mkdir()
    alone = ["unshare", "--map-root-user", "--mount", "sh", "-c"]
    mounted = f"mount -t tmpfs -o {room} tmpfs {disk}"
    tried = subprocess.run([*alone, mounted], capture_output=True, text=True, check=False)
    if tried.returncode:
        pytest.skip(f"no small disk can be mounted here: {tried.stderr.strip()}")
    run = f"{ASSAY} run in.jsonl --out out --assignor current; echo $?; ls {disk}"
    return subprocess.run(
        [*alone, f"{mounted}; {run}"], capture_output=True, text=True, cwd=disk.parent,
        env={**os.environ, "SPARK_LOCAL_DIRS": str(disk)}, timeout=240, check=False,
    )  # fmt: skip


@pytest.mark.spark
def test_no_space_for_scratch_is_one_line_with_the_place_and_nothing_is_left_there(tmp_path):
    disk = tmp_path / "disk"
    ran = run_with_scratch_on(disk, "size=1m,nr_inodes=12")
    assert ran.stdout == "2\n", ran.stderr
    assert ran.stderr.splitlines()[-1] == f"assay: {disk}: no space left on device; {GOES_ON}"
    assert "Traceback" not in ran.stderr


@pytest.mark.spark
@pytest.mark.parametrize("room", ["size=4k", "size=1m,nr_inodes=3"])
def test_a_scratch_disk_without_any_room_is_one_line_before_java_starts(tmp_path, room):
    disk = tmp_path / "disk"
    ran = run_with_scratch_on(disk, room)
    assert ran.stdout == "2\n", ran.stderr
    line = f"assay: {disk}: no scratch folder can be made: No space left on device"
    assert ran.stderr.splitlines()[-1] == line
