"""Many groups in one solve, by rows and by columns: to each its own answer, whatever the batch."""

import random
import re
import sys
from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest

from groups import BadInput, Group
from groups.fleet import Fleet
from groups.table.rows import batch_of
from optimal import ProofKind, Status, Stopped, check, solve, solve_many
from optimal.flow import tier_flows
from optimal.solve import solve_fleet
from tests.optimal.random_groups import random_group
from tests.optimal.small_groups import group_of

ODD = (
    group_of({}, {}, name="empty"),
    group_of({"t0": 3, "t1": 1}, {}, name="no members"),
    group_of({}, {"c0": [], "c1": ["gone"]}, name="no topics"),
    group_of({"t0": 0}, {"c0": ["t0"], "c1": ["t0"]}, name="no partitions"),
    group_of({"t0": 4}, {"c0": [], "c1": []}, name="nobody reads"),
    group_of({"t0": 5}, {"c0": ["t0"]}, {"c0": {"t0": [1]}}, name="one member"),
    group_of({"t0": 1}, {f"c{m}": ["t0"] for m in range(9)}, name="many idle"),
)


def heavy(name: str, weight: int, racks: str = "") -> Group:
    topic = {"partitions": 2, "weight": [weight] * 2, "racks": [["x"], ["x"]]}
    reads = {"a": ["t"], "b": ["t"]}
    return group_of({"t": topic}, reads, {"a": {"t": [0, 1]}}, name, racks=racks)


def test_groups_that_are_solved_alone_are_solved_together_however_much_they_weigh():
    for weight, number in ((2**57, 20), (2**40, 200)):
        groups = [heavy(f"g{i}", weight) for i in range(number)]
        for order in ("balance > moved_weight", "balance > moved_weight > stickiness"):
            many = solve_many(groups, order)
            assert {s.terms for s in many} == {solve(groups[0], order).terms}
            assert {s.status for s in many} == {Status.OPTIMAL}


def test_a_group_that_lacks_what_a_tier_needs_names_itself():
    good = group_of({"t0": 1}, {"c0": ["t0"]}, name="good")
    for groups, objective, said in (
        ([ODD[0], good], "balance > racks", "good: topics.t0.racks: unknown, but tier racks"),
        ([good, unknown("bad"), good], "kip-54", "bad: members.c0.subscription: unknown; group"),
        ([heavy("near", 1, "x"), heavy("far", 1)], "balance > racks",
         "far: members: none has a rack, but tier racks needs one"),
    ):  # fmt: skip
        with pytest.raises(BadInput, match=f"^{re.escape(said)}"):
            solve_many(groups, objective)


def test_an_answer_is_asked_for_by_number_and_has_its_share_of_the_common_time():
    many = solve_many(ODD)
    assert len({solution.seconds for solution in many}) == 1
    assert many[0].seconds > 0
    assert many[-1] is many[len(ODD) - 1]
    assert [s.group for s in many[1:3]] == [*ODD[1:3]]
    with pytest.raises(IndexError):
        many[len(ODD)]


def test_out_of_time_every_answer_is_unknown_and_says_so():
    stairs = group_of({"t0": 3, "t1": 5}, {"c0": ["t0"], "c1": ["t0", "t1"], "c2": ["t1"]})
    for one in (solve(stairs, time_limit=0), *solve_many([stairs, ODD[5]], time_limit=0)):
        assert (one.status, one.stopped) == (Status.UNKNOWN, Stopped.TIME_LIMIT)
        assert (one.assignment, one.terms) == (None, ())
        written = one.to_dict()
        assert (written["assignment"], written["proof"]) == (None, {"kind": "none"})
    solved = solve_fleet(Fleet.of([stairs] * 2), time_limit=0)
    assert set(solved.stopped.tolist()) == {Stopped.TIME_LIMIT}
    assert (solved.solution(1).assignment, solved.errors) == (None, {})


OBJECTIVES = [
    "balance > stickiness",
    "stickiness > balance",
    "balance > moved_weight",
    "balance > racks > stickiness",
    "racks > balance",
    "topic_balance > balance > stickiness",
    "balance > topic_balance",
]


def some_groups(count: int) -> list[Group]:
    return [
        random_group(random.Random(seed), members=2 + seed % 9, partitions=5 * (seed % 9))
        for seed in range(count)
    ]


def answer(solution) -> tuple:
    proof = solution.proof
    return (
        solution.status,
        solution.stopped,
        solution.method,
        solution.terms,
        proof.kind,
        None if proof.level is None else proof.level.tolist(),
        solution.assignment.loads.tolist(),
    )


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_a_group_has_one_answer_alone_in_any_batch_and_by_columns(monkeypatch, objective):
    groups = [group_of({}, {"c0": []}, name="without", racks="z"), *some_groups(30)]
    if not {"racks", "moved_weight"} & {*objective.split(" > ")}:
        groups += ODD
    alone = [answer(solve(group, objective)) for group in groups]
    assert {(status, stopped) for status, stopped, *_ in alone} == {("optimal", "proof")}
    in_order = range(len(groups))
    shuffled = random.Random(1).sample(in_order, len(groups))
    for size, together, order in (
        (1, 5000, in_order),
        (7, 5000, shuffled),
        (len(groups), 9, in_order),
        (len(groups), 5000, shuffled),
    ):
        monkeypatch.setattr(sys.modules["optimal.solve"], "MEMBERS_PER_FLOW", together)
        for start in range(0, len(groups), size):
            batch = [groups[at] for at in order[start : start + size]]
            fleet = Fleet.of(batch) if size == 7 else Fleet.from_arrow(batch_of(batch))[0]
            solved = solve_fleet(fleet, objective)
            assert solved.errors == {}
            starts = solved.fleet.member_start.tolist()
            for index, (group, solution) in enumerate(zip(batch, solved, strict=True)):
                assert answer(solution) == alone[order[start + index]]
                if size == 7:
                    unchecked = check(group, solved.solution(index, group))
                    assert (unchecked == ()) is (solution.proof.kind is ProofKind.CERTIFICATE)
                found = [(term.value, term.bound) for term in solution.terms]
                assert [*zip(solved.value[index], solved.bound[index], strict=True)] == found
                assert solved.status[index] == solution.status
                assert solved.proof[index] == solution.proof.kind
                assert solved.method[index] == solution.method
                loads = solved.loads[starts[index] : starts[index + 1]]
                assert loads.tolist() == solution.assignment.loads.tolist()


@pytest.mark.parametrize("objective", ["balance > moved_weight", "balance > stickiness"])
def test_ties_are_decided_alike_whether_with_the_last_tier_or_after_it(monkeypatch, objective):
    groups = some_groups(40)
    together = [answer(solution) for solution in solve_many(groups, objective)]
    monkeypatch.setattr(tier_flows, "MOST_COMBINED", 0)
    assert [answer(solution) for solution in solve_many(groups, objective)] == together


@pytest.mark.parametrize("objective", OBJECTIVES[:3])
def test_of_loads_that_are_as_good_the_first_members_carry_more(objective):
    topics = {"t": 2, "u": 2}
    reads = (["t"], ["u"], ["t", "u"])
    for order in permutations(reads):
        group = group_of(topics, dict(zip("abc", order, strict=True)))
        group = replace(group, weight=np.ones(4, np.int64))
        assert solve(group, objective).assignment.loads.tolist() == [2, 1, 1]


def unknown(name: str) -> Group:
    return group_of({"t0": 1}, {"c0": None}, name=name)


def test_a_group_that_cannot_be_solved_is_there_with_its_reason_and_the_others_are_solved():
    good = group_of({"t0": 3}, {"c0": ["t0"], "c1": ["t0"]}, name="good")
    solved = solve_fleet(Fleet.of([unknown("bad"), good, unknown("worse")]))
    assert repr(solved) == "Solutions(balance > stickiness: 1 optimal, 2 unknown)"
    assert sorted(solved.errors) == [0, 2]
    assert str(solved.errors[0]).startswith("members.c0.subscription: unknown; group.with_equal")
    assert solved.status.tolist() == [Status.UNKNOWN, Status.OPTIMAL, Status.UNKNOWN]
    assert solved.value.tolist() == [[-1, -1], [1, 0], [-1, -1]]
    with pytest.raises(BadInput, match=r"^members\.c0\.subscription: unknown"):
        solved.solution(2)
    assert check(good, solved.solution(1)) == ()


def test_an_objective_that_is_no_flow_is_solved_one_by_one_with_the_same_columns():
    topics = {"t": {"partitions": 3, "lag": [5, 4, 3]}}
    lagging = group_of(topics, {"c0": ["t"], "c1": ["t"]})
    other = group_of({"t": 1}, {"c0": ["t"]})
    solved = solve_fleet(Fleet.of([lagging, other]), "balance > peak_lag")
    assert solved.value.tolist() == [[1, 7], [-1, -1]]
    assert "lag" in str(solved.errors[1])
    assert solved.proof[0] == solved.solution(0).proof.kind == "exhaustion"
