"""The audit, by columns, decides what the checker decides that one reads."""

import random
from collections import Counter
from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest

from groups import TIERS, BadInput, Group, ProofError
from optimal import Proof, ProofKind, Status, Term, check, solve
from optimal.audit import audit, confirm
from tests.optimal.forgery import judge
from tests.optimal.judging import changed, claimed, forged, is_accepted, readers_of
from tests.optimal.random_groups import random_group

CERTIFIED = ("balance", "stickiness", "moved_weight", "racks")
OBJECTIVES = [*(o for n in range(1, 5) for o in permutations(CERTIFIED, n)), ("topic_balance",)]


def test_both_checkers_agree_on_what_is_forged_in_memory():
    """What is forged in documents is in test_proof_page.py."""
    rng, found = random.Random("forged"), Counter()
    for _ in range(120):
        group = random_group(rng, members=3, partitions=rng.randint(1, 5))
        found += judge(rng, group, rng.choice(OBJECTIVES), 24)
    assert 200 < found["accepted"] < found.total() / 2
    assert min(found["proved"], found["on somebody's word"]) > 100
    assert min(found["ProofError"], found["InvalidAssignment"]) > 300


@pytest.mark.parametrize("tier", TIERS)
def test_both_checkers_find_the_value_of_every_tier(tier):
    rng = random.Random(f"value {tier}")
    for _ in range(40):
        group = random_group(rng, members=4, partitions=9)
        readers = readers_of(group)
        owner = [rng.choice(readers.get(p, [-1])) for p in range(group.n_partitions)]
        word = forged(claimed(group, owner, (tier,)), proof=Proof(ProofKind.SOLVER))
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
    owner = [1 if 1 in readers else readers[0] for readers in readers_of(group).values()]
    assert len(owner) == group.n_partitions
    word = forged(claimed(group, owner, (tier,)), proof=Proof(ProofKind.SOLVER))
    assert is_accepted(group, word)
    for checker in (check, audit):
        with pytest.raises(
            BadInput, match=r"t\d-\d: its (lag|weight|racks|state) is unknown, but"
        ):
            checker(bare, forged(word, group=bare))


def dear(weight: int, partitions: int = 4) -> Group:
    """Two members that read alike; the first owns everything."""
    topic = {"partitions": partitions, "weight": [weight] * partitions}
    members = {m: {"subscription": ["t"]} for m in "ab"}
    members["a"]["owned"] = {"t": list(range(partitions))}
    return Group.from_dict(
        {"format": "assay-group/1", "group": "g", "topics": {"t": topic}, "members": members}
    )


@pytest.mark.parametrize("weight", [2**20, 2**40, 2**57, 2**59])
def test_weights_and_prices_near_64_bits_are_judged_as_small_ones_are(weight):
    group = dear(weight)
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
    group = dear(1)
    price = np.array([2**62, 2**62])
    genuine = solve(group)
    assert check(group, genuine) == ()
    assert not is_accepted(group, changed(genuine, price=price - np.array([0, 2])))
    exact = changed(genuine, price=price + np.array([1, 0]))
    assert confirm(group, exact) is None
    assert check(group, exact) == audit(group, exact) == ()


def with_a_row_each(group: Group) -> Group:
    """The same group with a row of the subscriptions for each member, equal rows or not."""
    rows = np.split(group.subscription_topics, group.subscription_indptr[1:-1])
    each = [rows[row] for row in group.subscription_row.tolist()]
    return replace(
        group,
        subscription_indptr=np.cumsum([0, *map(len, each)], dtype=np.int64),
        subscription_topics=np.concatenate([np.empty(0, np.int32), *each]),
        subscription_row=np.arange(len(each), dtype=np.int32),
    )


def test_equal_rows_of_the_subscriptions_count_as_one():
    group = dear(1, partitions=7)
    apart = with_a_row_each(group)
    assert len(apart.subscription_indptr) == 3
    for objective in ("balance > stickiness", "stickiness > balance", "topic_balance"):
        solution = solve(group, objective)
        assert confirm(apart, solution) == confirm(group, solution) == check(apart, solution) == ()
