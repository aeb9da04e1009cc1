"""KIP-429: rounds to quiescence, what they revoke, and what is without an owner meanwhile."""

from dataclasses import replace

import pytest

from groups import Failed, Refused
from heuristics import plan
from heuristics.written import kip54, kip169_lag, kip615, round_robin
from tests.heuristics.conftest import every_small_group
from tests.optimal.small_groups import group_of


def test_without_revocation_one_round_is_enough():
    owned = {"a": {"t": [0, 1]}}
    made = plan(group_of({"t": 4}, {"a": ["t"], "b": ["t"]}, owned), "kip-429-cooperative")
    assert (made.rounds, made.revoked, made.ownerless) == (1, 0, 0)
    assert made.assignment.to_dict() == {"a": {"t": [0, 1]}, "b": {"t": [2, 3]}}


def test_a_partition_that_moves_is_without_an_owner_for_one_round():
    group = group_of({"t": 4}, {"a": ["t"], "b": ["t"]}, {"a": {"t": [0, 1, 2, 3]}})
    made = plan(group, "kip-429-cooperative")
    assert (made.rounds, made.revoked, made.ownerless) == (2, 2, 2)
    assert made.assignment.is_valid
    # The result is held against the owners before the first round.
    assert made.assignment.group is group
    assert made.assignment.moves_by_pair() == {("a", "b"): 2}


def test_a_partition_that_its_owner_may_no_longer_read_is_revoked_first():
    group = group_of({"t": 1, "u": 1}, {"a": ["u"], "b": ["t"]}, {"a": {"t": [0]}})
    made = plan(group, "kip-429-cooperative")
    assert (made.rounds, made.revoked, made.ownerless) == (2, 1, 1)
    assert made.assignment.to_dict() == {"a": {"u": [0]}, "b": {"t": [0]}}


def test_an_owner_that_stays_keeps_what_a_rival_has_to_give_up():
    owned = {"a": {"t": [0]}, "b": {"t": [0, 1]}}
    group = group_of({"t": 2}, {"a": ["t"], "b": ["t"]}, owned, generation={"a": 2, "b": 1})
    made = plan(group, "kip-429-cooperative")
    assert (made.rounds, made.revoked, made.ownerless) == (2, 1, 0)
    assert made.assignment.to_dict() == {"a": {"t": [0]}, "b": {"t": [1]}}


def test_a_partition_that_goes_to_nobody_is_revoked_and_not_ownerless():
    group = group_of({"t": 1, "u": 1}, {"a": ["u"]}, {"a": {"t": [0], "u": [0]}})
    made = plan(group, "kip-429-cooperative")
    assert (made.rounds, made.revoked, made.ownerless) == (2, 1, 0)


def test_a_second_round_can_revoke_again_where_one_pass_was_not_enough():
    subscriptions = {"m0": ["t0"], "m1": ["t1"], "m2": ["t0", "t1"]}
    owned = {"m1": {"t1": [0, 1, 2]}, "m2": {"t0": [0]}}
    made = plan(group_of({"t0": 1, "t1": 3}, subscriptions, owned), "kip-429-cooperative")
    assert (made.rounds, made.revoked, made.ownerless) == (3, 2, 2)
    assert made.assignment.loads.tolist() == [1, 2, 1]
    assert made.assignment.balanced()


def test_any_assignor_can_be_underneath():
    owned = {"a": {"t": [0, 1]}, "b": {"t": [2, 3]}}
    group = group_of({"t": 4}, {"a": ["t"], "b": ["t"]}, owned)
    made = kip54.cooperative(group, over=round_robin.plan)
    assert made.assignment.to_dict() == {"a": {"t": [0, 2]}, "b": {"t": [1, 3]}}
    assert (made.rounds, made.revoked, made.ownerless) == (2, 2, 2)


def test_rounds_that_never_end_fail_as_soon_as_a_state_comes_back():
    owned = {"m0": {"t": [0]}, "m1": {"t": [0]}, "m2": {"t": [0, 2]}}
    group = group_of({"t": 3}, {m: ["t"] for m in owned}, owned, generation=1)
    with pytest.raises(Failed, match="round 3 ends with what the members owned after round 1"):
        kip54.cooperative(group, over=kip615.constrained)


def test_a_refusal_of_the_assignor_underneath_goes_through():
    with pytest.raises(Refused, match=r"the lag of t-0 is unknown"):
        kip54.cooperative(group_of({"t": 1}, {"a": ["t"]}), over=kip169_lag.plan)


@pytest.mark.parametrize(
    ("topics", "members", "partitions"),
    [
        (2, 3, 3),
        *(
            pytest.param(*size, marks=pytest.mark.exhaustive)
            for size in ((2, 3, 4), (2, 4, 4), (3, 3, 3))
        ),
    ],
)
def test_on_every_small_group_the_rounds_end_settled(topics, members, partitions):
    for group in every_small_group(topics, members, partitions):
        settled = plan(group, "kip-429-cooperative")
        assert settled.rounds <= 3
        assert settled.ownerless == settled.revoked
        later = replace(group, owner=settled.assignment.owner.copy())
        again = plan(later, "kip-429-cooperative")
        assert (again.rounds, again.revoked) == (1, 0)
        assert again.assignment.owner.tolist() == settled.assignment.owner.tolist()
