"""Findings: derived again, read and written, version by version."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from compare.promises.conformance import ASKED
from compare.promises.description import happens
from compare.promises.findings import (
    Finding,
    Rederived,
    as_lines,
    known_of,
    read_findings,
    rederive,
    rederive_all,
    version_order,
)
from compare.promises.program import program
from compare.promises.record import KEYS as RECORD
from compare.promises.trial import Runner, in_process, runner_of
from groups import Assignment, BadInput, Group, values
from groups.files import find
from heuristics import WRITTEN
from heuristics.assignor import Outcome
from heuristics.time_limit import TimeLimit
from optimal import solve
from tests.clients import called
from tests.compare.promises.test_promise import EVEN
from tests.seeds import for_each

ROOT = Path(__file__).parents[3]
ALL = list(read_findings(ROOT / "corpus" / "findings.jsonl"))
FINDINGS = [finding for finding in ALL if finding.assignor in WRITTEN]
SHIPPED = [finding for finding in ALL if finding.assignor not in WRITTEN]
VERSIONS = [
    (finding, version, version in finding.affected)
    for finding in SHIPPED
    for version in (*finding.affected, *finding.unaffected)
]
GIVES_NO_PLAN = ("terminates", "answers", "settles")


def test_findings_are_derived_again_from_their_file(tmp_path):
    (tmp_path / "f.jsonl").write_text(as_lines(FINDINGS))
    with TimeLimit(5.0) as limit:
        found = list(rederive_all(tmp_path / "f.jsonl", limit))
    assert found == [Rederived(f.id, "same", "breaks as before") for f in FINDINGS]
    assert len(found) > 20


def test_what_happens_is_said_in_words_for_each_promise_that_is_found_broken():
    for one in ALL:
        assert happens(one) != ", ".join(f"{key} {value}" for key, value in one.measured.items())


def test_a_program_is_only_for_a_promise_that_its_template_tests():
    clients = {one.assignor.partition("/")[0]: one for one in SHIPPED}
    measured = dict.fromkeys(("balance", "optimum", "moves", "moved", "violations"), 2)
    for client, one in clients.items():
        finding = replace(one, record=None, measured=measured)
        for promise in ASKED:
            if promise == "racks" or (client == "kafkajs" and promise not in ("answers", "valid")):
                with pytest.raises(BadInput, match=f"no program for the promise {promise}$"):
                    program(replace(finding, promise=promise))
            else:
                assert program(replace(finding, promise=promise)).text


def coming(status: str, reason: str) -> Runner:
    """Return a runner that always comes to this outcome."""
    return Runner("range", lambda _: Outcome(status, None, reason, 1.0))


LATE = coming("timed-out", "no answer within 1 s")


@pytest.mark.parametrize(
    ("run", "promise", "measured", "status", "said"),
    [
        (LATE, "terminates", {"status": "timed-out"}, "same", "breaks as before"),
        (LATE, "valid", {}, "not-tried",
         "not tried: no answer within 1 s; give it a longer time limit"),
        (coming("unavailable", "the client is gone"), "valid", {}, "not-tried",
         "not tried: the client is gone"),
        (coming("failed", "it does not start: no JVM"), "answers", {}, "not-tried",
         "not tried: it does not start: no JVM"),
        (coming("failed", "KeyError: 1"), "valid", {}, "changed",
         "the promise is not put to the test: failed: KeyError: 1"),
        (in_process("kip-169-lag"), "balanced", {}, "changed",
         r"the promise is not put to the test: refused: .*lag.*"),
        (in_process("kip-54-sticky"), "balanced", {}, "changed", "the promise holds"),
        (in_process("roundrobin"), "optimal-moves", {"moves": 9}, "changed",
         r'measured \{"moves": .*\}, expected \{"moves": 9\}'),
    ],
)  # fmt: skip
def test_what_was_not_tried_is_told_from_what_changed(run, promise, measured, status, said):
    finding = Finding.of("range", promise, Group.from_dict(EVEN), measured)
    made = rederive(finding, run)
    assert (made.id, made.status) == (finding.id, status)
    assert re.fullmatch(said, made.said)


def test_findings_round_trip_through_their_lines():
    text = (ROOT / "corpus" / "findings.jsonl").read_text()
    assert as_lines(ALL) == text
    assert len({finding.id for finding in ALL}) == len(ALL)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "assay-group/1"}, r"^f\.jsonl:1: format: 'assay-group/1', expected 'assay-"),
        ({"group": {}}, r"^f\.jsonl:1: group: key 'format' is missing$"),
        ({"note": 1}, r"^f\.jsonl:1: unknown key 'note'$"),
        ({"id": ""}, r"^f\.jsonl:1: id: \"\", expected a non-empty string$"),
        ({"found": {"date": "1"}}, r"^f\.jsonl:1: found: key 'how' is missing$"),
        ({"found": {"date": "1", "how": "so"}}, r"found\.date: \"1\", expected a day as in 2026-"),
        ({"why": "a rule"}, r"^f\.jsonl:1: why: \"a rule\", expected a list$"),
        ({"why": ["a rule", ""]}, r"^f\.jsonl:1: why\[1\]: \"\", expected a non-empty string$"),
        (
            {"again": {"holds": 1, "measured": {}}},
            r"^f\.jsonl:1: again\.holds: 1, expected true",
        ),
        ({"command": ""}, r"^f\.jsonl:1: command: \"\", expected a non-empty string$"),
        (
            {"plan": {"m0": {"t0": [-1]}}},
            r"^f\.jsonl:1: plan\.m0\.t0\[0\]: -1, expected an integer",
        ),
    ],
)
def test_what_is_no_finding_is_refused_with_its_line(change, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("f.jsonl").write_text(json.dumps(FINDINGS[0].to_dict() | change))
    with pytest.raises(BadInput, match=message):
        list(read_findings("f.jsonl"))


def test_a_record_is_there_as_a_whole_or_not_at_all(tmp_path):
    document = FINDINGS[0].to_dict()
    for key in RECORD:
        part = {name: value for name, value in document.items() if name != key}
        (tmp_path / "f.jsonl").write_text(json.dumps(part))
        with pytest.raises(BadInput, match=f"f.jsonl:1: key '{key}' is missing$"):
            list(read_findings(tmp_path / "f.jsonl"))
    none = {name: value for name, value in document.items() if name not in (*RECORD, "found")}
    read = Finding.from_dict(none)
    assert read.record is read.found is None
    assert read.to_dict() == none
    again = none | {"again": {"holds": True, "measured": {}}}
    with pytest.raises(BadInput, match=r"key 'plan' is missing$"):
        Finding.from_dict(again)


@for_each(ALL)
def test_each_finding_holds_its_plan_a_better_one_and_how_to_run_it_again(finding):
    record = finding.record
    assert (record.plan is None) == (finding.promise in GIVES_NO_PLAN)
    if record.plan is not None and finding.promise in ("balanced", "optimal-balance"):
        plan = Assignment.from_dict(finding.group, record.plan)
        measured = {"loads": plan.loads.tolist(), "balance": values(plan, ("balance",))[0]}
        assert (finding.measured | measured).items() >= finding.measured.items()
    better = Assignment.from_dict(finding.group, record.better)
    assert solve(finding.group).terms[0].value == values(better, ("balance",))[0]
    assert record.command.startswith(("assay reproduce ", "assay hunt "))
    assert finding.assignor in record.command or finding.id in record.command
    assert finding.assignor in WRITTEN or finding.assignor.partition("@")[2] in (
        record.environment.values()
    )


def test_a_run_over_the_corpus_passes_findings_and_scenarios_over():
    sources = {Path(found.source.split(", ")[0]).name for found in find([str(ROOT / "corpus")])}
    assert "known.jsonl" in sources
    assert sources.isdisjoint({"findings.jsonl", "deploy.json"})
    # One that is named is no folder's part, and is refused as no group.
    assert len(list(find([str(ROOT / "corpus" / "scenarios" / "deploy.json")]))) == 1


@pytest.fixture(scope="module")
def limit_for():
    """Give a function that returns the time limit of a promise.

    It is long for most: a KafkaJS leader is asked three times for its plan, which takes a second.
    """
    with TimeLimit(1.0) as short, TimeLimit(10.0) as patient:
        yield lambda promise: short if promise == "terminates" else patient


@pytest.mark.clients
@pytest.mark.parametrize(
    ("finding", "version", "breaks"), VERSIONS, ids=[f"{f.id}@{v}" for f, v, _ in VERSIONS]
)
def test_each_finding_is_what_that_version_does_today(limit_for, finding, version, breaks):
    other = replace(finding, assignor=f"{finding.assignor.partition('@')[0]}@{version}")
    run = runner_of(called(other.assignor).name, limit_for(finding.promise))
    _, judgement = other.try_again(run)
    assert judgement.holds is not breaks
    assert judgement.holds is not None


@for_each(SHIPPED)
def test_a_finding_is_of_a_version_that_it_affects_with_topics_that_can_exist(finding):
    assert (finding.group.partitions > 0).all()
    assert finding.assignor.partition("@")[2] in finding.affected
    assert not set(finding.affected) & set(finding.unaffected)
    assert list(finding.affected) == sorted(finding.affected, key=version_order)


def test_of_an_assignor_it_is_known_what_breaks_in_its_version_the_worst_alone():
    java = [f"kafka-java/{name}" for name in ("sticky@2.8.2", "sticky@4.4.0", "range@4.4.0")]
    assert known_of(["range", java[0], java[2], "kip-54-sticky"]) == ""
    # 4.4.0 fails on some groups, too.
    assert {f.promise for f in SHIPPED if java[1] == f.assignor} > {"terminates", "answers"}
    dies = "librdkafka/cooperative-sticky@2.16.0"
    assert known_of([dies, *java]) == (
        "On some groups whose members read different topics, sticky 4.4.0 never ends, and "
        f"{dies} fails: "
        "docs/findings/shipped.md."
    )
    many = [f.assignor for f in SHIPPED if f.promise == "terminates"]
    assert " and 2 more never end: " in known_of(many)
    assert len(many) == 5
    assert (ROOT / "docs/findings/shipped.md").exists()


def test_fixed_is_the_first_version_after_those_affected():
    finding = replace(SHIPPED[0], affected=("3.9.2", "4.0.2"), unaffected=("2.8.2", "4.4.0"))
    assert finding.fixed == "4.4.0"
    assert replace(finding, unaffected=("2.8.2",)).fixed is None
    assert replace(finding, affected=("4.10.0",), unaffected=("4.9.0",)).fixed is None
    assert finding.to_dict()["fixed"] == "4.4.0"
