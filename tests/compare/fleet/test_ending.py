"""The end of a run: what it says of the groups, from the tables."""

import json
import re
from dataclasses import replace
from datetime import UTC, datetime

import pyarrow as pa
import pytest

from assay.commands.many_groups import missed
from assay.printing.run import not_read, run_document
from compare.judged import judge
from compare.limits import too_far
from compare.overview import overview_of
from compare.runs.aggregates.ending import ending_of, glances
from compare.runs.aggregates.gate import too_far_in_run
from compare.runs.counts import RunCounts
from compare.runs.found import Unread
from compare.runs.job import job_of
from compare.runs.rows import stored_score
from compare.runs.tables.files import append, new_run
from compare.runs.tables.schemas import TABLES
from compare.runs.tables.stored import read_table
from tests.compare.runs.stored_groups import groups_of

TIERS = ("balance", "stickiness")
ASKED = ("current", "range", "kip-54-sticky", "kip-615-constrained")


@pytest.fixture(scope="module")
def job(spark_runs):
    return job_of(spark_runs.source, spark_runs.out, assignors=ASKED)


@pytest.fixture(scope="module")
def keys(spark_runs):
    return read_table(spark_runs.out, "groups")["key"].tolist()


@pytest.fixture(scope="module")
def ending(spark_runs, job, keys):
    return ending_of(job, keys, read_table(spark_runs.out, "failures")["key"].tolist())


@pytest.mark.spark
def test_the_tables_say_of_each_group_what_judging_it_says(spark_runs, ending):
    groups = sorted(groups_of(spark_runs).values(), key=lambda group: group.name)
    expected = overview_of(judge(groups))
    found = ending.overview
    assert found.sentence() == expected.sentence()
    assert (found.says, found.names, found.guessed) == (
        expected.says, expected.names, expected.guessed,
    )  # fmt: skip
    assert found.counts() == expected.counts()
    assert (found.captured, found.groups, found.questions) == (23, 23, expected.questions)
    by_name = {one.name: one for one in expected.worst}
    assert [one.name for one in found.worst] == [
        one.name for one in expected.worst[: len(found.worst)]
    ]
    for one in found.worst:
        # The lag of a group is not in the line of a run.
        lag = dict.fromkeys(("peak", "lowest", "longest", "longest_best"))
        assert one == replace(by_name[one.name], **lag, lowest_proved=False)
    assert len(found.worst) == 20


@pytest.mark.spark
def test_a_run_ends_with_the_sentence_the_worst_groups_and_what_it_came_to(spark_runs, ending):
    said = spark_runs.first.out
    lines = said.splitlines()
    counts = ending.overview.counts()
    assert counts.startswith("10 not valid, ")
    assert ", 4 improvable, " in counts
    begins = f"{ending.overview.sentence()} {counts}. "
    assert re.sub(r"\s+", " ", said).startswith(begins)
    assert "Not read: 4 inputs, see the messages." in lines
    heads = next(i for i, line in enumerate(lines) if line.startswith("group "))
    table = lines[heads + 1 : heads + 21]
    assert [line.split()[0] for line in table][:2] == ["contested", "random-0"]
    assert re.search(r"^lopsided +2 +5 +0-5 +2-3 +improvable +2 +1$", spark_runs.first.out, re.M)
    assert lines[heads + 21] == "and 3 groups more, no worse than the last line"
    assert "every group on a page: assay report out" in spark_runs.first.out


@pytest.mark.spark
def test_each_input_that_was_not_read_is_a_line_with_its_place_group_and_reason(
    spark_runs, ending, keys
):
    failures = read_table(spark_runs.out, "failures").sort_values("place").to_dict("records")
    expected = [
        f"{row['place']}: {'group ' + row['group'] + ': ' if row['group'] else ''}{row['reason']}"
        for row in failures
    ]
    assert len(expected) == 4
    for run in (spark_runs.first, spark_runs.second):
        assert [line for line in run.err.splitlines() if line in expected] == expected
    one = Unread("in/coop-a.txt:2", "coop-a", "is rebalancing")
    many = replace(ending, unread=(25, (one,) * 20))
    lines = not_read(RunCounts(spark_runs.out, many, 23, 1.5, tuple(keys)))
    assert lines == ["in/coop-a.txt:2: group coop-a: is rebalancing"] * 10 + [
        "and 15 more; the table failures has all"
    ]


@pytest.mark.spark
def test_an_assignor_without_a_score_is_named_with_the_reason_and_how_many_groups(
    spark_runs, ending, keys
):
    scores = read_table(spark_runs.out, "scores")
    scores = scores[scores["assignor"].isin(ASKED[1:]) & scores["terms"].isna()]
    expected = scores.groupby(["assignor", "status"]).size().to_dict()
    found = {(name, one.status): one.groups for one in ending.not_scored for name in one.assignors}
    assert found == expected
    reasons = {
        (row["assignor"], row["status"], row["reason"]) for row in scores.to_dict("records")
    }
    given = {(n, one.status, one.reason) for one in ending.not_scored for n in one.assignors}
    assert given <= reasons
    assert any(reason.startswith("subscriptions are not known: ") for *_, reason in given)
    said = re.sub(r"\s+", " ", spark_runs.first.out)
    for one in ending.not_scored[:10]:
        assert f"{one.names} {one.groups} {one.status} {one.reason}" in said
    document = run_document(RunCounts(spark_runs.out, ending, 23, 1.5, tuple(keys)), TIERS, "in")
    assert document["not_scored"][0].keys() == {"assignors", "groups", "status", "reason"}


@pytest.mark.spark
def test_a_run_that_finds_nothing_to_do_says_the_same(spark_runs):
    first, second = (run.out.splitlines()[:-1] for run in (spark_runs.first, spark_runs.second))
    assert first == second


@pytest.mark.spark
def test_the_run_as_a_document_has_counts_and_the_worst_groups(spark_runs, ending, keys):
    counts = RunCounts(spark_runs.out, ending, 23, 1.5, tuple(keys))
    document = json.loads(json.dumps(run_document(counts, TIERS, "in")))
    assert document["format"] == "assay-run/1"
    assert (document["captured"], document["proved"], document["failed"]) == (23, 23, 4)
    assert sum(document["verdicts"].values()) == 23
    assert document["not_judged"] == 0
    (lopsided,) = (one for one in document["worst"] if one["group"] == "lopsided")
    assert lopsided["verdict"] == {
        "says": "improvable", "sure": True, "at_least": 4, "at_most": 4, "moves": 2, "if": None,
    }  # fmt: skip
    assert (lopsided["members"], lopsided["partitions"]) == (2, 5)
    assert {one["name"] for one in document["failures"]} >= {"in/noise.txt"}
    assert document["failures"][0]["place"] == "in/groups.jsonl:4"


@pytest.mark.spark
def test_the_gate_of_a_run_counts_what_is_too_far_in_one_group(spark_runs, job, keys):
    scores = read_table(spark_runs.out, "scores").sort_values(["group", "assignor", "key"])
    rows = scores[scores["assignor"].isin(ASKED)].to_dict("records")
    for limits in ({"balance": 3}, {"balance": 0, "stickiness": 0}, {"stickiness": 1}):
        expected = {}
        for row in rows:
            for line in too_far([stored_score(row)], limits):
                sort = re.sub(r" by (.+), more than", " by more than", line)
                by = re.search(r" by (.+), more than", line)
                named = row["group"] + (f" by {by[1]}" if by else "")
                expected.setdefault(sort, []).append(named)
        found = too_far_in_run(job, keys, ASKED, limits, 1000)
        assert {line.split(" group")[0].rsplit(": ", 1)[0] for line in found} == set(expected)
        for sort, named in expected.items():
            more = f" and {len(named) - 3} more" if len(named) > 3 else ""
            groups = f"{len(named)} group{'s' * (len(named) > 1)}"
            assert f"{sort}: {groups}: {', '.join(named[:3])}{more}" in found
        first = too_far_in_run(job, keys, ASKED, limits, 2)
        assert first == [*found[:2], f"and {len(found) - 2} more reasons"]
    assert too_far_in_run(job, keys, [], {"balance": 0}, 3) == []


@pytest.mark.spark
def test_a_gate_looks_at_the_groups_of_the_run_alone(job, keys):
    def count(lines: list[str]) -> int:
        return sum(int(re.search(r": (\d+) groups?: ", line)[1]) for line in lines)

    every = too_far_in_run(job, keys, ASKED, {"balance": 0}, 1000)
    some = too_far_in_run(job, keys[:5], ASKED, {"balance": 0}, 1000)
    assert 0 < count(some) < count(every)


@pytest.mark.spark
def test_groups_of_another_job_are_not_in_the_ending(job, spark_runs, keys):
    other = job_of(spark_runs.source, spark_runs.out, assignors=ASKED, time_limit=3.0)
    assert ending_of(other, keys, []).overview.captured == 0
    assert glances(job, []) == []


def test_strict_says_how_many_groups_could_not_be_judged_beyond_those_that_it_names(tmp_path):
    job = job_of("in", tmp_path)
    run = new_run(datetime(2026, 11, 20, tzinfo=UTC))
    keys = [f"{number:03}" for number in range(500)]
    (tmp_path / "optima").mkdir()
    rows = [
        {"group": f"g{key}", "key": made, "group_key": key, "status": "failed", "assumed": []}
        for key, made in zip(keys, job.optimum_keys(keys), strict=True)
    ]
    append(tmp_path, "optima", pa.Table.from_pylist(rows, TABLES["optima"]), run)
    counts = RunCounts(tmp_path, ending_of(job, keys, []), 500, 1.5, tuple(keys))
    assert missed(counts) == ["not judged: 500 groups: g000, g001, g002 and 497 more"]
