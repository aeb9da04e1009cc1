"""What ends a run, or a process of it: nothing lost, nothing twice, nothing left, one line."""

import os
import signal
from dataclasses import dataclass
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from compare.fleet.tables import read_table
from tests.compare.fleet.running import Running, fill_two_portions

pytestmark = [pytest.mark.kills, pytest.mark.spark]

GROUPS = 24
GOES_ON = "what was done is kept; the same command goes on"


@dataclass(frozen=True)
class End:
    """A run's exit code and output, and the processes and files that were left."""

    code: int
    out: str
    err: str
    left: list[str]


def interrupted_while_java_starts(run: Running) -> tuple[int, str, str]:
    run.until(run.processes)
    return run.send(signal.SIGINT)


def interrupted(run: Running) -> tuple[int, str, str]:
    run.at_the_gate()
    return run.send(signal.SIGINT)


def without_java(run: Running) -> tuple[int, str, str]:
    run.at_the_gate()
    os.kill(run.jvm(), signal.SIGKILL)
    return run.end()


def without_a_worker(run: Running) -> tuple[int, str, str]:
    run.at_the_gate()
    os.kill(run.worker(), signal.SIGKILL)
    return run.end()


def terminated_with_all_below(run: Running) -> tuple[int, str, str]:
    run.at_the_gate()
    run.send_to_all(signal.SIGTERM)
    return run.end()


def to_the_end_and_beside(folder: Path) -> dict[str, End]:
    """Kill a worker, a child and the workers' daemon of a run; then start a run beside it."""
    run = Running(folder, "--master", "local[2,3]", source="in")
    for part in (run.worker, run.child, run.daemon):
        run.at_the_gate()
        (folder / "asked").unlink()
        os.kill(part(), signal.SIGKILL)
    beside = Running(folder, "--master", "local[1,3]", source="in", scratch="beside")
    beside.at_the_gate()
    run.open()
    runs = {"to_the_end": run, "beside": beside}
    ended = [one.end() for one in runs.values()]
    return {
        name: End(*end, run.left()) for (name, run), end in zip(runs.items(), ended, strict=True)
    }


# What ends a run: Spark's master, the run's exit code, and what it says.
ENDINGS = {
    interrupted_while_java_starts: ("local[2,3]", 130, "interrupted:"),
    interrupted: ("local[2,3]", 130, "interrupted:"),
    terminated_with_all_below: ("local[2,3]", 143, "interrupted:"),
    without_java: ("local[2,3]", 3, "an error inside: Spark's Java process ended;"),
    without_a_worker: ("local[2]", 3, "an error inside: a Python process of Spark's ended;"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("ends")


@pytest.fixture(scope="module")
def ends(folder) -> dict[str, End]:
    """Runs of one job into one folder, each ended in another way; the last two completed."""
    fill_two_portions(folder, GROUPS)
    by = {}
    for ending, (master, _, _) in ENDINGS.items():
        run = Running(folder, "--master", master, source="in")
        by[ending.__name__] = End(*ending(run), run.left())
    return by | to_the_end_and_beside(folder)


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_signal_or_the_end_of_a_process_of_sparks_ends_a_run_in_one_line(ends, ending):
    _, code, said = ENDINGS[ending]
    end = ends[ending.__name__]
    assert (end.code, end.out) == (code, "")
    told = [line for line in end.err.splitlines() if line.startswith("assay")]
    assert told == [f"assay: {said} {GOES_ON}"] == end.err.splitlines()[-1:]
    assert "Traceback" not in end.err


def test_no_process_and_no_scratch_is_left_however_a_run_ends(ends):
    """Also of one that is killed itself: tests/compare/fleet/test_stores.py."""
    assert {name: end.left for name, end in ends.items()} == {name: [] for name in ends}


@pytest.mark.parametrize("name", ["to_the_end", "beside"])
def test_where_tasks_are_tried_again_and_a_run_is_beside_no_process_below_java_is_missed(
    ends, name
):
    end = ends[name]
    assert end.code == 0, end.err
    assert f"\n{2 * GROUPS} groups, {2 * GROUPS} of them with a proved optimum, " in end.out
    assert f", {GROUPS} of them new in this run, 2 inputs failed, " in end.out


def test_after_all_these_ends_nothing_is_lost_and_nothing_is_there_twice(ends, folder):
    out = folder / "out"
    names = sorted(f"{kind}{n}" for kind in ("free", "g") for n in range(GROUPS))
    counts = {"groups": 1, "optima": 1, "scores": 2}
    for name, count in counts.items():
        assert sorted(read_table(out, name)["group"]) == sorted(names * count), name
    beside = max(read_table(out, "runs")["run"])
    tables = {}
    for name in (*counts, "failures"):
        every = pq.ParquetDataset(out / name).read().to_pandas()
        # Two concurrent runs write the same rows; readers take those of the later run.
        tables[name] = rows = every[every["run"] != beside]
        assert sorted(rows["key"]) == sorted(read_table(out, name)["key"]), name
    optima, scores = tables["optima"], tables["scores"]
    assert set(optima["status"]) == {"optimal"}
    assert len(tables["failures"]) == 2
    # The first portion comes from the run that was interrupted after it was written.
    assert optima[optima["group"].str.startswith("free")]["run"].nunique() == 1
    asked = scores[scores["assignor"] != "current"]
    reasons = asked[asked["status"] != "scored"]["reason"].tolist()
    # Only the group that a killed child was solving may fail; a retried task solves it again.
    assert len(reasons) <= 1
    assert all("died" in reason for reason in reasons)
