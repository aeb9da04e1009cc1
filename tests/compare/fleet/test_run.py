import json
import os
import re
import shutil
from collections import Counter
from datetime import UTC, datetime

import pyarrow.parquet as pq
import pytest

from assay import fleet, run
from compare.fleet.run import STAGES
from compare.fleet.tables import read_table
from compare.judged import judge
from compare.scores import score_assignors, score_current, stored_score
from heuristics.time_limit import TimeLimit
from optimal import solve
from tests.compare.conftest import CAPTURES, lopsided

pytestmark = pytest.mark.spark

ASKED = ("current", "range", "kip-54-sticky", "kip-615-constrained")


def table(runs, name: str):
    return read_table(runs.out, name)


def rows_of_group(runs, name: str, group: str) -> list[dict]:
    """Return the rows of a group, the one of its present assignment first."""
    rows = table(runs, name)
    found = rows[rows["group"] == group].to_dict("records")
    return sorted(found, key=lambda row: row.get("assignor") != "current")


def test_every_table_says_when_a_group_was_captured_where_that_is_known(spark_runs):
    groups = table(spark_runs, "groups").set_index("key")["captured_at"]
    known = groups.dropna()
    assert len(known) == 2 < len(groups)
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", at) for at in known)
    for name in ("optima", "scores"):
        rows = table(spark_runs, name)
        assert set(rows.dropna(subset=["captured_at"])["group_key"]) == set(known.index)
        for _, row in rows.iterrows():
            assert row["captured_at"] == groups[row["group_key"]]
    failures = table(spark_runs, "failures").set_index("place")["captured_at"]
    assert failures["in/noise.txt"].endswith("Z")
    assert failures["in/groups.jsonl:4"] is None


def test_every_input_is_a_group_or_a_failure(spark_runs):
    lines = (spark_runs.source / "groups.jsonl").read_text().splitlines()
    # The file again.json repeats a group; every folder of captures is one group.
    assert len(table(spark_runs, "groups")) == len(lines) - 2 + 1 + 2
    assert len(table(spark_runs, "failures")) == 2 + 2
    assert spark_runs.first.out.splitlines()[-1].startswith(
        f"{len(lines) + 1} groups, {len(lines) + 1} of them with a proved optimum, "
        f"{len(lines) + 1} of them new in this run, 4 inputs failed, "
    )


def test_spark_gives_the_scores_that_plain_python_gives(spark_runs):
    scores = table(spark_runs, "scores").set_index(["group_key", "assignor"])
    names = [*ASKED, "roundrobin"]
    scored = unscored = 0
    with TimeLimit(60) as limit:
        for key, group in spark_runs.groups.items():
            if not group.subscription_known.all():
                continue
            for expected in score_assignors(group, solve(group), names, limit):
                row = scores.loc[(key, expected.assignor)]
                for column in ("status", "reason", "valid", "balanced", "rounds", "revoked"):
                    assert row[column] == getattr(expected, column), (group.name, column)
                if expected.terms is None:
                    unscored += 1
                    assert row["terms"] is None
                    assert row["loads"] is None
                    continue
                assert [(t["name"], t["value"], t["excess"]) for t in row["terms"]] == [
                    (t.name, t.value, t.excess) for t in expected.terms
                ]
                scored += 1
                assert row["loads"].tolist() == list(expected.loads)
    assert scored > 60
    assert unscored > 5


def test_an_input_that_is_no_group_is_a_row_with_source_place_and_reason(spark_runs):
    failures = table(spark_runs, "failures").set_index("place")
    cut = failures.loc["in/groups.jsonl:4"]
    assert cut["source"] == "in/groups.jsonl"
    assert cut["reason"].startswith("line 1 column ")
    assert "not JSON: " in cut["reason"]
    wrong = failures.loc["in/groups.jsonl:5"]
    assert wrong["reason"] == "format: 1, expected 'assay-group/1'"
    assert failures.loc["in/noise.txt"]["reason"].startswith(
        "begins with 'there is no group in this', expected what "
    )
    assert failures.loc["in/unreadable.parquet"]["reason"].startswith("cannot be read as Parquet")
    assert failures["group"].dropna().to_dict() == {"in/groups.jsonl:4": "cut"}


def test_captures_of_several_views_in_a_folder_become_one_group(spark_runs):
    groups = table(spark_runs, "groups").set_index("group")
    merged = groups.loc["coop-a"].to_dict()
    assert merged["source"].split(", ") == [
        "in/views/coop-a-describe.json",
        "in/views/coop-a-describe.txt",
    ]
    document = spark_runs.groups[merged["key"]].to_dict()
    # Subscriptions stand in one view only, offsets in the other.
    assert all(said["subscription"] for said in document["members"].values())
    assert any("offsets" in topic for topic in document["topics"].values())
    assert groups.loc["next-b"]["source"].count(", ") == 1


def test_where_it_is_not_known_who_reads_what_the_run_says_what_is_sure(spark_runs):
    (group,) = (one for one in spark_runs.groups.values() if one.name == "next-b")
    assert not group.subscription_known.all()
    (judged,) = judge([group])
    (optimum,) = rows_of_group(spark_runs, "optima", "next-b")
    assert (optimum["status"], optimum["reason"]) == (str(judged.reference.status), None)
    assert [(t["name"], t["value"], t["bound"]) for t in optimum["terms"]] == [
        (t.name, t.value, t.bound) for t in judged.reference.terms
    ]
    now, *others = rows_of_group(spark_runs, "scores", "next-b")
    expected = score_current(judged.reference.group, judged.reference)
    assert (now["assignor"], stored_score(now).terms) == ("current", expected.terms)
    assert now["loads"].tolist() == judged.now.loads.tolist()
    refused = {(row["status"], row["reason"]) for row in others}
    assert refused == {("refused", "subscriptions are not known")}


def test_a_second_run_writes_nothing_and_says_the_same(spark_runs):
    runs = spark_runs.first, spark_runs.second
    first, second = ({**one.keys, "inputs": 0} for one in runs)
    assert second == first
    assert first["runs"] == 1
    said, again = (one.out.splitlines()[:-1] for one in runs)
    assert again == said
    assert ", 0 of them new in this run, " in spark_runs.second.out


def test_a_further_assignor_fills_only_what_is_missing(spark_runs):
    first, third = spark_runs.first.keys, spark_runs.third.keys
    for name in ("groups", "optima", "failures"):
        assert sorted(third[name]) == sorted(first[name])
    for name in ("groups", "optima", "failures", "scores"):
        assert len(third[name]) == len({*third[name]}) > 0
    added = set(third["scores"]) - set(first["scores"])
    assert len(added) == len(third["scores"]) - len(first["scores"]) == len(first["groups"])
    scores = table(spark_runs, "scores").set_index("key")
    assert set(scores.loc[list(added)]["assignor"]) == {"roundrobin"}


def test_every_run_that_wrote_something_is_a_row_of_its_own(spark_runs):
    first, third = table(spark_runs, "runs").sort_values("run").to_dict("records")
    count = len(table(spark_runs, "groups"))
    for one, asked in ((first, ASKED), (third, (*ASKED, "roundrobin"))):
        assert (one["input"], one["ended"], one["reason"]) == ("in", "done", None)
        assert (one["groups"], one["missing"], one["proved"]) == (count, count, count)
        assert (one["failures"], one["seed"], one["assume_equal"]) == (4, 1, False)
        assert tuple(one["assignors"]) == asked
        assert one["master"].startswith("local[")
        assert one["cores"] > 0
        files = [
            file
            for file in spark_runs.out.glob(f"*/run={one['run']}/*.parquet")
            if file.parts[-3] != "runs"
        ]
        assert len(files) == one["files"] > 0
        assert sum(file.stat().st_size for file in files) == one["bytes"]
        seconds = {one["stage"]: one["seconds"] for one in one["stages"]}
        assert set(STAGES) - {"start"} <= set(seconds)
        assert sum(seconds.values()) == pytest.approx(one["seconds"], rel=0.15)
    written = [len(spark_runs.third.keys[name]) for name in ("groups", "optima", "scores")]
    written.append(len(spark_runs.third.keys["failures"]))
    assert first["rows"] + third["rows"] == sum(written)
    assert (first["failed"], third["failed"]) == (0, 0)


@pytest.mark.parametrize(
    ("name", "code", "said"),
    [
        ("first", 0, []),
        (
            "third",
            1,
            [
                "failed: 4 inputs",
                "not judged: 1 group: cut",
                "not valid: 10 groups",
                "nothing assigned yet: 4 groups",
            ],
        ),
        ("without_group", 2, ["failed: 1 input", "noise: no group in it"]),
    ],
)
def test_a_run_with_failed_inputs_ends_with_1_if_strict_and_with_2_without_a_group(
    spark_runs, name, code, said
):
    ran = getattr(spark_runs, name)
    lines = [line for line in ran.err.splitlines() if line.startswith("assay: ")]
    assert (ran.code, lines) == (code, [f"assay: {one}" for one in said])


def test_progress_goes_to_standard_error(spark_runs):
    count = len(table(spark_runs, "groups"))
    assert spark_runs.first.err.splitlines()[0] == "reading in"
    assert f"{count} new captures solved and scored" in spark_runs.first.err.splitlines()


def test_a_run_says_where_its_time_went_where_that_is_asked(spark_runs):
    assert "starting Spark" not in spark_runs.first.err
    said = re.findall(r"^ *([\d.]+) s +([\d.]+)%  (.+)$", spark_runs.third.err, re.MULTILINE)
    assert {"starting Spark", "reading, solving and scoring"} <= {what for *_, what in said}
    assert sum(float(share) for _, share, _ in said) == pytest.approx(100, abs=1)


@pytest.mark.cluster
def test_three_nights_of_one_group_are_three_captures_of_it(tmp_path, spark):
    times = []
    for day in (18, 19, 20):
        night = tmp_path / str(day)
        night.mkdir()
        for view in ("describe", "members-verbose"):
            at = datetime(2026, 11, day, 3, tzinfo=UTC)
            shutil.copy(CAPTURES / "4.3.1" / f"coop-a-{view}.txt", night)
            os.utime(night / f"coop-a-{view}.txt", (at.timestamp(),) * 2)
        times.append(f"2026-11-{day}T03:00:00Z")
    rows = fleet.groups(spark, str(tmp_path)).select("group", "captured_at", "reason").collect()
    assert sorted(map(tuple, rows)) == [("coop-a", at, None) for at in times]


def test_a_group_of_several_portions_counts_once(spark, tmp_path, monkeypatch):
    monkeypatch.setattr("compare.fleet.source.PORTION_BYTES", 1)
    source, out = tmp_path / "in", tmp_path / "out"
    line = json.dumps(lopsided())
    source.mkdir()
    (source / "same.json").write_text(line)
    (source / "other.json").write_text(json.dumps(lopsided("other")))
    (source / "again.jsonl").write_text(f"{line}\n{line}\n")
    for new in (2, 0):
        counts = run(source, out, assignors=["current"], spark=spark)
        assert (counts.captured, counts.new, counts.found.groups) == (2, new, 2)
        inputs = pq.ParquetDataset(out / "inputs").read()["run"].to_pylist()
        assert [*Counter(inputs).values()] == [2] * (2 - bool(new))
    for name in ("groups", "optima", "scores"):
        assert len(pq.ParquetDataset(out / name).read()) == 2
