"""What the checker says of a certificate that does not hold, and where."""

import random
from dataclasses import replace

import numpy as np
import pytest

from groups import Group, InvalidAssignment, ProofError
from optimal import check, solve
from tests.optimal.judging import KIP_54, changed, claimed, is_accepted, with_owner
from tests.optimal.random_groups import random_group


def test_a_partition_with_a_reader_of_a_higher_level_is_named(group, solution):
    owner = solution.assignment.owner.copy()
    owner[0] = 1
    with pytest.raises(ProofError, match="t0-0: with c1 of level 2, but its least level is 0"):
        check(group, with_owner(solution, owner))


def test_a_member_that_holds_more_than_its_level_allows_is_named(group, solution):
    owner = [0, 1, 1, 1, 1, 2, -1]
    with pytest.raises(ProofError, match="c1: holds 4, but level 2 allows 2 to 3"):
        check(group, with_owner(solution, owner))


def test_a_load_below_its_level_is_refused_as_one_above_it_is(group, solution):
    level = np.array([0, 1, 1])
    other = changed(with_owner(solution, [0, 1, 1, 2, 2, 2, -1]), level=level)
    with pytest.raises(ProofError, match="c2: holds 3, but level 1 allows 1 to 2"):
        check(group, other)
    level = np.array([0, 3, 3])
    with pytest.raises(ProofError, match="c1: holds 2, but level 3 allows 3 to 4"):
        check(group, changed(other, level=level))


def test_a_price_too_high_is_refused_with_both_sums(group, solution):
    price = solution.proof.price + np.array([0, 1, 0])
    with pytest.raises(ProofError, match=r"price: the prices bound stickiness by .+, not by 2"):
        check(group, changed(solution, price=price))


@pytest.mark.parametrize("level", [-(2**63), -2, 8, 2**62, 2**63 - 1])
@pytest.mark.parametrize("member", [0, 1, 2])
def test_a_level_that_no_load_can_have_is_refused_at_its_place(group, solution, level, member):
    column = solution.proof.level.copy()
    column[member] = level
    of_level = f"of level {level}, but|its least level is {level}$|but level {level} allows"
    with pytest.raises(ProofError, match=of_level):
        check(group, changed(solution, level=column))


@pytest.mark.parametrize("key", ["level", "price"])
def test_a_certificate_without_one_of_its_columns_is_refused(group, solution, key):
    with pytest.raises(ProofError, match="level or price is missing"):
        check(group, changed(solution, **{key: None}))


@pytest.mark.parametrize("length", [1, 2, 4])
@pytest.mark.parametrize("key", ["level", "price"])
def test_a_column_of_another_length_than_the_members_is_refused(group, solution, key, length):
    with pytest.raises(ProofError, match=r"^(level|price)"):
        check(group, changed(solution, **{key: np.zeros(length, np.int64)}))


@pytest.mark.parametrize("price", [2**60, -(2**60), 2**63 - 1, -(2**63)])
def test_prices_whose_sum_leaves_64_bits_prove_what_they_prove(price):
    """Members of one level all pay the same: the sum of what they pay is fixed."""
    members = {m: {"subscription": ["t"]} for m in "abc"}
    group = Group.from_dict(
        {"format": "assay-group/1", "group": "g", "topics": {"t": 4}, "members": members}
    )
    genuine = solve(group)
    assert genuine.proof.level.tolist() == [1, 1, 1]
    assert not is_accepted(group, changed(genuine, price=np.full(3, price)))
    full = replace(group, partitions=np.array([3]), owner=np.array([0, 1, 2], np.int32))
    dear = claimed(full, [0, 1, 2], KIP_54, [0, 0, 0], [price] * 3)
    assert is_accepted(full, dear) is (price > 0)


def test_prices_that_would_close_only_modulo_64_bits_are_refused():
    members = {f"m{m:02}": {"subscription": ["t"]} for m in range(40)}
    members["m00"]["owned"] = {"t": [0]}
    group = Group.from_dict(
        {"format": "assay-group/1", "group": "g", "topics": {"t": 2}, "members": members}
    )
    each, rest = divmod(2**64, 38)
    price = np.full(40, each)
    price[39] += rest - 1
    assert (2 * each - int(price.sum(dtype=object)) - 1) % 2**64 == 0
    genuine = solve(group)
    assert genuine.terms[1].value == 0
    wrong = changed(with_owner(genuine, [1, 2]), level=np.zeros(40, np.int64), price=price)
    with pytest.raises(ProofError, match=r"^price: "):
        check(group, wrong)


def test_a_solution_is_judged_by_the_group_that_is_asked_about():
    def other(**member) -> Group:
        members = {"a": {"subscription": ["t"]} | member, "b": {"subscription": ["t"]}}
        return Group.from_dict(
            {"format": "assay-group/1", "group": "g", "topics": {"t": 4}, "members": members}
        )

    fresh = solve(other())
    assert fresh.assignment.to_dict() == {"a": {"t": [0, 1]}, "b": {"t": [2, 3]}}
    with pytest.raises(InvalidAssignment, match=r"terms\.stickiness: 0, but the value is 1"):
        check(other(owned={"t": [1, 3]}), fresh)
    with pytest.raises(InvalidAssignment, match="t-0 with a: unsubscribed"):
        check(other(subscription=[]), fresh)


@pytest.mark.parametrize("scale", [(0,), (-1,), (1, 1)])
def test_a_scale_of_another_length_or_without_value_is_refused(group, solution, scale):
    with pytest.raises(ProofError, match="scale: expected 1 units of 1 or more"):
        check(group, changed(solution, scale=scale))


def test_a_scale_that_does_not_outweigh_the_later_tiers_is_refused():
    group = random_group(random.Random(7), members=3, partitions=6)
    solution = solve(group, "balance > stickiness > racks", method="flow")
    assert check(group, solution) == ()
    with pytest.raises(ProofError, match="scale: 6 for stickiness does not outweigh the tiers"):
        check(group, changed(solution, scale=(6, 1)))


def test_what_costs_more_by_a_tier_before_balance_is_named():
    document = {
        "format": "assay-group/1",
        "group": "g",
        "topics": {"t0": 2},
        "members": {
            "c0": {"subscription": ["t0"], "owned": {"t0": [0, 1]}},
            "c1": {"subscription": ["t0"]},
        },
    }
    group = Group.from_dict(document)
    solution = solve(group, "kip-54-fairest")
    assert solution.assignment.owner.tolist() == [0, 0]
    with pytest.raises(ProofError, match="t0-1: its member costs more than another by stickiness"):
        check(group, with_owner(solution, [0, 1]))


def test_no_certificate_is_defined_for_topic_balance_or_lag(group, solution):
    other = replace(solution, objective=("balance", "topic_balance"), proof=solution.proof)
    with pytest.raises(ProofError, match=r"no certificate is defined .* with topic_balance"):
        check(group, with_owner(other, solution.assignment.owner))


def test_a_topic_that_is_not_spread_evenly_is_no_proved_topic_balance():
    document = {
        "format": "assay-group/1",
        "group": "g",
        "topics": {"t": 4},
        "members": {"a": {"subscription": ["t"]}, "b": {"subscription": ["t"]}},
    }
    group = Group.from_dict(document)
    with pytest.raises(ProofError, match="topic_balance: its least value is 8, not 10"):
        check(group, claimed(group, [0, 0, 0, 1], ("topic_balance",)))
