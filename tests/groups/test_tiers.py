"""The tiers: their values against double loops, and the grammar of objectives."""

import random
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from groups import TIERS, Assignment, BadInput, Group, parse_objective, values
from groups.columns.racks import Racks
from groups.needs import require_data
from groups.tiers import pairwise_difference
from tests.optimal.page_checker import Case
from tests.optimal.random_groups import any_owner, random_group
from tests.optimal.small_groups import document


def naive(assignment: Assignment) -> dict[str, int]:
    """Return the value of every tier, by docs/explanation/proof.md from the documents alone."""
    group = assignment.group
    case = Case(group.to_dict(), {"assignment": assignment.to_dict()})
    at = zip(group.topic.tolist(), group.number.tolist(), group.copies.replicas, strict=True)
    copies = {(group.topics[t], n): some for t, n, some in at if some >= 0}
    case.copies = {p: {*group.copies.of_set(copies[p])} for p in case.p if p in copies}
    return {tier: case.value(tier) for tier in TIERS}


def test_every_tier_has_the_value_of_its_definition():
    rng = random.Random("tiers")
    positive = dict.fromkeys(TIERS, 0)
    for _ in range(150):
        group = random_group(rng, members=5, partitions=12)
        assignment = Assignment(group, any_owner(rng, group))
        expected = naive(assignment)
        assert expected.keys() == TIERS.keys()
        assert values(assignment, tuple(TIERS)) == tuple(expected[tier] for tier in TIERS)
        for tier in TIERS:
            positive[tier] += expected[tier] > 0
            assert expected[tier] <= TIERS[tier].greatest(group)
    assert min(positive.values()) > 50


def test_the_difference_of_all_pairs_is_what_a_double_loop_adds_up():
    rng = random.Random("pairs")
    for size in range(12):
        numbers = [rng.randint(0, 2**60) for _ in range(size)]
        assert pairwise_difference(numbers) == sum(abs(a - b) for a, b in combinations(numbers, 2))


def test_a_lag_that_is_unknown_counts_nothing_and_one_beyond_32_bits_counts_fully():
    topics = {"t": {"partitions": 3, "lag": [None, 2**40, 2**40], "weight": [1, 2, 3]}}
    group = Group.from_dict(document(topics, {"c0": {}}))
    assignment = Assignment(group, np.zeros(3, np.int32))
    assert values(assignment, ("peak_lag", "peak_weight")) == (2**41, 6)


@pytest.mark.parametrize(
    ("objective", "tiers"),
    [
        ("kip-54", ("balance", "stickiness")),
        (" kip-54-fairest ", ("stickiness", "balance")),
        ("kip-169", ("topic_balance", "peak_lag")),
        ("kip-881", ("balance", "racks", "stickiness")),
        ("balance", ("balance",)),
        ("balance>moves", ("balance", "stickiness")),
        ("  racks >  balance > moved_weight ", ("racks", "balance", "moved_weight")),
        (["lag_balance", "balance"], ("lag_balance", "balance")),
        (("weight_spread",), ("weight_spread",)),
    ],
)
def test_an_objective_is_a_preset_or_tiers_in_order(objective, tiers):
    assert parse_objective(objective) == tiers
    assert parse_objective(tiers) == tiers
    assert parse_objective(" > ".join(tiers)) == tiers


@pytest.mark.parametrize(
    ("objective", "message"),
    [
        (
            "fun",
            r"objective: unknown tier 'fun', expected one of kip-54, .*restores, moves, "
            "moved_weight.*, weight_balance$",
        ),
        ("balance > > racks", "objective: unknown tier ''"),
        ("Balance", "objective: unknown tier 'Balance'"),
        (
            "balance, stickiness",
            "objective: 'balance, stickiness', expected 'balance > stickiness'$",
        ),
        ("balance > stickiness > balance", "objective: tier 'balance' appears twice"),
        (["racks", "racks"], "objective: tier 'racks' appears twice"),
        ([], "objective: no tier named"),
        ({"balance", "moves"}, "objective: set, expected a text as in 'balance > moves', or a li"),
        ({"balance": 1, "moves": 2}.keys(), "objective: dict_keys, expected a text"),
        (["balance", 3], "objective: 3, expected the name of a tier"),
        ([["balance"]], "objective: list, expected the name of a tier"),
        (5, "objective: 5, expected a text"),
        ("moves > stickiness", "objective: tier 'moves' appears twice"),
    ],
)
def test_another_objective_is_refused(objective, message):
    with pytest.raises(BadInput, match=message):
        parse_objective(objective)


def with_unread(topic, members) -> Group:
    return Group.from_dict(document({"t": topic, "unread": 1}, members))


READ = {"c0": {"subscription": ["t"], "owned": {"t": [0]}}}


@pytest.mark.parametrize(
    ("tier", "topic", "message"),
    [
        ("peak_lag", 2, r"topics\.t\.lag\[0\]: unknown, but tier peak_lag needs it \(and 1 more"),
        (
            "lag_spread",
            {"partitions": 2, "lag": [3, None]},
            r"topics\.t\.lag\[1\]: unknown, but tier lag_spread needs it$",
        ),
        ("weight_balance", 1, r"topics\.t\.weight\[0\]: unknown, but tier weight_balance needs"),
        ("moved_weight", 2, r"topics\.t\.weight\[0\]: unknown, but tier moved_weight needs it$"),
        ("racks", 1, r"topics\.t\.racks: unknown, but tier racks needs it"),
        (
            "racks",
            {"partitions": 1, "racks": [["a"]]},
            "members: none has a rack, but tier racks needs one",
        ),
        (
            "peak_lag",
            {"partitions": 2, "lag": [1, 2**62 - 1]},
            rf"^topics\.t\.lag\[1\]: {2**62 - 1} brings the total lag to {2**62}, "
            rf"but tier peak_lag needs it below {2**62}$",
        ),
    ],
)
def test_a_tier_that_needs_what_the_group_lacks_is_refused_with_the_place(tier, topic, message):
    with pytest.raises(BadInput, match=message):
        require_data(with_unread(topic, READ), (tier,))


def test_what_nobody_reads_need_not_be_known_and_a_total_below_the_limit_is_served():
    require_data(with_unread({"partitions": 2, "lag": [1, 2**62 - 2]}, READ), ("peak_lag",))
    topic = {"partitions": 1, "lag": [1], "weight": [1], "racks": [["a"]]}
    group = with_unread(topic, {"c0": READ["c0"] | {"rack": "a", "host": "h", "capacity": 1}})
    require_data(replace(group, copies=Racks.of(["h"], [[], None])), tuple(TIERS))
