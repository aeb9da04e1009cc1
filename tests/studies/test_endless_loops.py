import json
import re
from dataclasses import replace
from itertools import islice, pairwise
from pathlib import Path

import pytest

from compare.promises.findings import read_findings
from compare.samples.drawn import drawn
from groups import Assignment, Group, InvalidAssignment, values
from heuristics import assign
from heuristics.written.sticky_that_ends import from_its_holder, from_where_it_started
from optimal.solve import solve_many
from studies.loops import java, rounds, why
from studies.loops.turns import RECORDED, Turn, cycle_of, recorded_in_python, turns_of
from studies.loops.why import why_of, why_unseen
from tests.optimal.small_groups import group_of
from tests.seeds import for_each

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/findings/why.md"
MADE = json.loads(PAGE.with_suffix(".json").read_text())
FINDINGS = {finding.id: finding for finding in read_findings(ROOT / "corpus/findings.jsonl")}
ENDLESS = [name for name, finding in FINDINGS.items() if finding.promise == "terminates"]
JOIN = Group.read(ROOT / "docs/findings/never-returns.json")
OURS = turns_of(JOIN, from_where_it_started)


def turn(number, *, leaves="a", to="b"):
    return Turn("t-0", leaves, to, "t-0", leaves, {"a": number, "b": 0})


def test_a_cycle_is_the_shortest_that_comes_back_ten_times():
    there, back, first = turn(1), turn(0, leaves="b", to="a"), turn(9)
    assert cycle_of([first, *[there, back] * 10]) == (1, [there, back])
    assert cycle_of([first, *[there, back] * 9]) is None
    assert cycle_of([first, *[there] * 10]) == (1, [there])
    assert cycle_of([turn(number) for number in range(100)]) is None
    assert cycle_of([]) is None


@pytest.mark.exhaustive
def test_kafkas_own_class_goes_through_the_turns_of_our_algorithm_with_its_rule():
    assert java.recorded("kafka-java/sticky@4.4.0", JOIN) == OURS


def test_aiokafkas_own_class_goes_through_the_turns_of_our_algorithm_with_its_rule():
    assert recorded_in_python("aiokafka/sticky", JOIN) == OURS


@for_each(ENDLESS)
def test_each_finding_that_does_not_end_has_the_cycle_of_our_algorithm_with_the_clients_rule(name):
    entry, group = MADE[name], FINDINGS[name].group
    before, cycle = cycle_of(turns_of(group, from_where_it_started))
    assert entry["same_as_our_algorithm_with_that_rule"] is True
    assert entry["cycle"] == [one.to_dict() for one in cycle]
    assert entry["turns_before"] == before
    assert any(one["should_leave"]["from"] != one["moved"]["from"] for one in entry["cycle"])
    assert len(turns_of(group, from_its_holder)) < RECORDED


def test_each_missed_balance_has_its_chain():
    missed = {n: f for n, f in FINDINGS.items() if f.promise == "optimal-balance" and f.record}
    assert missed
    for name, finding in missed.items():
        plan = Assignment.from_dict(finding.group, finding.record.plan)
        assert MADE[name]["chain"] == why_unseen(plan)


@pytest.mark.exhaustive
def test_rounds_that_come_back_are_told_with_what_each_gives_and_takes():
    finding = FINDINGS["kafka-java-cooperative-sticky-settles"]
    seen = rounds.rounds_of(finding.assignor, finding.group)
    before, circle = rounds.circle_of(seen)
    meant = java.withheld(finding.assignor, finding.group)
    assert [{*one} for one in meant] == [{*one.taken()} for one in seen]
    told = rounds.story(circle, before, meant)
    assert told == MADE[finding.id]["case"]
    assert told[-1] == f"Round {len(seen) + 1} is round {before + 1} again, and so on for good."
    for one, then in pairwise([*circle, circle[0]]):
        assert one.given == then.owned
        assert one.taken()


def test_without_racks_the_same_group_settles():
    finding = FINDINGS["kafka-java-cooperative-sticky-settles"]
    seen = rounds.rounds_of(finding.assignor, replace(finding.group, racks=None))
    assert rounds.circle_of(seen) is None
    assert seen[-1].taken() == {}


@pytest.mark.exhaustive
def test_where_the_load_alone_decides_who_gets_what_is_free_the_rounds_settle():
    told = {f.id for f in FINDINGS.values() if f.promise == "settles"}
    assert told
    for name in told:
        assert why.settled(FINDINGS[name].group) == MADE[name]["change"]


def test_what_librdkafka_has_logged_is_one_member_after_the_other_for_each_partition():
    entry = MADE["librdkafka-cooperative-sticky-answers"]
    holder = {}
    for one in entry["moves"]:
        assert holder.setdefault(one["partition"], one["leaves"]) == one["leaves"]
        holder[one["partition"]] = one["to"]
    assert any(first["partition"] == last["partition"] and first["leaves"] == last["to"]
               for first in entry["moves"] for last in entry["moves"])  # fmt: skip
    group = FINDINGS["librdkafka-cooperative-sticky-answers"].group
    assert holder.keys() <= {f"{t}-{n}" for t, of in group.to_dict()["topics"].items()
                             for n in range(of)}  # fmt: skip


@for_each(FINDINGS)
def test_a_finding_holds_what_the_study_tells_of_it_and_nothing_else(name):
    assert FINDINGS[name].why == (why_of(MADE[name]) if name in MADE else ())


def test_whatever_never_ends_never_settles_or_misses_the_best_balance_is_told_why():
    promises = ("terminates", "settles", "optimal-balance")
    asked = {name for name, found in FINDINGS.items() if found.promise in promises}
    assert asked
    assert asked <= MADE.keys()
    for name in asked:
        assert FINDINGS[name].why


TWO = group_of({"t": 1, "u": 2}, {"a": ["u"], "b": ["t", "u"], "c": ["t"]})
LONG = group_of(
    {"t": 2, "u": 1, "v": 1}, {"a": ["t"], "b": ["t", "u"], "c": ["u", "v"], "d": ["v"]}
)


@pytest.mark.parametrize(
    ("group", "held", "told"),
    [
        (TWO, {"a": {"u": [0]}, "b": {"u": [1]}, "c": {"t": [0]}}, "None"),
        (TWO, {"a": {"u": [0, 1]}, "b": {"t": [0]}, "c": {}},
         "u-1 from a to b and t-0 from b to c: a 2, b 1, c 0 become a 1, b 1, c 1. "
         "No single move improves the balance."),
        (TWO, {"a": {}, "b": {"t": [0], "u": [0, 1]}, "c": {}},
         "(.*)[.] A single move improves the balance."),
        (LONG, {"a": {"t": [0, 1]}, "b": {"u": [0]}, "c": {"v": [0]}},
         "(.*) from a to b, u-0 from b to c and v-0 from c to d: a 2(.*)"),
    ],
)  # fmt: skip
def test_a_chain_of_moves_is_told_in_its_order_and_whether_a_single_one_helps(group, held, told):
    assert re.fullmatch(told, str(why_unseen(Assignment.from_dict(group, held))))


def test_only_a_valid_assignment_has_a_chain():
    with pytest.raises(InvalidAssignment, match="u-1 with nobody"):
        why_unseen(Assignment.from_dict(TWO, {"a": {"u": [0]}, "b": {"t": [0]}, "c": {}}))


def test_after_a_rule_for_single_moves_only_chains_improve_the_balance():
    groups = [*islice(drawn(4), 200)]
    for group, optimum in zip(groups, solve_many(groups, "kip-54"), strict=True):
        made = assign(group, "sticky-that-ends")
        told = why_unseen(made)
        assert (told is None) == (values(made, ("balance",))[0] == optimum.terms[0].value)
        assert told is None or told.endswith("No single move improves the balance.")
