"""What each promise asks, and what is true of it on every small group."""

import json
import re
from itertools import islice
from math import comb
from pathlib import Path

import pytest

from compare.promises.findings import Finding, as_lines, read_findings, rederive_all
from compare.promises.promise import PROMISES, Trial, in_process, optima, promise_named, rejoined
from compare.runs.source import find
from compare.samples.small_groups import drawn, equal, fresh, owned, ownership_counts
from groups import Assignment, BadInput, Failed, Group, Refused
from heuristics import WRITTEN, Plan, assign
from heuristics.time_limit import Outcome, TimeLimit
from studies.promise_table import BEGIN, END, scopes, table_of, tally

ROOT = Path(__file__).parents[3]
ALL = list(read_findings(ROOT / "corpus" / "findings.jsonl"))
FINDINGS = [finding for finding in ALL if finding.assignor in WRITTEN]
EVEN = {
    "format": "assay-group/1", "group": "g", "topics": {"t": 4},
    "members": {
        "a": {"subscription": ["t"], "owned": {"t": [0, 1]}},
        "b": {"subscription": ["t"], "owned": {"t": [2, 3]}},
    },
}  # fmt: skip


def judged(promise: str, function, document=EVEN, assignor="range"):
    """What a promise says of a function in the place of an assignor."""

    def run(group: Group) -> Outcome:
        try:
            made = function(group)
        except (Refused, Failed) as error:
            status = "refused" if isinstance(error, Refused) else "failed"
            return Outcome(status, None, str(error), 0.0)
        return Outcome("planned", Plan(Assignment.from_dict(group, made)), None, 0.0)

    group = Group.from_dict(document)
    return PROMISES[promise].judge(Trial(assignor, run, group, optima([group])[0]))


def giving(*answers):
    """A function that gives one answer after the other, then the last again and again."""
    left = list(answers)

    def function(_: Group):
        answer = left.pop(0) if len(left) > 1 else left[0]
        if isinstance(answer, Exception):
            raise answer
        return answer

    return function


KEPT = {"a": {"t": [0, 1]}, "b": {"t": [2, 3]}}
SWAPPED = {"a": {"t": [2, 3]}, "b": {"t": [0, 1]}}
LOPSIDED = {"a": {"t": [0, 1, 2]}, "b": {"t": [3]}}
DOUBLE = {"a": {"t": [0, 1]}, "b": {"t": [1, 2, 3]}}


@pytest.mark.parametrize(
    ("promise", "answers", "holds", "measured"),
    [
        ("terminates", [KEPT], True, {"status": "planned"}),
        ("terminates", [Failed("for ever")], True, {"status": "failed"}),
        ("answers", [KEPT], True, {"status": "planned", "reason": None}),
        ("answers", [Failed("for ever")], False, {"status": "failed", "reason": "for ever"}),
        ("answers", [Refused("no lag")], None, {}),
        ("terminates", [Refused("no lag")], None, {}),
        ("valid", [KEPT], True, {"violations": 0, "first": []}),
        ("valid", [DOUBLE], False, {"violations": 1, "first": ["t-1 with b: double"]}),
        ("valid", [Failed("for ever")], None, {}),
        ("balanced", [KEPT], True, {"loads": [2, 2]}),
        ("balanced", [LOPSIDED], False, {"loads": [3, 1]}),
        ("balanced", [DOUBLE], None, {}),
        ("optimal-balance", [KEPT], True, {"balance": 0, "optimum": 0}),
        ("optimal-balance", [LOPSIDED], False, {"balance": 2, "optimum": 0}),
        ("optimal-balance", [DOUBLE], None, {}),
        ("optimal-moves", [KEPT], True, {"moves": 0, "optimum": 0}),
        ("optimal-moves", [SWAPPED], False, {"moves": 4, "optimum": 0}),
        ("optimal-moves", [LOPSIDED], None, {}),
        ("optimal-moves", [Refused("no lag")], None, {}),
        ("idempotent", [SWAPPED, SWAPPED], True, {"moved": 0}),
        ("idempotent", [SWAPPED, KEPT], False, {"moved": 4}),
        ("idempotent", [SWAPPED, Failed("for ever")], None, {}),
        ("idempotent", [Refused("no lag")], None, {}),
    ],
)
def test_each_promise_asks_what_it_says(promise, answers, holds, measured):
    verdict = judged(promise, giving(*answers))
    assert (verdict.holds, verdict.measured) == (holds, measured)


def test_the_revert_rule_would_be_seen_if_it_fired():
    fresh_start = {**EVEN, "members": {**EVEN["members"], "c": {"subscription": ["t"]}}}
    moves = lambda group: assign(group, "kip-54-sticky").to_dict()  # noqa: E731
    reverts = lambda group: assign(group, "kip-54-fairest").to_dict()  # noqa: E731
    assert judged("no-revert", moves).holds is None
    lopsided = {**fresh_start, "topics": {"t": 9}}
    lopsided["members"]["a"] = {"subscription": ["t"], "owned": {"t": list(range(9))}}
    lopsided["members"]["b"] = {"subscription": ["t"]}
    assert judged("no-revert", moves, lopsided).holds is True
    assert judged("no-revert", reverts, lopsided).holds is False


def test_the_revert_rule_is_asked_of_the_one_that_has_it():
    asked = [name for name in WRITTEN if PROMISES["no-revert"].asked_of(name)]
    assert asked == ["kip-54-sticky"]
    assert PROMISES["balanced"].asked_of("range")


def test_on_its_own_result_every_member_claims_what_it_was_given_in_one_generation():
    group = Group.from_dict(EVEN)
    again = rejoined(group, Assignment.from_dict(group, DOUBLE))
    members = again.to_dict()["members"]
    assert {m: said["owned"] for m, said in members.items()} == DOUBLE
    assert {said["generation"] for said in members.values()} == {0}
    # Two claims of one generation void each other.
    assert again.owner.tolist() == [0, -1, 1, 1]


def test_what_is_not_there_is_refused():
    with pytest.raises(BadInput, match=r"^promise: unknown name 'fast', expected one of termin"):
        promise_named("fast")
    with pytest.raises(BadInput, match=r"^assignor: unknown name 'fast'"):
        in_process("fast")


# Enumeration


def test_equal_groups_are_counted_as_the_formula_says():
    """One topic, or as many as partitions: of P partitions N members own C(P + N, N) ways."""
    for members, partitions in ((1, 3), (3, 4), (4, 6)):
        ways = sum(
            comb(p + n, n) * (1 if p == 1 else 2)
            for n in range(1, members + 1)
            for p in range(1, partitions + 1)
        )
        found = list(equal(members, partitions))
        assert len(found) == len(set(found)) == ways
    assert sum(1 for _ in ownership_counts(3, 4)) == comb(7, 3)


def test_fresh_groups_are_every_choice_of_sizes_and_subscriptions():
    sizes = {1: 3, 2: 3, 3: 1}  # ways to give 1, 2 or 3 topics at most 3 partitions
    ways = sum(sizes[t] * ((2**t - 1) + (2**t - 1) ** 2) for t in sizes)
    found = list(fresh(3, 2, 3))
    assert len(found) == len(set(found)) == ways
    assert all(max(small.owner) < 0 for small in found)


def test_owned_groups_have_an_owner_who_reads_what_it_owns():
    found = list(owned(2, 2, 3))
    assert len(found) == len(set(found))
    for small in found:
        group = small.group()
        assert (group.owner >= 0).any()
        assert group.to_dict() == Group.from_dict(group.to_dict()).to_dict()


def test_drawn_groups_are_within_their_limits_and_of_every_kind():
    groups = list(islice(drawn(3), 400))
    assert [g.to_dict() for g in islice(drawn(3), 20)] == [g.to_dict() for g in groups[:20]]
    assert {len(g.members) for g in groups} == set(range(2, 9))
    assert max(g.n_partitions for g in groups) <= 36
    rivals = [g for g in groups if len(g.claims.member) > len(set(
        zip(g.claims.topic.tolist(), g.claims.partition.tolist(), strict=True)))]  # fmt: skip
    assert rivals
    assert any(len(set(g.generation.tolist())) > 1 for g in groups)
    assert any((g.owner < 0).all() for g in groups)
    assert any((g.owner >= 0).all() for g in groups)


# What is true


@pytest.fixture(scope="module")
def small_tallies():
    small = scopes(equal_to=(3, 6), fresh_to=(2, 3, 4), owned_to=(2, 3, 3), seeded=300)
    return {
        (scope.name, *key): one for scope in small for key, one in tally(scope.groups()).items()
    }


def broken(tallies, scope):
    return {key[1:] for key, one in tallies.items() if key[0] == scope and one.broken}


def test_every_assignor_as_written_comes_to_an_end(small_tallies):
    for (_, _, promise), one in small_tallies.items():
        assert promise != "terminates" or not one.broken


def test_the_revert_rule_never_fires_though_moves_are_made(small_tallies):
    reverts = {k[0]: one for k, one in small_tallies.items() if k[2] == "no-revert"}
    assert not any(one.broken for one in reverts.values())
    assert reverts["owned"].tested > 100
    assert reverts["seeded"].tested > 50


def test_where_all_read_alike_kip_54_is_balanced_but_moves_too_much(small_tallies):
    of_kip_54 = {p for a, p in broken(small_tallies, "equal") if a == "kip-54-sticky"}
    assert of_kip_54 == {"optimal-moves"}
    least = small_tallies["equal", "kip-54-sticky", "optimal-moves"].smallest
    assert (len(least.group.members), least.group.n_partitions) == (3, 5)
    assert least.measured == {"moves": 2, "optimum": 1}


def test_where_all_read_alike_the_amended_kip_615_keeps_every_promise(small_tallies):
    assert not {p for a, p in broken(small_tallies, "equal") if a == "kip-615-amended"}


def test_the_alternative_of_kip_54_moves_nothing_and_pays_in_balance(small_tallies):
    of_fairest = {p for a, p in broken(small_tallies, "owned") if a == "kip-54-fairest"}
    assert of_fairest == {"balanced", "optimal-balance"}


def test_without_differing_subscriptions_kip_615_is_not_put_to_the_test(small_tallies):
    one = small_tallies["fresh", "kip-615-amended", "balanced"]
    assert 0 < one.tested < small_tallies["fresh", "range", "balanced"].tested


def test_parts_add_up_to_the_whole():
    def groups():
        return (small.group() for small in islice(owned(2, 3, 3), 0, None, 1))

    whole = tally(groups(), ["kip-54-fairest"])
    parts = [tally(groups(), ["kip-54-fairest"], part=part, parts=2) for part in range(2)]
    for key, one in whole.items():
        assert one.tested == sum(part[key].tested for part in parts)
        assert one.broken == sum(part[key].broken for part in parts)


def test_the_table_has_a_row_for_each_assignor_and_promise():
    page = (ROOT / "docs" / "promises.md").read_text()
    lines = page.partition(BEGIN)[2].partition(END)[0].splitlines()
    rows = [line for line in lines if line.startswith("| `")]
    cells = [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]
    asked = [(f"`{a}`", p) for a in WRITTEN for p in PROMISES if PROMISES[p].asked_of(a)]
    assert [(row[0], row[1]) for row in cells] == asked
    named = {(row[0].strip("`"), row[1]) for row in cells if any("fails" in c for c in row)}
    assert named == {(f.assignor, f.promise) for f in FINDINGS}
    for row in cells:
        assert all(re.match(r"holds on all|\*\*fails\*\* on|not put to the test", c)
                   for c in row[2:6])  # fmt: skip
        assert ("fails" in "".join(row)) == bool(row[6])


def test_the_table_agrees_with_a_smaller_enumeration(small_tallies):
    """What fails on fewer groups fails on more; the table is made of supersets of these."""
    page = (ROOT / "docs" / "promises.md").read_text()
    for scope, at in (("equal", 2), ("fresh", 3), ("owned", 4)):
        for assignor, promise in broken(small_tallies, scope):
            row = next(
                r for r in page.splitlines() if r.startswith(f"| `{assignor}` | {promise} ")
            )
            assert "fails" in row.split("|")[at + 1]


def test_a_table_is_made_of_tallies(small_tallies):
    finding = Finding.of("range", "balanced", Group.from_dict(EVEN), {"loads": [2, 2]})
    lines = table_of(small_tallies, [finding]).splitlines()
    assert len(lines) == 5 + 2 + len(WRITTEN) * (len(PROMISES) - 1) + 1
    row = next(line for line in lines if line.startswith("| `range` | balanced "))
    assert row.endswith("| 2 members, 1 topic, 4 partitions: `range-balanced` |")


# Findings


@pytest.mark.parametrize("finding", FINDINGS, ids=lambda finding: finding.id)
def test_each_finding_breaks_its_promise_again(finding):
    assert finding.rederive(in_process(finding.assignor)) is None


def test_findings_are_derived_again_from_their_file(tmp_path):
    (tmp_path / "f.jsonl").write_text(as_lines(FINDINGS))
    with TimeLimit(5.0) as limit:
        found = list(rederive_all(tmp_path / "f.jsonl", limit))
    assert found == [(finding.id, None) for finding in FINDINGS]
    assert len(found) > 20


def test_a_finding_that_no_longer_breaks_says_so():
    group = Group.from_dict(EVEN)
    held = Finding.of("kip-54-sticky", "balanced", group, {"loads": [2, 2]})
    run = in_process("kip-54-sticky")
    assert held.rederive(run) == "the promise holds"
    refused = Finding.of("kip-169-lag", "balanced", group, {})
    assert refused.rederive(in_process("kip-169-lag")) == "the promise is not put to the test"
    other = Finding(**{**vars(FINDINGS[0]), "measured": {"loads": []}})
    said = other.rederive(in_process(other.assignor))
    assert re.fullmatch(r'measured \{.*\}, expected \{"loads": \[\]\}', said)


def test_findings_round_trip_through_their_lines():
    text = (ROOT / "corpus" / "findings.jsonl").read_text()
    assert as_lines(ALL) == text
    assert len({finding.id for finding in ALL}) == len(ALL)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "assay-group/1"}, r"^f\.jsonl:1: format: \"assay-group/1\", expected 'assay-"),
        ({"group": {}}, r"^f\.jsonl:1: group: key 'format' is missing$"),
        ({"note": 1}, r"^f\.jsonl:1: unknown key 'note'$"),
        ({"id": ""}, r"^f\.jsonl:1: id: \"\", expected a non-empty string$"),
    ],
)
def test_what_is_no_finding_is_refused_with_its_line(change, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("f.jsonl").write_text(json.dumps(FINDINGS[0].to_dict() | change))
    with pytest.raises(BadInput, match=message):
        list(read_findings("f.jsonl"))


def test_a_run_over_the_corpus_passes_findings_over():
    sources = {Path(found.source.split(", ")[0]).name for found in find(ROOT / "corpus")}
    assert "known.jsonl" in sources
    assert "findings.jsonl" not in sources
