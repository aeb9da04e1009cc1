"""Many groups in one solve: to each its own answer."""

import random
from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest

from groups import BadInput, Group, SolverContradiction
from groups.fleet import Fleet
from optimal import ProofKind, Status, Stopped, check, solve, solve_many
from optimal.flow.algorithm import flows_of
from tests.optimal.random_groups import random_group
from tests.optimal.small_groups import group_of

FLOW_TIERS = ("balance", "topic_balance", "stickiness", "moved_weight", "racks")
ORDERS = [order for size in range(1, 6) for order in permutations(FLOW_TIERS, size)]

ODD = (
    group_of({}, {}, name="empty"),
    group_of({"t0": 3, "t1": 1}, {}, name="no members"),
    group_of({}, {"c0": [], "c1": ["gone"]}, name="no topics"),
    group_of({"t0": 0}, {"c0": ["t0"], "c1": ["t0"]}, name="no partitions"),
    group_of({"t0": 4}, {"c0": [], "c1": []}, name="nobody reads"),
    group_of({"t0": 5}, {"c0": ["t0"]}, {"c0": {"t0": [1]}}, name="one member"),
    group_of({"t0": 1}, {f"c{m}": ["t0"] for m in range(9)}, name="many idle"),
)


def assert_each_is_its_own(groups, objective) -> list:
    many = solve_many(groups, objective)
    assert len(many) == len(groups)
    for group, solution in zip(groups, many, strict=True):
        alone = solve(group, objective)
        assert solution.group is group
        assert solution.terms == alone.terms, (objective, group.to_dict())
        assert (solution.status, solution.stopped) == (Status.OPTIMAL, Stopped.PROOF)
        assert solution.proof.kind is alone.proof.kind
        unchecked = check(group, solution)
        assert (unchecked == ()) is (solution.proof.kind is ProofKind.CERTIFICATE)
    return many


def test_no_group_at_all_has_no_solution():
    assert [*solve_many([])] == []


@pytest.mark.parametrize("objective", ["kip-54", "kip-54-fairest", "topic_balance > stickiness"])
def test_groups_without_members_topics_or_partitions_are_each_optimal(objective):
    assert_each_is_its_own(ODD, objective)
    for group in ODD:
        assert_each_is_its_own([group], objective)


def test_a_mixed_list_of_groups_equals_its_groups_one_by_one():
    rng = random.Random("mixed")
    for _ in range(15):
        groups = [
            random_group(rng, members=rng.randint(0, 8), partitions=rng.randint(0, 30))
            for _ in range(12)
        ]
        groups += rng.sample(ODD, 3)
        rng.shuffle(groups)
        assert_each_is_its_own(groups, rng.choice(("kip-54", "balance", "stickiness > balance")))


def test_every_order_of_flow_tiers_is_solved_for_many_as_for_one():
    rng = random.Random("orders")
    for order in rng.sample(ORDERS, 40):
        groups = [random_group(rng, members=4, partitions=9) for _ in range(4)]
        read = [g for g in groups if g.weight is not None and (g.racks is not None)]
        assert_each_is_its_own([g for g in read if len(g.members)], order)


def test_a_fleet_of_some_of_the_groups_is_the_fleet_that_they_make():
    rng = random.Random("some")
    groups = [random_group(rng, members=rng.randint(0, 6), partitions=12) for _ in range(30)]
    chosen = np.array([rng.random() < 0.5 for _ in groups])
    some = Fleet.of(groups).only(chosen)
    own = Fleet.of([group for group, there in zip(groups, chosen, strict=True) if there])
    for name in ("member_start", "topic_start", "partition_start"):
        assert getattr(some, name).tolist() == getattr(own, name).tolist()
    one, other = (solve(fleet.group, "balance > stickiness") for fleet in (some, own))
    assert one.terms == other.terms
    assert one.assignment.owner.tolist() == other.assignment.owner.tolist()
    assert (
        some.group.racks.misses(*one.assignment.holdings).tolist()
        == own.group.racks.misses(*one.assignment.holdings).tolist()
    )
    assert some.alone(0) is own.alone(0)


def test_groups_of_one_name_with_the_same_topics_and_members_stay_apart():
    topics, reads = {"t0": 5, "t1": 2}, {"c0": ["t0", "t1"], "c1": ["t0"]}
    first = group_of(topics, reads, {"c0": {"t0": [0, 1, 2, 3, 4]}})
    second = group_of(topics, reads, {"c1": {"t0": [0, 1, 2, 3, 4]}})
    many = assert_each_is_its_own([first, second, first], "kip-54")
    assert [s.terms[1].value for s in many] == [3, 1, 3]
    assert many[0].assignment.to_dict() == many[2].assignment.to_dict()


def test_the_answer_to_a_group_is_valid_whatever_stands_beside_it():
    rng = random.Random("beside")
    group = random_group(rng, members=6, partitions=20)
    alone = solve(group).terms
    for _ in range(10):
        others = [random_group(rng, members=6, partitions=20) for _ in range(rng.randint(1, 5))]
        at = rng.randint(0, len(others))
        solution = solve_many([*others[:at], group, *others[at:]])[at]
        assert solution.terms == alone
        assert solution.assignment.is_valid


def test_groups_with_racks_stand_beside_groups_without():
    topics = {"t0": {"partitions": 4, "racks": [["a"], ["b"], ["a"], ["b"]]}}
    near = group_of(topics, {"c0": ["t0"], "c1": ["t0"]}).to_dict()
    for member, rack in (("c0", "a"), ("c1", "b")):
        near["members"][member]["rack"] = rack
    nothing = group_of({}, {"c0": []}, name="without").to_dict()
    nothing["members"]["c0"]["rack"] = "z"
    groups = [Group.from_dict(nothing), Group.from_dict(near), Group.from_dict(near)]
    many = assert_each_is_its_own(groups, "balance > racks > stickiness")
    assert [[t.value for t in s.terms] for s in many] == [[0, 0, 0]] * 3


def test_the_common_time_is_divided_among_the_groups():
    many = solve_many(ODD)
    assert len({solution.seconds for solution in many}) == 1
    assert many[0].seconds > 0


def test_a_group_that_lacks_what_a_tier_needs_names_itself():
    good = group_of({"t0": 1}, {"c0": ["t0"]}, name="good")
    with pytest.raises(BadInput, match=r"^good: topics\.t0\.racks: unknown, but tier racks"):
        solve_many([ODD[0], good], "balance > racks")
    document = group_of({"t0": 1}, {"c0": []}, name="bad").to_dict()
    document["members"]["c0"]["subscription"] = None
    with pytest.raises(BadInput, match=r"^bad: members\.c0\.subscription: unknown; group"):
        solve_many([good, Group.from_dict(document), good])


def heavy(name: str, weight: int) -> Group:
    topic = {"partitions": 2, "weight": [weight] * 2, "racks": [["x"], ["x"]]}
    document = group_of({"t": 2}, {"a": ["t"], "b": ["t"]}, {"a": {"t": [0, 1]}}, name).to_dict()
    return Group.from_dict(document | {"topics": {"t": topic}})


def test_groups_that_are_solved_alone_are_solved_together_however_much_they_weigh():
    for weight, number in ((2**57, 20), (2**40, 200)):
        groups = [heavy(f"g{i}", weight) for i in range(number)]
        for order in ("balance > moved_weight", "balance > moved_weight > stickiness"):
            many = solve_many(groups, order)
            assert {s.terms for s in many} == {solve(groups[0], order).terms}
            assert {s.status for s in many} == {Status.OPTIMAL}


def test_a_group_without_any_members_rack_is_refused_though_others_have_some():
    near = heavy("near", 1).to_dict()
    near["members"]["a"]["rack"] = "x"
    with pytest.raises(
        BadInput, match=r"^far: members: none has a rack, but tier racks needs one"
    ):
        solve_many([Group.from_dict(near), heavy("far", 1)], "balance > racks")


def test_each_group_says_what_ran_for_itself():
    stairs = group_of({"t0": 3, "t1": 1}, {"c0": ["t0"], "c1": ["t0", "t1"]})
    assert [s.method for s in solve_many([stairs, ODD[6]])] == [
        solve(stairs).method,
        solve(ODD[6]).method,
    ]


def test_groups_are_solved_one_by_one_where_a_tier_is_no_flow():
    topics = {"t": {"partitions": 3, "lag": [5, 4, 3]}}
    groups = [
        Group.from_dict(group_of({"t": 3}, reads).to_dict() | {"topics": topics})
        for reads in ({"a": ["t"], "b": ["t"]}, {"a": ["t"]})
    ]
    many = solve_many(groups, "kip-169")
    assert [s.terms for s in many] == [solve(group, "kip-169").terms for group in groups]
    with pytest.raises(BadInput, match=r"^one member: topics\.t0\.lag\[0\]: unknown, but tier"):
        solve_many([*groups, ODD[5]], "kip-169")


def test_an_answer_is_asked_for_by_number_and_is_the_same_each_time():
    many = solve_many(ODD)
    assert many[-1] is many[len(ODD) - 1]
    assert [s.group for s in many[1:3]] == [*ODD[1:3]]
    with pytest.raises(IndexError):
        many[len(ODD)]


def test_out_of_time_every_answer_is_unknown():
    stairs = group_of({"t0": 3, "t1": 5}, {"c0": ["t0"], "c1": ["t0", "t1"], "c2": ["t1"]})
    many = solve_many([stairs, ODD[5]], time_limit=0)
    assert [(s.status, s.stopped) for s in many] == [(Status.UNKNOWN, Stopped.TIME_LIMIT)] * 2
    assert [s.assignment for s in many] == [None, None]


@pytest.mark.parametrize("lie", ["owner", "level", "price"])
def test_what_does_not_hold_of_one_group_is_refused_by_its_name(monkeypatch, lie):
    """A method that answers well, but for one partition or member of one group."""
    stairs = {"c0": ["t0"], "c1": ["t0", "t1"], "c2": ["t1"]}
    groups = [group_of({"t0": 3, "t1": 5}, stairs, name=f"g{number}") for number in range(5)]

    def lying(group, objective, time_left, **more):
        found = flows_of(group, objective, time_left, **more)
        if lie == "owner":
            told = found.owner.copy()
            told[3 * 8 : 4 * 8] = 3 * 3 + 1
            return replace(found, owner=told)
        told = (found.level if lie == "level" else found.prices[0]).copy()
        told[3 * 3 + 1] += 1
        return replace(found, level=told) if lie == "level" else replace(found, prices=[told])

    monkeypatch.setattr("optimal.flow.algorithm.flows_of", lying)
    with pytest.raises(SolverContradiction, match=r"^g3: flow contradicts the checker: "):
        solve_many(groups)
