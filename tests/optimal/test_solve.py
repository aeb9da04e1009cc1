"""The door: what it refuses and assumes, when it stops, and groups with nothing to assign."""

import random

import pytest

from benchmarks.instances import alike
from groups import BadInput, Group
from optimal import Status, solve
from tests.optimal.random_groups import random_group
from tests.optimal.small_groups import chain, document, group_of


def test_a_tier_that_is_no_flow_is_refused_by_the_flow():
    with pytest.raises(BadInput, match="method: flow does not serve tier peak_lag; auto takes"):
        solve(chain(3, 2).with_unknown_lag(1), "balance > peak_lag", method="flow")
    known = "auto, flow, exchange, cp-sat"
    with pytest.raises(BadInput, match=f"method: 'simplex', expected one of {known}"):
        solve(chain(3, 2), method="simplex")


def test_unknown_subscriptions_are_refused_unless_they_are_assumed_equal():
    unknown = chain(3, 2).to_dict()
    unknown["members"]["c0001"]["subscription"] = None
    group = Group.from_dict(unknown)
    with pytest.raises(
        BadInput, match=r"members\.c0001\.subscription: unknown; group\.with_equal"
    ):
        solve(group)
    solution = solve(group, assume_equal=True)
    assert solution.to_dict()["assumed"] == [
        "subscription of 1 member unknown, taken as all 2 topics of the group"
    ]


@pytest.mark.parametrize("objective", ["kip-881", "racks > balance", "topic_balance > racks"])
def test_racks_may_be_asked_about_where_nobody_reads_anything(objective):
    members = {"a": {"subscription": ["t", "gone"]}, "b": {"subscription": []}}
    solution = solve(Group.from_dict(document({"t": 0, "unread": 2}, members)), objective)
    assert solution.status is Status.OPTIMAL
    assert all(term.value == 0 for term in solution.terms)
    assert solution.assignment.unassigned == {"unread": [0, 1]}


@pytest.mark.parametrize("method", ["auto", "cp-sat", "ilp"])
def test_a_time_limit_is_never_too_long_or_too_far_below_zero_but_must_be_a_time(method):
    group = group_of({"t": 1}, {"a": ["t"]})
    for seconds in (10**400, 1e308, float("inf"), -(10**400)):
        solved = seconds > 0 or method == "auto"
        status = solve(group, method=method, time_limit=seconds).status
        assert status is (Status.OPTIMAL if solved else Status.UNKNOWN), seconds
    for seconds in (float("nan"), "5"):
        with pytest.raises(BadInput, match=r"^time_limit: .*, expected a number of seconds$"):
            solve(group, method=method, time_limit=seconds)


def test_the_same_group_gets_the_same_answer_again():
    rng = random.Random("again")
    small = [random_group(rng, members=4, partitions=8) for _ in range(3)]
    some = [*small, alike(20, 6, "uniform", 5, topics=3)]
    for method, objective, groups in (
        ("flow", "stickiness > topic_balance > balance", some),
        ("exchange", "balance > peak_lag", some),
        ("exchange", "kip-169", some),
        ("cp-sat", "balance > peak_lag", small),
        ("ilp", "balance > peak_lag", small),
    ):
        for group in groups:
            first, again = (solve(group, objective, method=method) for _ in "12")
            assert first.assignment.owner.tolist() == again.assignment.owner.tolist()
            assert first.proof.to_dict(group) == again.proof.to_dict(group)
