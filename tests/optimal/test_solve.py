"""The door: what it refuses and assumes, when it stops, and groups with nothing to assign."""

import pytest

from groups import BadInput, Group
from optimal import Status, Stopped, solve
from tests.optimal.small_groups import chain, group_of


def test_a_tier_that_is_no_flow_is_refused_by_the_flow():
    with pytest.raises(BadInput, match="method: flow does not serve tier peak_lag; use cp-sat"):
        solve(chain(3, 2).with_unknown_lag(1), "balance > peak_lag", method="flow")
    known = "auto, flow, exchange, cp-sat"
    with pytest.raises(BadInput, match=f"method: 'simplex', expected one of {known}"):
        solve(chain(3, 2), method="simplex")


@pytest.mark.parametrize(
    ("objective", "message"),
    [
        ("balance > racks", r"topics\.t0000\.racks: unknown, but tier racks needs it"),
        ("balance > peak_lag", r"topics\.t0000\.lag\[0\]: unknown, but tier peak_lag needs it"),
        ("balance > peak_weight", r"topics\.t0000\.weight\[0\]: unknown, .* \(and 3 more\)"),
        ("balance > balance", "objective: tier 'balance' appears twice"),
        ("balance > fun", "objective: unknown tier 'fun', expected one of kip-54, "),
        ("", "objective: unknown tier ''"),
        ((), "objective: no tier named"),
    ],
)
def test_an_objective_that_the_group_cannot_answer_is_refused_with_its_place(objective, message):
    with pytest.raises(BadInput, match=message):
        solve(chain(3, 2), objective)


def test_unknown_subscriptions_are_refused_unless_they_are_assumed_equal():
    document = chain(3, 2).to_dict()
    document["members"]["c0001"]["subscription"] = None
    group = Group.from_dict(document)
    with pytest.raises(
        BadInput, match=r"members\.c0001\.subscription: unknown; group\.with_equal"
    ):
        solve(group)
    solution = solve(group, assume_equal=True)
    assert solution.to_dict()["assumed"] == [
        "subscription of 1 member unknown, taken as all 2 topics of the group"
    ]


def test_out_of_time_the_answer_is_unknown_and_says_so():
    topics, reads = {"t0": 3, "t1": 5}, {"c0": ["t0"], "c1": ["t0", "t1"], "c2": ["t1"]}
    solution = solve(group_of(topics, reads), time_limit=0)
    assert (solution.status, solution.stopped) == (Status.UNKNOWN, Stopped.TIME_LIMIT)
    assert solution.assignment is None
    assert solution.terms == ()
    document = solution.to_dict()
    assert (document["assignment"], document["proof"]) == (None, {"kind": "none"})


@pytest.mark.parametrize("objective", ["kip-881", "racks > balance", "topic_balance > racks"])
def test_racks_may_be_asked_about_where_nobody_reads_anything(objective):
    members = {"a": {"subscription": ["t", "gone"]}, "b": {"subscription": []}}
    document = {"format": "assay-group/1", "group": "g", "topics": {"t": 0}, "members": members}
    solution = solve(Group.from_dict(document | {"topics": {"t": 0, "unread": 2}}), objective)
    assert solution.status is Status.OPTIMAL
    assert all(term.value == 0 for term in solution.terms)
    assert solution.assignment.unassigned == {"unread": [0, 1]}


@pytest.mark.parametrize("seconds", [10**400, 1e308, float("inf"), -(10**400)], ids=repr)
@pytest.mark.parametrize("method", ["auto", "cp-sat", "ilp"])
def test_a_time_limit_is_never_too_long_or_too_far_below_zero(seconds, method):
    solution = solve(group_of({"t": 1}, {"a": ["t"]}), method=method, time_limit=seconds)
    solved = seconds > 0 or method == "auto"
    assert solution.status is (Status.OPTIMAL if solved else Status.UNKNOWN)


@pytest.mark.parametrize("seconds", [float("nan"), "5"])
@pytest.mark.parametrize("method", ["auto", "cp-sat"])
def test_a_time_limit_that_is_no_time_is_refused(seconds, method):
    with pytest.raises(BadInput, match=r"^time_limit: .*, expected a number of seconds$"):
        solve(group_of({"t": 1}, {"a": ["t"]}), method=method, time_limit=seconds)
