"""What a worker does with a part of the input and with a piece of what is missing."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from compare.runs.job import Job
from compare.runs.pipeline import cut
from compare.runs.tables.folder import prepared
from compare.runs.tables.stored import read_table
from compare.runs.work.missing import missing_of, solved_in
from compare.runs.work.phases import Files
from compare.runs.work.plan import Missing, pieces
from compare.runs.work.process import Process
from compare.runs.work.reading import ReadingTask
from compare.runs.work.stored import Stored
from compare.runs.work.tally import Tally
from compare.runs.work.task import (
    BATCH_SECONDS,
    GROWTH,
    MOST_WORKERS,
    Task,
    following,
    guests_seconds,
)
from compare.runs.work.unwritten import Unwritten
from heuristics.assignor import Assignor
from heuristics.shipped.probe.guest import WAIT_SECONDS
from tests.compare.conftest import lopsided
from tests.compare.runs.work import harmful

SECONDS = 1.5
LAG = ("peak_lag",)
SLOWLY = "tests.compare.runs.work.harmful:slowly"
REASONS = {
    "killed-harm": r"the child process died \(exit code -9\)",
    "segfault-harm": r"the child process died \(exit code -11\)",
    "raise-harm": "KeyError: 'arc 7'",
    "greedy-harm": r"it used more than 800 MB",
    "hang-harm": r"no answer within \d+(\.\d+)? s",
}
# Only a hang is to come to the limit, however slow the machine is.
HARM = pytest.mark.parametrize(
    ("reasons", "seconds"),
    [
        ({name: said for name, said in REASONS.items() if name != "hang-harm"}, 100.0),
        ({"hang-harm": REASONS["hang-harm"]}, SECONDS),
    ],
    ids=["deaths", "hang"],
)


def job_for(
    folder: Path, *assignors: str, objective=("balance", "stickiness"), seconds: float = SECONDS
) -> Job:
    return Job(folder / "in.jsonl", folder / "out", objective, assignors, seconds)


RUN = "20261122T080000000000Z-0123abcd"


def task_of(job: Job, process: Process, tally: Tally, **how) -> Task:
    return Task(job, process, tally, Unwritten(job.out, RUN, tally), **how)


def test_a_batch_has_the_time_in_which_every_worker_s_groups_are_asked_about_up_to_three_times(
    tmp_path,
):
    job = job_for(tmp_path, "range", seconds=10.0)
    assert guests_seconds(job, 4) == 0
    guest = Assignor("a/range", "probed", "", None, dict)
    each = 3 * (10.0 + WAIT_SECONDS)
    assert guests_seconds(replace(job, guests=(guest,)), 4) >= MOST_WORKERS * 4 * each


def read(job: Job, process: Process, tally: Tally, again: bool = False, **how) -> None:
    prepared(job.out)
    stored = Stored(job.out, RUN, dict(Files.whole(job.out, RUN).of))
    asked = {name: how.pop(name) for name in ("solve", "score") if name in how}
    task = ReadingTask(task_of(job, process, tally, **asked), stored, **how)
    for split in [*cut(job), *(cut(job) if again else ())]:
        task.work_on(split)


def missing(job: Job) -> Missing:
    return missing_of(job, sorted(set(read_table(job.out, "groups", ["key"])["key"])))


def solve(job: Job, process: Process, tally: Tally, **how) -> int:
    """Solve what is missing of all that was read; return how much that was."""
    left = missing(job)
    for piece in pieces(left, job, 2):
        task_of(job, process, tally, **how).work_on(piece)
    return len(left)


def fill(job: Job, names: list[str]) -> None:
    lines = [json.dumps(lopsided(name)) for name in names]
    job.source.write_text("\n".join(lines) + "\n")


def names_with(harmful_ones: list[str], count: int = 24) -> list[str]:
    names = [f"g{i}" for i in range(count)]
    for i, name in enumerate(harmful_ones):
        names.insert(3 + 5 * i, name)
    return names


@pytest.fixture(scope="module")
def process():
    with Process(memory_bytes=800_000_000) as one:
        yield one


@HARM
def test_groups_that_their_solver_does_not_survive_are_rows_and_the_others_are_solved(
    tmp_path, process, reasons, seconds
):
    job, tally = job_for(tmp_path, "current", "range", seconds=seconds), Tally()
    names = names_with([*reasons])
    fill(job, names)
    read(job, process, tally)
    assert solve(job, process, tally, solve=harmful.solve_rows) == len(names)
    optima = read_table(job.out, "optima").set_index("group")
    scores = read_table(job.out, "scores").set_index(["group", "assignor"])
    assert len(optima) == len(names)
    assert len(scores) == 2 * len(names)
    failed = optima[optima["status"] == "failed"]
    assert set(failed.index) == set(reasons)
    for name, row in failed.iterrows():
        assert re.fullmatch(reasons[name], row["reason"])
        for assignor in ("current", "range"):
            score = scores.loc[(name, assignor)]
            assert (score["status"], score["reason"]) == ("failed", f"no optimum: {row['reason']}")
    assert set(optima[optima["status"] == "optimal"].index) == set(names) - set(reasons)
    assert (tally.counts["groups"], tally.counts["failed"]) == (len(names), len(reasons))


def test_a_group_that_harms_its_scorer_alone_keeps_its_optimum(tmp_path, process):
    job, tally = job_for(tmp_path, "current", "range"), Tally()
    fill(job, names_with(["segfault-harm"], 15))
    read(job, process, tally)
    solve(job, process, tally, score=harmful.score_rows)
    assert set(read_table(job.out, "optima")["status"]) == {"optimal"}
    scores = read_table(job.out, "scores")
    bad = scores[scores["status"] != "scored"]
    assert bad[["group", "assignor", "status", "reason"]].to_numpy().tolist() == [
        ["segfault-harm", "range", "failed", "the child process died (exit code -11)"]
    ]
    assert len(scores) == 2 * 16


@HARM
def test_a_text_that_harms_its_reader_is_a_failure_with_the_name_of_its_group(
    tmp_path, process, reasons, seconds
):
    job, tally = job_for(tmp_path, "current", seconds=seconds), Tally()
    names = names_with([*reasons])
    fill(job, names)
    read(job, process, tally, read=harmful.read_items)
    assert set(read_table(job.out, "groups")["group"]) == set(names) - set(reasons)
    failures = read_table(job.out, "failures").set_index("group")
    assert set(failures.index) == set(reasons)
    for name, row in failures.iterrows():
        assert re.fullmatch(reasons[name], row["reason"])
        assert row["place"] == f"{job.source}:{names.index(name) + 1}"
    assert (len(tally.keys), len(tally.failures)) == (24, len(reasons))


def test_what_is_stored_is_not_done_again(tmp_path, process):
    job, tally = job_for(tmp_path, "current"), Tally()
    fill(job, names_with([], 5))
    read(job, process, tally)
    assert solve(job, process, tally) == 0
    before = sorted(path for path in job.out.rglob("*.parquet"))
    read(job, process, tally)
    assert solve(job, process, tally) == 0
    assert sorted(path for path in job.out.rglob("*.parquet")) == before
    more = job_for(tmp_path, "current", "range")
    assert solve(more, process, tally) == 5
    assert len(read_table(job.out, "optima")) == 5
    assert read_table(job.out, "scores")["assignor"].value_counts().to_dict() == {
        "current": 5,
        "range": 5,
    }


def test_a_group_that_is_in_several_parts_of_the_input_is_written_once_by_who_reads_them(
    tmp_path, process
):
    job, tally = job_for(tmp_path, "current"), Tally()
    fill(job, names_with([], 5))
    read(job, process, tally, again=True)
    for name in ("groups", "optima", "scores"):
        (file,) = (job.out / name).glob("*.parquet")
        assert pq.read_metadata(file).num_rows == 5
    assert len(tally.keys) == 10


def test_groups_that_are_new_and_cheap_are_solved_as_they_are_read(tmp_path, process):
    job, tally = job_for(tmp_path, "current"), Tally()
    unknown, large = lopsided("unknown"), lopsided("large")
    for member in unknown["members"].values():
        member["subscription"] = None
    large["topics"]["t0"] = 20_000
    lines = [json.dumps(one) for one in (*map(lopsided, ("a", "b", "c")), unknown, large)]
    job.source.write_text("\n".join(lines) + "\n")
    read(job, process, tally)
    assert tally.counts["groups"] == 3
    for name in ("optima", "scores"):
        assert sorted(read_table(job.out, name)["group"]) == ["a", "b", "c"]
    assert solve(job, process, tally) == 2
    for name in ("groups", "optima", "scores"):
        assert len(read_table(job.out, name)) == 5


def test_where_assignors_are_asked_or_a_tier_is_a_search_nothing_is_solved_as_it_is_read(
    tmp_path, process
):
    tally = Tally()
    for job in (
        job_for(tmp_path, "current", "range"),
        job_for(tmp_path, "current", objective=LAG),
    ):
        fill(job, names_with([], 3))
        read(job, process, tally)
    assert tally.counts["groups"] == 0
    assert len(read_table(job.out, "groups")) == 3


def test_rows_are_the_same_whether_groups_are_solved_as_they_are_read_or_later(
    tmp_path, process, monkeypatch
):
    tables = []
    for most in (1.0, 0.0):
        monkeypatch.setattr("compare.runs.work.plan.CHEAP_SECONDS", most)
        folder = tmp_path / str(most)
        folder.mkdir()
        job, tally = job_for(folder, "current"), Tally()
        fill(job, names_with([], 20))
        read(job, process, tally)
        assert solve(job, process, tally) == (0 if most else 20)
        tables.append(
            [
                read_table(job.out, name).drop(columns="seconds").set_index("key").sort_index()
                for name in ("optima", "scores")
            ]
        )
    for now, later in zip(*tables, strict=True):
        assert now.to_json() == later.to_json()


@HARM
def test_a_group_that_harms_its_solver_as_it_is_read_is_a_row_and_the_others_are_solved(
    tmp_path, process, reasons, seconds
):
    job, tally = job_for(tmp_path, "current", seconds=seconds), Tally()
    names = names_with([*reasons])
    fill(job, names)
    read(job, process, tally, solve=harmful.solve_rows)
    assert (tally.counts["groups"], tally.counts["failed"]) == (len(names), len(reasons))
    assert solved_in(job, RUN) == (len(names), len(reasons))
    assert solve(job, process, tally) == 0
    optima = read_table(job.out, "optima").set_index("group")
    assert len(read_table(job.out, "groups")) == len(optima) == len(names)
    for name, row in optima.iterrows():
        assert row["status"] == ("failed" if name in reasons else "optimal")
        assert name not in reasons or re.fullmatch(reasons[name], row["reason"])


def test_what_was_found_of_groups_whose_rows_were_lost_is_not_found_again(tmp_path, process):
    job, tally = job_for(tmp_path, "current"), Tally()
    fill(job, names_with([], 5))
    read(job, process, tally)
    (lost,) = (job.out / "groups").glob("*.parquet")
    lost.unlink()
    (scored,) = (job.out / "scores").glob("*.parquet")
    scored.unlink()
    more = Tally()
    read(job, process, more)
    assert more.counts["groups"] == 0
    assert solve(job, process, more) == 5
    (file,) = (job.out / "optima").glob("*.parquet")
    assert pq.read_metadata(file).num_rows == len(read_table(job.out, "scores")) == 5


def test_a_group_that_two_workers_have_read_is_counted_once_and_read_once(tmp_path, process):
    job, tally = job_for(tmp_path, "current"), Tally()
    fill(job, names_with([], 5))
    prepared(job.out)
    workers = [Stored(job.out, RUN, dict(Files.whole(job.out, RUN).of)) for _ in range(2)]
    for stored in workers:
        assert {len(stored[name]) for name in stored.files} == {0}
    for stored in workers:
        for split in cut(job):
            ReadingTask(task_of(job, process, tally), stored).work_on(split)
    assert tally.counts["groups"] == 10
    assert solved_in(job, RUN) == (5, 0)
    assert len(read_table(job.out, "optima")) == 5
    assert solve(job, process, tally) == 0


def test_rows_do_not_depend_on_how_groups_are_put_together(tmp_path, process):
    tables = []
    for size in (1, 7, 60):
        folder = tmp_path / str(size)
        folder.mkdir()
        job, tally = job_for(folder, "current", "range"), Tally()
        fill(job, names_with([], 60))
        read(job, process, tally)
        keys = sorted(read_table(job.out, "groups", ["key"])["key"])
        for start in range(0, len(keys), size):
            for piece in pieces(missing_of(job, keys[start : start + size]), job, 1):
                task_of(job, process, tally).work_on(piece)
        tables.append(
            [
                read_table(job.out, name).drop(columns="seconds").set_index("key").sort_index()
                for name in ("optima", "scores")
            ]
        )
    for optima, scores in tables[1:]:
        assert optima.to_json() == tables[0][0].to_json()
        assert scores.to_json() == tables[0][1].to_json()


def test_where_assignors_are_slow_what_is_done_is_written_on_the_way(
    tmp_path, process, monkeypatch
):
    monkeypatch.setattr("compare.runs.work.unwritten.WRITE_SECONDS", 0.3)
    monkeypatch.setattr("compare.runs.work.task.BATCH_SECONDS", 0.1)
    job, tally = job_for(tmp_path, "current", SLOWLY), Tally()
    fill(job, [f"g{i}" for i in range(100)])
    read(job, process, tally)
    assert solve(job, process, tally) == 100
    rows = [
        [pq.read_metadata(file).num_rows for file in sorted((job.out / name).glob("*.parquet"))]
        for name in ("optima", "scores")
    ]
    assert [sum(of_files) for of_files in rows] == [100, 200]
    assert len(rows[0]) == len(rows[1]) >= 3


def test_batches_grow_while_assignors_are_quick_and_shrink_where_they_are_slow():
    assert following(4, 0.001) == 4 * GROWTH
    assert following(64, 2 * BATCH_SECONDS) == 32
    assert following(1, 100 * BATCH_SECONDS) == 1


def test_searches_run_one_group_at_a_time_and_a_lack_of_lag_is_a_reason(tmp_path, process):
    job, tally = job_for(tmp_path, "current", objective=LAG), Tally()
    with_lag = lopsided("lagging")
    with_lag["topics"] = {
        "t0": {"partitions": 2, "lag": [3, 4]},
        "t1": {"partitions": 3, "lag": [1, 1, 1]},
    }
    lines = [json.dumps(with_lag), json.dumps(lopsided("without"))]
    job.source.write_text("\n".join(lines) + "\n")
    read(job, process, tally)
    solve(job, process, tally)
    optima = read_table(job.out, "optima").set_index("group")
    assert optima.loc["lagging"]["status"] == "optimal"
    assert optima.loc["without"]["status"] == "failed"
    assert "tier peak_lag needs it" in optima.loc["without"]["reason"]
