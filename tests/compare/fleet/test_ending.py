"""The end of a run: what it says of the groups, from the tables."""

import csv
import json
import os
import re
import shutil
from contextlib import redirect_stdout
from dataclasses import dataclass, replace
from datetime import datetime
from io import StringIO

import pytest

from assay import read_groups, run
from assay.commands.run import missed, not_read, run_document, show_run
from compare.fleet import aggregates
from compare.fleet.aggregates import Stored
from compare.fleet.ending import ending_of, too_far_in_run
from compare.fleet.job import job_of
from compare.fleet.results import Ending, RunCounts
from compare.fleet.tables import TABLES, read_table, stored
from compare.judged import judge
from compare.limits import beyond
from compare.overview import Overview, overview_of
from compare.page.contents import Page
from compare.page.from_run import page_of_run
from compare.scores import stored_score
from groups import Group
from groups.errors import Failure
from optimal.solution import Term
from tests.assay.calling import assay, write
from tests.compare.conftest import CAPTURES, HOSTILE, holding
from tests.compare.series import series_of_four, snapshot
from tests.optimal.small_groups import document

pytestmark = pytest.mark.spark

TIERS = ("balance", "stickiness")
ASKED = ("current", "range", "kip-54-sticky", "kip-615-constrained")


@pytest.fixture(scope="module")
def job(spark_runs):
    return job_of(spark_runs.source, spark_runs.out, assignors=ASKED)


@pytest.fixture(scope="module")
def first(spark_runs):
    """The id of the first run."""
    return read_table(spark_runs.out, "runs", ["run"])["run"].min()


@pytest.fixture(scope="module")
def ending(spark, job, first):
    return ending_of(spark, job, first)


def counts_of(spark_runs, ending) -> RunCounts:
    return RunCounts(str(spark_runs.out), ending, 23, 1.5, "run")


def test_the_tables_say_of_each_group_what_judging_it_says(spark_runs, ending):
    groups = sorted(spark_runs.groups.values(), key=lambda group: group.name)
    cut = Failure("", "", "not JSON", "cut")
    expected = overview_of(judge(groups), failed=[cut])
    found = ending.overview
    assert found.headline() == expected.headline()
    for name in Overview.__dataclass_fields__.keys() - {"worst", "unjudged"}:
        assert getattr(found, name) == getattr(expected, name), name
    by_name = {one.name: one for one in expected.worst}
    assert [one.name for one in found.worst] == [
        one.name for one in expected.worst[: len(found.worst)]
    ]
    for one in found.worst:
        # A run does not print the lag of a group.
        lag = dict.fromkeys(("peak", "then", "lowest", "longest", "longest_best"))
        assert one == replace(by_name[one.name], **lag, lowest_proved=False, wrong="")
    assert len(found.worst) == 20


def test_a_run_ends_with_the_sentence_the_worst_groups_and_what_it_came_to(spark_runs, ending):
    said = spark_runs.first.out
    lines = said.splitlines()
    assert lines[0] == ending.overview.headline()
    assert ": 10 not valid; 4 improvable; " in lines[0]
    first, more = ending.overview.attention()
    assert lines[1:6] == [f"- {one.name}: {one.to_do}" for one in first]
    assert lines[6] == f"- {more} groups more need attention"
    assert "4 inputs failed, see the messages." in lines
    heads = next(i for i, line in enumerate(lines) if line.startswith("group "))
    table = lines[heads + 1 : heads + 21]
    assert [line.split()[0] for line in table][:2] == ["random-9", "random-1"]
    assert re.search(r"^lopsided +2 +5 +0-5 +2-3 +improvable +2 +1$", spark_runs.first.out, re.M)
    assert lines[heads + 21 : heads + 23] == [
        "and 3 groups more, no worse than the last line", "and 1 group more, not judged",
    ]  # fmt: skip
    page = f"every group on a page: assay report {spark_runs.out}"
    assert page in re.sub(r"\s+", " ", spark_runs.first.out)


def test_each_input_that_was_not_read_is_a_line_with_its_place_group_and_reason(
    spark_runs, ending
):
    failures = read_table(spark_runs.out, "failures").sort_values("place").to_dict("records")
    expected = [
        f"{row['place']}: {'group ' + row['group'] + ': ' if row['group'] else ''}{row['reason']}"
        for row in failures
    ]
    assert len(expected) == 4
    for one in (spark_runs.first, spark_runs.second):
        assert [line for line in one.err.splitlines() if line in expected] == expected
    unread = Failure("in/coop-a.txt", "in/coop-a.txt:2", "is rebalancing", "coop-a")
    many = replace(ending, unread=(25, (unread,) * 20))
    lines = not_read(counts_of(spark_runs, many))
    assert lines == ["in/coop-a.txt:2: group coop-a: is rebalancing"] * 10 + [
        "and 15 more; the table failures has all"
    ]


def test_an_assignor_without_a_score_is_named_with_the_reason_and_how_many_groups(
    spark_runs, ending
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
    assert any(reason == "subscriptions are not known" for *_, reason in given)
    said = re.sub(r"\s+", " ", spark_runs.first.out)
    for one in ending.not_scored[:10]:
        assert f"{one.names} {one.groups} {one.status} {one.reason}" in said
    document = run_document(counts_of(spark_runs, ending), TIERS, "in")
    assert document["not_scored"][0].keys() == {"assignors", "groups", "status", "reason"}


def test_the_run_as_a_document_has_counts_and_the_worst_groups(spark_runs, ending):
    counts = counts_of(spark_runs, ending)
    document = json.loads(json.dumps(run_document(counts, TIERS, "in")))
    assert document["format"] == "assay-run/1"
    assert (document["captured"], document["proved"], document["failed"]) == (23, 23, 4)
    assert sum(document["verdicts"].values()) == 23
    assert (document["not_judged"], document["rebalancing"]) == (1, 0)
    (lopsided,) = (one for one in document["worst"] if one["group"] == "lopsided")
    assert lopsided["verdict"] == {
        "says": "improvable", "sure": True, "at_least": 4, "at_most": 4, "moves": 2, "if": None,
        "waiting": None, "shown": "improvable",
    }  # fmt: skip
    assert (lopsided["members"], lopsided["partitions"]) == (2, 5)
    assert (lopsided["without_owner"], lopsided["could_fall"]) == (0, None)
    assert {one["name"] for one in document["failures"]} >= {"in/noise.txt"}
    assert document["failures"][0]["place"] == "in/groups.jsonl:4"


def test_the_gate_of_a_run_counts_what_is_too_far_in_one_group_and_leaves_with_1(
    spark, spark_runs, job, first
):
    scores = stored(spark_runs.out, "scores", TABLES["scores"].names, by="assignor", keys=ASKED)
    rows = scores.sort_by([(name, "ascending") for name in ("group", "assignor")]).to_pylist()
    optima = stored(
        spark_runs.out, "optima", ["group_key", "terms"], by="made_by", keys=[job.optimum_made_by]
    )
    optimum = {
        row["group_key"]: [Term(**one) for one in row["terms"] or ()] for row in optima.to_pylist()
    }
    every = [{"balance": 0, "stickiness": 0}, {"stickiness": 1}]
    for limits in (*every, {"balance": 4, "stickiness": 0}):
        expected: dict[str, list[str]] = {}
        for row in rows:
            for one in beyond([stored_score(row)], limits, optimum[row["group_key"]], sure=True):
                named = row["group"] + (f" by {one.amount}" if one.amount else "")
                expected.setdefault(one.sort, []).append(named)
        found = too_far_in_run(spark, job, first, ASKED, limits, 1000)
        assert {line.split(" group")[0].rsplit(": ", 1)[0] for line in found} == set(expected)
        for sort, named in expected.items():
            more = f" and {len(named) - 3} more" if len(named) > 3 else ""
            groups = f"{len(named)} group{'s' * (len(named) > 1)}"
            assert f"{sort}: {groups}: {', '.join(named[:3])}{more}" in found
    second = spark_runs.second
    said = [line for line in second.err.splitlines() if line.startswith("assay: ")]
    told = too_far_in_run(spark, job, first, ASKED, {"balance": 3}, 20)
    assert (second.code, said) == (1, [f"assay: {line}" for line in told])
    counts = [int(re.search(r": (\d+) groups?: ", line)[1]) for line in told]
    assert counts == sorted(counts, reverse=True)
    some = too_far_in_run(spark, job, first, ASKED, limits, 2)
    assert some == [*found[:2], f"and {len(found) - 2} more reasons"]
    assert too_far_in_run(spark, job, first, [], {"balance": 0}, 3) == []


def test_a_run_of_a_part_of_what_is_in_the_tables_speaks_of_that_part_and_of_its_own_job(
    spark, spark_runs, tmp_path
):
    copied, part = tmp_path / "out", tmp_path / "in.jsonl"
    shutil.copytree(spark_runs.out, copied)
    lines = (spark_runs.source / "groups.jsonl").read_text().splitlines()
    part.write_text("\n".join(lines[:3]))
    counts = run(part, copied, assignors=ASKED, spark=spark)
    assert (counts.captured, counts.new, counts.failures) == (3, 0, 0)
    assert counts.found.overview.captured == 3
    of_part = job_of(part, copied, assignors=ASKED)
    (line,) = too_far_in_run(spark, of_part, counts.run, ["current"], {"balance": 3}, 9)
    assert line.endswith(f": 2 groups: {HOSTILE} by 4, lopsided by 4")
    other = job_of(spark_runs.source, copied, assignors=ASKED, objective="peak_lag")
    assert ending_of(spark, other, "no such run").overview.captured == 0


def test_groups_come_to_the_same_where_their_rows_are_too_many_for_one_process(
    spark, job, first, monkeypatch
):
    tables = {name: job.tables.read(spark, name) for name in ("optima", "scores", "inputs")}
    tables["inputs"] = tables["inputs"].where("key < '8'")
    few = Stored.of(job, tables, first)
    monkeypatch.setattr(aggregates, "ROWS_AT_ONCE", 5)
    many = Stored.of(job, tables, first)
    assert (few.rows is None, many.rows is None) == (False, True)
    assert Stored.of(job, tables, first, written=6).ends.equals(many.ends)
    assert few.runs == many.runs
    for is_group in (True, False):
        assert few.of_input(is_group=is_group) == many.of_input(is_group=is_group) > 0
    for of_input in (False, True):
        expected, found = (one.facts(job, of_input=of_input).to_pylist() for one in (few, many))
        assert sorted(map(repr, found)) == sorted(map(repr, expected))
        captured = sum(row["count"] for row in found if row["label"] == "captured")
        assert (captured == few.of_input(is_group=True)) == of_input


def test_a_group_that_lacks_what_a_tier_needs_counts_and_is_named_in_a_run_and_on_its_page(
    spark, tmp_path
):
    """A run said 1 of 2 captures of 3 groups, and its page ended in a TypeError."""
    held = {"a": [0, 1], "b": []}
    lags = {"even": (1, [[5]]), "late": (2, [[50, 5], 2]), "lost": (2, [2, [50, 5]])}
    groups = [
        holding(lag, {m: held[m][:many] for m in held}, group=name)
        | {"captured_at": f"2026-11-{20 - day}T10:00:00Z"}
        for name, (many, each) in lags.items()
        for day, lag in enumerate(each)
    ]
    source, out = write(tmp_path, {"in.jsonl": groups}) / "in.jsonl", str(tmp_path / "out")
    counts = run(source, out, assignors=["current"], objective="peak_lag", spark=spark)
    assert counts.line().startswith("5 captures of 3 groups, 3 of them with a proved optimum, ")
    said = "3 groups, judged by their latest captures: 1 improvable; "
    said += "1 as good as can be; 1 not judged (lost)."
    assert counts.found.overview.headline() == said
    (late,), _ = counts.found.overview.attention()
    assert late.name == "late"
    assert late.to_do == "let an assignor that looks at lag move 1 partition"
    page = page_of_run(out, [], "")
    assert page.lead == said
    assert page.title == "3 consumer groups"
    _, moves = page.trend
    assert [*csv.DictReader(StringIO(moves.data.strip()))][-2:] == [
        {"captured_at": "2026-11-19T10:00:00Z", "group": "late", "value": ""},
        {"captured_at": "2026-11-20T10:00:00Z", "group": "late", "value": "1"},
    ]


def test_a_run_says_which_command_takes_the_answer_to_its_question(capsys):
    """It said to add --reads, which `assay run` does not have."""
    held = {"a": {"owned": {"t": [0, 1, 2, 3]}}, "b": {"owned": {"u": [0]}}}
    group = Group.from_dict(document({"t": 4, "u": 1}, held))
    ending = Ending(overview_of(judge([group])), 0, (0, ()))
    show_run(RunCounts("out", ending, 1, 1.5, "run"), TIERS)
    assert "give assay score --reads 'MEMBER=+TOPIC'" in " ".join(capsys.readouterr().out.split())


@dataclass(frozen=True)
class Judged:
    """The counts and the page of a run of groups with lag, and the overview that `judge` gives."""

    counts: RunCounts
    page: Page
    expected: Overview


@pytest.fixture(scope="module")
def judged(spark, tmp_path_factory) -> Judged:
    held = [{"a": [0, 1], "b": [2, 3]}, {"a": [0, 2], "b": [1, 3]}, {"a": [0], "b": [1]}, {}]
    groups = [
        Group.from_dict(holding([900, 800, 5, 0 if owned else None], owned, group=f"g{number}"))
        for number, owned in enumerate(held)
    ] + series_of_four()
    folder = tmp_path_factory.mktemp("judged")
    write(folder, {"in.jsonl": [one.to_dict() for one in groups]})
    out = str(folder / "out")
    counts = run(folder / "in.jsonl", out, assignors=["current"], spark=spark)
    return Judged(counts, page_of_run(out, [], "assay report out"), overview_of(judge(groups)))


def test_a_run_and_its_page_tell_of_lag_that_could_fall_and_of_what_nobody_reads(judged):
    counts, page, expected = judged.counts, judged.page, judged.expected
    found = counts.found.overview
    assert found.lagging == expected.lagging == 1
    assert found.headline() == expected.headline()
    to_do = {one.name: one.to_do for one in found.attention()[0]}
    assert "the busiest member falls from 1,700 to " in to_do["g0"]
    assert to_do["g3"] == "start its consumers: at least 1,705 records wait"
    assert to_do["g2"] == "2 partitions without an owner, where 5 records wait"
    falls = {one.name: (0, vars(one.fall)) for one in found.worst if one.fall is not None}
    assert falls.keys() == {"g0", "worse", "flaps"}
    assert missed(counts, limited=False) == ["not valid: 1 group", "nobody reads: 1 group"]
    # A limit has told of the first group already, and assignors are not what members hold.
    assert missed(counts, limited=True) == ["nobody reads: 1 group"]
    assert missed(counts, limited=False, held=False) == ["nobody reads: 1 group"]
    document = run_document(counts, TIERS, "in")
    told = {row["group"]: (row["without_owner"], row["could_fall"]) for row in document["worst"]}
    none = dict.fromkeys(("g1", "g3", "behind", "healthy"), (0, None))
    assert told == {"g2": (2, None), **falls, **none}
    assert page.lead == expected.headline()
    assert dict(page.says) == {
        "nobody reads": 1, "not valid": 1, "improvable": 2, "even, lag could fall": 1,
        "as good as can be": 3,
    }  # fmt: skip
    assert (document["verdicts"]["as good as can be"], document["lag_could_fall"]) == (4, 1)


def test_groups_without_a_snapshot_count_in_a_run_as_in_score(spark, tmp_path):
    """A run said 2 of 13 groups where score said 2 of 15."""
    source = tmp_path / "in"
    source.mkdir()
    for file in (
        "4.3.1/empty-e-describe.txt", "4.3.1/empty-e-describe.err.txt",
        "4.3.1/coop-a-describe.txt",
        "4.3.1/rebal-j-describe.err.txt", "4.3.1/rebal-j-members-verbose.err.txt",
        "3.9.2/nosuch-describe.txt", "4.3.1/list-state-type.txt",
    ):  # fmt: skip
        shutil.copy(CAPTURES / file, source)
    counts = run(source, str(tmp_path / "out"), assignors=["current"], spark=spark)
    told = counts.found
    headline, *lines = assay("score", source).stdout.splitlines()
    said = "4 groups: 1 that nobody reads; 1 as good as can be; 1 rebalancing (rebal-j); "
    said += "1 not judged (nosuch)."
    assert headline == told.overview.headline() == said
    assert told.unread[0] == 4
    with redirect_stdout(StringIO()) as shown:
        show_run(counts, TIERS)
    rows = shown.getvalue().splitlines()
    for name, verdict in (("nosuch", "not judged"), ("rebal-j", "rebalancing")):
        for those in (lines, rows):
            (row,) = (line for line in those if line.startswith(f"{name} "))
            assert f" - {verdict} - " in re.sub(r" +", " ", f"{row} ")
    document = run_document(counts, TIERS, "in")
    assert (document["not_judged"], document["rebalancing"]) == (1, 1)
    assert missed(counts, limited=False)[:2] == [
        "failed: 4 inputs", "not judged: 1 group: nosuch",
    ]  # fmt: skip
    page = page_of_run(str(tmp_path / "out"), [], "")
    assert (page.title, page.lead) == ("4 consumer groups", headline)
    apart = page_of_run(str(tmp_path / "out"), [str(source)], "")
    assert apart.lead == "No group could be read."


def test_captures_of_a_group_are_one_group_with_a_history_in_the_ending_and_on_the_page(
    spark, judged
):
    counts, page, expected = judged.counts, judged.page, judged.expected
    found = counts.found.overview
    assert counts.line().startswith("44 captures of 8 groups, 44 of them with a proved optimum, ")
    assert found.says == expected.says
    assert (found.captured, found.now, found.groups) == (44, 8, 8)
    assert found.history() == expected.history()
    assert [one.name for one in found.worst] == [one.name for one in expected.worst]
    assert page.history == tuple(expected.history())
    assert [drawing.title for drawing in page.trend] == [
        "Verdicts over time",
        "Groups over time",
        "Lag that grows",
    ]
    job = job_of("in.jsonl", counts.out, assignors=["current"])
    lines = too_far_in_run(spark, job, counts.run, ["current"], {"balance": 0}, 9)
    assert any(line.endswith(": 2 groups: flaps by 8, worse by 16") for line in lines)


def test_of_captures_of_one_time_the_last_counts_as_in_score_and_their_group_is_named(
    spark, tmp_path
):
    """The last of a file's lines and of files. They may be of one name in two clusters."""
    source, second = tmp_path / "in", "2026-11-20T10:00:00Z"
    (source / "a").mkdir(parents=True)
    (source / "a-b").mkdir()

    def held(name: str, hour: int | None, *loads: int) -> dict:
        return snapshot(name, hour, [*loads]).to_dict()

    head = "GROUP TOPIC PARTITION CURRENT-OFFSET LOG-END-OFFSET LAG CONSUMER-ID HOST CLIENT-ID\n"
    row = "texts t {} 5 5 0 c{} /h c{}\n"
    lines = [held("lines", 10, n, 11 - n) for n in (0, 2, 4, 6, 8, 10, 1, 3, 5, 9, 7)]
    before = [held("before", hour, n) for n, hour in enumerate((9, 9, 10))]
    write(source, {
        "lines.jsonl": [*lines, *before, held("untimed", None, 1), held("untimed", None, 2)],
        "a/of.json": held("folders", 10, 6, 0),
        "a-b/of.json": held("folders", 10, 3, 3),
        "b.txt": head + "".join(row.format(n, n % 2, n % 2) for n in range(6)),
        "c.json": held("texts", 10, 5, 1),
    })  # fmt: skip
    at = datetime.fromisoformat(second).timestamp()
    os.utime(source / "b.txt", (at, at))
    counts = run(source, str(tmp_path / "out"), assignors=["current"], spark=spark)
    assert counts.found.one_time == (3, ["folders", "lines", "texts"])
    now = {one.name: one.now for one in overview_of(judge(read_groups(source))).worst}
    assert now.items() >= {"folders": "0-6", "lines": "4-7", "texts": "1-5"}.items()
    assert {one.name: one.now for one in counts.found.overview.worst} == now
    job = job_of(source, counts.out, assignors=["current"])
    (line,) = too_far_in_run(spark, job, counts.run, ["current"], {"balance": 0}, 9)
    assert line.endswith(": 3 groups: folders by 6, lines by 2, texts by 4")
