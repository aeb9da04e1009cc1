"""The releases in which findings show are those that the releases themselves say."""

import json
from dataclasses import replace
from datetime import date
from fnmatch import fnmatch
from pathlib import Path

import pytest

from compare.promises.findings import Finding, read_findings
from compare.promises.trial import Runner, in_process, runner_of
from groups import Group
from heuristics.assignor import Outcome, attempt
from heuristics.written.range import plan
from studies.since_when.histories import TOLD as HISTORIES
from studies.since_when.histories import history
from studies.since_when.releases import (
    BUILT_THE_SAME,
    oldest_first,
)
from studies.since_when.verdicts import AFFECTED, UNAFFECTED, UNTRIED, Verdict, besides_of, verdict
from tests.clients import called
from tests.seeds import for_each

ROOT = Path(__file__).parents[2]
FINDINGS = {f.id: f for f in read_findings(ROOT / "corpus" / "findings.jsonl") if f.affected}
KNOWN = json.loads((ROOT / "docs/findings/since-when.json").read_text("utf-8"))
TOLD = json.loads(HISTORIES.read_text("utf-8"))


def test_every_finding_on_a_shipped_assignor_has_its_history():
    assert sorted(KNOWN) == sorted(FINDINGS)


@for_each(sorted(KNOWN))
def test_a_history_names_each_release_once_oldest_first_and_why_one_was_not_tried(name):
    known = KNOWN[name]
    assert set(known) == {"releases", "first", "last", "change", "reports"}
    versions = [row["version"] for row in known["releases"]]
    assert versions == oldest_first(versions)
    for row in known["releases"]:
        assert set(row) == {"version", "date", "status", "reason"}
        assert row["status"] in (AFFECTED, UNAFFECTED, UNTRIED)
        assert row["reason"] or row["status"] != UNTRIED
        if row["date"] is not None:
            day = date.fromisoformat(row["date"])
            assert day.year >= BUILT_THE_SAME
            assert day <= date.today()
    affected = [row["version"] for row in known["releases"] if row["status"] == AFFECTED]
    assert (known["first"], known["last"]) == (affected[0], affected[-1])


@for_each(sorted(KNOWN))
def test_the_releases_that_findings_list_have_the_same_status_in_both(name):
    rows = {row["version"]: row for row in KNOWN[name]["releases"]}
    for version in FINDINGS[name].affected:
        assert (rows[version]["status"], rows[version]["reason"]) == (AFFECTED, None), version
    for version in FINDINGS[name].unaffected:
        row = rows[version]
        assert row["status"] == UNAFFECTED or row["reason"].startswith("on the group of"), version


def test_kafkas_own_classes_say_what_the_history_says_of_them(limit):
    for version in ("2.8.2", "4.4.0"):
        name = called(f"kafka-java/sticky@{version}").name
        for promise in ("answers", "valid", "optimal-moves"):
            finding = f"kafka-java-sticky-{promise}"
            row = next(r for r in KNOWN[finding]["releases"] if r["version"] == version)
            said = verdict(FINDINGS[finding], runner_of(name, limit))
            assert said == Verdict(row["status"], row["reason"]), finding


def test_every_change_and_report_that_is_told_stands_in_a_history():
    for one in TOLD["changes"]:
        of = [name for name in KNOWN if any(fnmatch(name, pattern) for pattern in one["of"])]
        assert of, one["of"]
        assert all(one["text"] in (KNOWN[name]["change"] or "") for name in of), one["of"]
    reports = {r["where"] for known in KNOWN.values() for r in known["reports"]}
    assert reports == {one["where"] for one in TOLD["reports"]}


def row(version: str, status: str, reason: str | None = None) -> dict[str, str | None]:
    return {"version": version, "date": None, "status": status, "reason": reason}


def test_a_change_is_told_where_the_first_affected_release_is_the_one_it_names():
    told = {"changes": [{"of": ["x-*"], "first": "2.0", "text": "It came."}], "reports": []}
    rows = [row("1.0", UNAFFECTED), row("2.0", AFFECTED), row("3.0", UNTRIED, "no wheel")]
    made = history("x-valid", rows, told)
    assert (made["first"], made["last"], made["change"]) == ("2.0", "2.0", "It came.")
    assert history("x-valid", rows[:1], told)["change"] is None
    assert history("y-valid", rows, told)["change"] is None


def finding_of(promise: str, group: dict[str, object], name: str = "range-x") -> Finding:
    document = {"format": "assay-group/1", "group": "g", **group}
    return Finding(name, "range", promise, "s", {}, Group.from_dict(document))


BOTH = {"subscription": ["t", "u"], "owned": {}}
UNEVEN = {"topics": {"t": 1, "u": 1}, "members": {"a": BOTH, "b": BOTH}}


def test_a_verdict_says_affected_unaffected_or_why_it_was_not_tried():
    run = in_process("range")
    assert verdict(finding_of("optimal-balance", UNEVEN), run) == Verdict(AFFECTED)
    assert verdict(finding_of("valid", UNEVEN), run) == Verdict(UNAFFECTED)
    assert verdict(finding_of("optimal-moves", UNEVEN), run) == Verdict(
        UNTRIED, "its plan is not balanced, so that its moves are not compared"
    )


@pytest.mark.parametrize(
    ("outcome", "promise", "reason"),
    [
        (Outcome("failed", None, "it does not start: no such class", 0.0), "answers", "no such"),
        (Outcome("unavailable", None, "not installed", 0.0), "answers", "not installed"),
        (Outcome("timed-out", None, "no answer within 2 s", 2.0), "valid", "it does not return"),
        (Outcome("failed", None, "KeyError: 1", 0.0), "valid", "it makes no plan: KeyError: 1"),
    ],
)
def test_what_cannot_be_judged_is_untried_with_its_reason(outcome, promise, reason):
    said = verdict(finding_of(promise, UNEVEN), Runner("range", lambda _: outcome))
    assert said.status == UNTRIED
    assert said.reason is not None
    assert said.reason.startswith(reason)


def test_an_endless_loop_is_looked_for_on_the_groups_of_other_clients_too():
    one = finding_of("terminates", UNEVEN)
    other = finding_of("terminates", {**UNEVEN, "topics": {"t": 2, "u": 1}}, "other-terminates")

    def hangs_on_two(group: Group) -> Outcome:
        if group.partitions.tolist() == [2, 1]:
            return Outcome("timed-out", None, "no answer within 2 s", 2.0)
        return attempt(plan, group)

    run = Runner("range", hangs_on_two)
    assert besides_of(one, [one, other]) == [other]
    assert besides_of(replace(one, promise="valid"), [one, other]) == []
    assert verdict(one, run) == Verdict(UNAFFECTED)
    assert verdict(one, run, [other]) == Verdict(AFFECTED, "on the group of other-terminates")
