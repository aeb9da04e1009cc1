"""What a worker answers of things that it reads, also where some of them come to harm."""

import json
import re
from contextlib import closing
from dataclasses import replace

import pyarrow as pa
import pytest

from compare.fleet.items import decoded, items_in_stream
from compare.fleet.job import Lack, job_of
from compare.fleet.optima import solve_and_score, verdict_row
from compare.fleet.tables import TABLES, VERDICT
from compare.fleet.worker import (
    MOST_WORKERS,
    Worker,
)
from compare.judged import judge
from groups import Group
from groups.errors import AssayError
from heuristics.assignor import Assignor
from heuristics.shipped.probe.guest import WAIT_SECONDS
from tests.compare.conftest import lopsided
from tests.compare.fleet import harmful
from tests.optimal.small_groups import group_of

SECONDS = 1.5
MEMORY = 800_000_000
REASONS = {
    "killed-harm": r"the child process died: exit code -9 \(SIGKILL\)",
    "segfault-harm": r"the child process died: exit code -11 \(SIGSEGV\)",
    "raise-harm": r"KeyError: 'arc 7'.*",
    "greedy-harm": r"it used more than 800 MB",
    "hang-harm": r"no answer within \d+(\.\d+)? s",
}
# Seconds; only a hang reaches this limit, even on a slow machine.
NO_HURRY = 100.0
HARM = pytest.mark.parametrize(
    ("reasons", "seconds"),
    [
        ({name: said for name, said in REASONS.items() if name != "hang-harm"}, NO_HURRY),
        ({"hang-harm": REASONS["hang-harm"]}, SECONDS),
    ],
    ids=["deaths", "hang"],
)


def job_for(*assignors: str, objective="balance > stickiness", seconds: float = NO_HURRY):
    return job_of("in.jsonl", "out", objective=objective, assignors=assignors, time_limit=seconds)


def names_with(harmful_ones: list[str], count: int = 24) -> list[str]:
    names = [f"g{i}" for i in range(count)]
    for i, name in enumerate(harmful_ones):
        names.insert(3 + 5 * i, name)
    return names


def items_of(groups: list[str | dict]):
    """Return the items of documents, or of lopsided groups with these names."""
    documents = [lopsided(one) if isinstance(one, str) else one for one in groups]
    return items_in_stream("in.jsonl", [json.dumps(one).encode() for one in documents])


def answers(job, groups: list, do: str = "answer", **steps) -> list[dict]:
    """Return for each group or failure its rows of each table."""
    with closing(Worker(job, memory_bytes=MEMORY, **steps)) as worker:
        return about_each(worker.answers(items_of(groups), do))


def about_each(found) -> list[dict]:
    """Return the rows of `ANSWERS` by the group or failure that they are about."""
    each: dict[str, dict] = {}
    for row in (row for some in found for row in some.to_pylist()):
        nothing = {"groups": None, "optima": None, "scores": [], "failures": None}
        of_one = each.setdefault(row["about"], nothing)
        (table,) = (name for name in nothing if row[name] is not None)
        if table == "scores":
            of_one["scores"].append(row["scores"])
        else:
            assert of_one[table] is None
            of_one[table] = row[table]
    return [*each.values()]


@pytest.mark.kills
@HARM
def test_groups_that_their_solver_does_not_survive_are_rows_and_the_others_are_solved(
    reasons, seconds
):
    names = names_with([*reasons])
    job = job_for("current", "range", seconds=seconds)
    rows = answers(job, names, solve=harmful.solve_rows)
    assert [row["groups"]["group"] for row in rows] == names
    for row in rows:
        name, optimum = row["groups"]["group"], row["optima"]
        scores = [(one["assignor"], one["status"], one["reason"]) for one in row["scores"]]
        if name in reasons:
            assert optimum["status"] == "failed"
            assert re.fullmatch(reasons[name], optimum["reason"])
            (of_range,) = (one for one in scores if one[0] == "range")
            (of_current,) = (one for one in scores if one[0] == "current")
            assert of_current == ("current", "failed", f"no optimum: {optimum['reason']}")
            assert of_range[1] == "failed"
        else:
            assert optimum["status"] == "optimal"
            assert scores == [("current", "scored", None), ("range", "scored", None)]


def test_a_group_that_harms_whoever_scores_it_keeps_its_optimum():
    job, names = job_for("current", "range"), names_with(["segfault-harm"], 15)
    rows = answers(job, names, solve=harmful.solve_rows_of_others)
    assert [row["failures"] for row in rows if row["failures"]] == []
    assert {row["optima"]["status"] for row in rows} == {"optimal"}
    bad = [s for row in rows for s in row["scores"] if s["status"] != "scored"]
    assert [(one["group"], one["assignor"], one["status"], one["reason"]) for one in bad] == [
        ("segfault-harm", "range", "failed", "the child process died: exit code -11 (SIGSEGV)")
    ]
    assert all(len(row["scores"]) == 2 for row in rows)


@pytest.mark.kills
@HARM
def test_a_text_that_harms_its_reader_is_a_failure_with_the_name_of_its_group(reasons, seconds):
    names = names_with([*reasons])
    job = job_for("current", seconds=seconds)
    for do in ("read", "answer"):
        rows = answers(job, names, do, read=harmful.read_items)
        assert [row["groups"]["group"] for row in rows if row["groups"]] == [
            name for name in names if name not in reasons
        ]
        failures = [row["failures"] for row in rows if row["failures"]]
        assert [one["group"] for one in failures] == [n for n in names if n in reasons]
        for one in failures:
            assert re.fullmatch(reasons[one["group"]], one["reason"])
            assert one["place"] == f"in.jsonl:{names.index(one['group']) + 1}"


@pytest.mark.exhaustive
def test_rows_do_not_depend_on_how_groups_are_put_together():
    job, names = job_for("current", "range"), names_with([], 40)

    def made(more: list[str], **steps) -> list[dict]:
        rows = answers(job, [*names, *more], **steps)
        for row in rows:
            for one in (row["optima"], *row["scores"]):
                one["seconds"] = None
        return rows[: len(names)]

    # If one group kills the child, the others are solved again in smaller batches.
    assert made([]) == made(["killed-harm"], solve=harmful.solve_rows)


def test_what_depends_on_who_reads_what_is_null_in_a_row_of_scores():
    held = {"a": {"t0": [0, 1, 2, 3, 4, 5]}, "b": {"t1": [0, 1, 2]}}
    group = group_of({"t0": 6, "t1": 3}, {"a": None, "b": None}, held)
    (row,) = answers(job_for("current"), [group.to_dict()])
    (now,) = row["scores"]
    assert (now["status"], now["valid"], now["balanced"]) == ("scored", True, None)
    assert row["optima"]["verdict"]["says"] == "depends on who reads what"


def test_a_group_without_a_partition_has_no_optimum_if_subscriptions_are_not_known():
    """It was a failure in terms of Python, where `assay score` says nothing assigned yet."""
    group = group_of({"t0": 3, "t1": 2}, {"a": None, "b": ["t0"]}, {})
    (row,) = answers(job_for("current", "range"), [group.to_dict()])
    optimum = row["optima"]
    assert [optimum[name] for name in ("status", "reason", "terms", "loads")] == [
        "unknown", None, [], None,
    ]  # fmt: skip
    # No time limit stopped anything, as nothing was solved.
    assert {optimum[name] for name in ("stopped", "method", "seconds", "proof")} == {None}
    assert optimum["verdict"]["says"] == "nothing assigned yet"
    assert [(one["assignor"], one["status"], one["reason"]) for one in row["scores"]] == [
        (name, "refused", "subscriptions are not known") for name in ("current", "range")
    ]


def test_only_what_is_missing_of_a_group_is_answered():
    with closing(Worker(job_for("current", "range"))) as worker:
        (read,) = worker.answers(items_of(["g"]), "read")
        rows = pa.RecordBatch.from_struct_array(read.column("groups"))
        (row,) = about_each(worker.solved(rows, Lack(optimum=False, assignors=("range",))))
    assert row["optima"] is None
    assert [one["assignor"] for one in row["scores"]] == ["range"]


@pytest.mark.parametrize("table", ["optima", "scores"])
def test_a_column_that_nothing_fills_is_an_error_and_not_null_in_every_row(monkeypatch, table):
    job, lack = job_for("current"), Lack(optimum=True, assignors=("current",))
    rows, _ = decoded([*items_of(["g"])])
    monkeypatch.setitem(TABLES, table, TABLES[table].append(pa.field("price", pa.int64())))
    with pytest.raises(AssayError, match=f"^table {table}: nothing fills the column price$"):
        solve_and_score(job, rows, lack)


def test_a_verdict_on_one_group_has_every_field_of_the_column():
    (judged,) = judge([Group.from_dict(lopsided("g"))])
    assert verdict_row(judged).keys() == {*VERDICT.names}


def test_a_lack_of_lag_is_a_reason():
    (row,) = answers(job_for("current", objective="peak_lag"), ["g"])
    assert row["optima"]["status"] == "failed"
    assert "lag" in row["optima"]["reason"]


def test_a_batch_has_the_time_in_which_every_worker_s_groups_are_asked_about_up_to_three_times():
    job = job_for("range", seconds=10.0)
    worker, lack = Worker(job), job.lack()
    guest = Assignor("a/range", "probed", "", None, dict)
    each = 3 * (10.0 + WAIT_SECONDS)
    more = Worker(replace(job, guests=(guest,))).extra_seconds(4, lack) - worker.extra_seconds(
        4, lack
    )
    assert more >= MOST_WORKERS * 4 * each
