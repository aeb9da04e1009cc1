"""The audit, by columns, decides what the checker decides that one reads.

What is forged in documents is in test_proof_page.py, parts of other types are in test_forged.py.
"""

import random
from dataclasses import replace

import numpy as np
import pytest

from groups import TIERS, BadInput, ProofError
from optimal import ProofKind, Status, Term, check, solve
from optimal.audit import audit, confirm
from tests.optimal.judging import (
    changed,
    claimed,
    forged,
    is_accepted,
)
from tests.optimal.random_groups import any_owner, random_group
from tests.optimal.small_groups import lopsided, one_topic


@pytest.mark.parametrize("tier", TIERS)
def test_both_checkers_find_the_value_of_every_tier(tier):
    rng = random.Random(f"value {tier}")
    for _ in range(40):
        group = random_group(rng, members=4, partitions=9)
        word = claimed(group, any_owner(rng, group), (tier,), kind=ProofKind.SOLVER)
        assert is_accepted(group, word)
        for off in (-1, 1):
            term = Term(tier, word.terms[0].value + off, None)
            assert not is_accepted(group, forged(word, terms=(term,), status=Status.FEASIBLE))


@pytest.mark.parametrize(
    "tier", ["peak_lag", "weight_spread", "moved_weight", "racks", "restores"]
)
def test_a_tier_whose_column_is_unknown_has_no_value(tier):
    group = random_group(random.Random("unknown2"), members=3, partitions=6)
    assert (group.owner >= 0).any()
    bare = replace(group, lag_records=None, weight=None, racks=None, copies=None)
    owner = any_owner(random.Random(3), group)
    assert (owner >= 0).all()
    assert (owner != group.owner)[group.owner >= 0].any()
    word = claimed(group, owner, (tier,), kind=ProofKind.SOLVER)
    assert is_accepted(group, word)
    for checker in (check, audit):
        with pytest.raises(
            BadInput, match=r"t\d-\d: its (lag|weight|racks|state) is unknown, but"
        ):
            checker(bare, forged(word, group=bare))


@pytest.mark.parametrize("weight", [2**20, 2**40, 2**57, 2**59])
def test_weights_and_prices_near_64_bits_are_judged_as_small_ones_are(weight):
    group = one_topic([weight] * 4, 2, owned=range(4))
    objective = ("balance", "moved_weight")
    right = claimed(group, [0, 0, 1, 1], objective, [1, 1], [weight, 0])
    assert is_accepted(group, right)
    assert confirm(group, right) == ()
    for price in ([weight - 1, 0], [weight + 1, 0], [weight, 1], [-weight, 0], [2**63 - 1, 0]):
        wrong = changed(right, price=np.array(price))
        assert not is_accepted(group, wrong)
        with pytest.raises(ProofError, match="price: the prices bound moved_weight by"):
            audit(group, wrong)
    # Both members carry all that they may: a common shift of the prices is free from 0 on.
    for shift in (2**60, -(2**60), 2**61, -(2**63)):
        shifted = changed(right, price=np.array([weight + shift, shift]))
        assert is_accepted(group, shifted) is (shift > 0)


def test_sums_beyond_64_bits_are_exact():
    """2^62 a partition: the sums alone would be 0 modulo 2^64."""
    group = one_topic([1] * 4, 2, owned=range(4))
    price = np.array([2**62, 2**62])
    genuine = solve(group)
    assert check(group, genuine) == ()
    assert not is_accepted(group, changed(genuine, price=price - np.array([0, 2])))
    exact = changed(genuine, price=price + np.array([1, 0]))
    assert confirm(group, exact) is None
    assert check(group, exact) == audit(group, exact) == ()


@pytest.mark.parametrize("price", [(1, -(2**62)), (1, -(2**63))])
def test_prices_whose_sums_leave_64_bits_are_left_to_the_checker(price):
    group = lopsided(2, 6)
    assert not is_accepted(group, changed(solve(group), price=np.array(price)))
