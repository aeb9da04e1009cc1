import pytest

from groups import Assignment, InvalidAssignment
from live.assignor.rebalance import Claim, Joined, Rebalance

NEWEST = 5


def joined(topics, owned=None, generation=NEWEST, member="", *, holds=False):
    claim = Claim(owned=owned or {}, generation=generation, member=member, holds=holds)
    return Joined(frozenset(topics), claim)


def test_a_member_that_said_nothing_claims_nothing():
    assert Joined.of(None, None) == Joined(frozenset(), Claim())
    assert Joined.of(["t0", "t0"], b"?") == Joined(frozenset({"t0"}), Claim())


def test_a_plan_keeps_the_partition_numbers_where_some_are_missing():
    rebalance = Rebalance.of(
        {"a": joined(["t0"], {"t0": [4, 9, 5]}), "b": joined(["t0"])}, {"t0": {9, 2, 4}}.get
    )
    group = rebalance.group()
    assert group.partitions.tolist() == [3]
    assert group.owner.tolist() == [-1, 0, 0]
    assert rebalance.plan_of(Assignment(group, group.owner)) == {"a": {"t0": [4, 9]}, "b": {}}


def test_an_unknown_topic_has_as_many_partitions_as_its_readers_claim():
    members = {
        "a": joined(["t0"], {"t0": [0, 3]}),
        "b": joined(["t1"], {"t0": [7], "t1": []}),
    }
    rebalance = Rebalance.of(members, {}.get)
    assert rebalance.numbers == {"t0": [0, 1, 2, 3]}


@pytest.mark.parametrize("numbers_of", [{}.get, {"t0": set()}.get])
def test_an_unknown_topic_that_is_gone_or_not_credible_has_none(numbers_of):
    members = {"a": joined(["t0"], {"t0": [0]})}
    assert Rebalance.of(members, numbers_of, gone={"t0"}).numbers == {}
    wild = {"a": joined(["t0"], {"t0": [2**31 - 1]})}
    assert Rebalance.of(wild, numbers_of).numbers == {}


@pytest.mark.parametrize(
    ("plan", "said"),
    [
        ({"a": {"t0": [0]}, "b": {"t1": [0]}}, "'t0': not every partition is with one member"),
        ({"a": {"t0": [0, 1, 1]}, "b": {"t1": [0]}}, "'t0': not every partition"),
        ({"a": {"t0": [0, 1, 2]}, "b": {"t1": [0]}}, "'t0': not every partition"),
        ({"a": {"t0": [0, 1], "t1": [0]}, "b": {}}, "'a' does not read 't1'"),
        ({"a": {"t0": [0, 1]}, "b": {}}, "'t1': not every partition"),
        ({"a": {"t0": [0, 1]}, "c": {"t1": [0]}}, "'c' is not a member"),
        ({"a": {"t0": [0, 1]}, "b": {"t1": [0], "t9": [0]}}, "'t9': not every partition"),
        ({"b": {"t0": [0, 1], "t1": [0]}}, "a member is missing"),
    ],
)
def test_a_plan_that_is_not_valid_is_refused(plan, said):
    members = {"a": joined(["t0"]), "b": joined(["t0", "t1", "t9"])}
    rebalance = Rebalance.of(members, {"t0": {0, 1}, "t1": {0}}.get)
    rebalance.require_valid({"a": {"t0": [1]}, "b": {"t0": [0], "t1": [0]}})
    with pytest.raises(InvalidAssignment, match=said):
        rebalance.require_valid(plan)


PLAN = {"a": {"t0": [0]}, "b": {"t0": [1]}}


@pytest.mark.parametrize(
    ("claim", "waits"),
    [
        (joined(["t0"], {"t0": [0, 1]}, member="a", holds=True), True),
        (joined(["t0"], {"t0": [0, 1]}, member="a"), False),
        (joined(["t0"], {"t0": [0, 1]}, member="old", holds=True), False),
        (joined(["t0"], {"t0": [0, 1]}, NEWEST - 1, "a", holds=True), False),
        (joined(["t0", "t1"], {"t1": [1]}, member="a", holds=True), False),
    ],
    ids=["held", "given up already", "under its old id", "missed one", "something else"],
)
def test_only_what_another_member_still_holds_has_to_wait(claim, waits):
    members = {"a": claim, "b": joined(["t0"])}
    rebalance = Rebalance.of(members, {"t0": {0, 1}}.get)
    now = rebalance.allowed_now(PLAN)
    assert now == ({"a": {"t0": [0]}, "b": {"t0": []}} if waits else PLAN)


def test_what_two_members_hold_is_given_to_neither():
    members = {m: joined(["t0"], {"t0": [0]}, member=m, holds=True) for m in "ab"}
    now = Rebalance.of(members, {"t0": {0, 1}}.get).allowed_now(PLAN)
    assert now == {"a": {"t0": []}, "b": {"t0": [1]}}
