"""The tiers: their values against double loops, and the grammar of objectives."""

import math
import random
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from groups import TIERS, Assignment, BadInput, Group, parse_objective, values
from groups.columns.racks import Racks
from groups.needs import require_data
from groups.tiers import pairwise_difference
from tests.optimal.random_groups import random_group


def naive(assignment: Assignment) -> dict[str, int]:
    """Every tier from its definition, over the document of the group and the assignment."""
    group, held = assignment.group.to_dict(), assignment.to_dict()
    topics = {
        t: body if isinstance(body, dict) else {"partitions": body}
        for t, body in group["topics"].items()
    }
    pairs = {m: [(t, n) for t, ns in mine.items() for n in ns] for m, mine in held.items()}
    rack = {m: body.get("rack") for m, body in group["members"].items()}
    loads = [len(mine) for mine in pairs.values()]
    lags = [sum(topics[t]["lag"][n] for t, n in mine) for mine in pairs.values()]
    weights = [sum(topics[t]["weight"][n] for t, n in mine) for mine in pairs.values()]
    owner = {
        (assignment.group.topics[assignment.group.topic[p]], int(assignment.group.number[p])): m
        for p, m in enumerate(assignment.group.owner.tolist())
    }
    moved = [
        (t, n)
        for m, mine in pairs.items()
        for t, n in mine
        if owner[t, n] >= 0 and assignment.group.members[owner[t, n]] != m
    ]
    found = {
        "balance": sum(abs(a - b) for a, b in combinations(loads, 2)),
        "topic_balance": sum(len(ns) ** 2 for mine in held.values() for ns in mine.values()),
        "load_squares": sum(load**2 for load in loads),
        "stickiness": len(moved),
        "moved_weight": sum(topics[t]["weight"][n] for t, n in moved),
        "racks": sum(
            rack[m] not in topics[t]["racks"][n] for m, mine in pairs.items() for t, n in mine
        ),
        "load_spread": max(loads, default=0) - min(loads, default=0),
        "idle_members": min(loads.count(0), max(0, sum(loads) - len(loads) + loads.count(0))),
    }
    copies, first = (
        assignment.group.copies,
        dict(zip(assignment.group.topics, assignment.group.first.tolist(), strict=False)),
    )
    having = {
        m: [copies.of_set(s) for t, n in mine if (s := int(copies.replicas[first[t] + n])) >= 0]
        for m, mine in pairs.items()
    }
    hosts = {m: body["host"] for m, body in group["members"].items()}
    found["stateful_balance"] = sum(len(sets) ** 2 for sets in having.values())
    found["restores"] = sum(hosts[m] not in one for m, sets in having.items() for one in sets)
    for name, sums in (("lag", lags), ("weight", weights)):
        found[f"peak_{name}"] = max(sums, default=0)
        found[f"{name}_spread"] = max(sums, default=0) - min(sums, default=0)
        found[f"{name}_balance"] = sum(abs(a - b) for a, b in combinations(sums, 2))
    for kind in ("host", "rack"):
        place = {m: body[kind] for m, body in group["members"].items()}
        held_by = Counter(place[m] for m, mine in pairs.items() for _ in mine)
        members = Counter(place.values())
        found[f"{kind}_balance"] = int(
            sum(
                math.lcm(*members.values()) * Fraction(number**2, members[name])
                for name, number in held_by.items()
            )
        )
    rates = [body.get("capacity") for body in group["members"].values()]
    found["peak_time"] = max(map(math.ceil, map(Fraction, lags, rates)), default=0)
    return found


def test_every_tier_has_the_value_of_its_definition():
    rng = random.Random("tiers")
    positive = dict.fromkeys(TIERS, 0)
    for _ in range(150):
        group = random_group(rng, members=5, partitions=12)
        owner = np.full(group.n_partitions, -1, np.int32)
        for p, topic in enumerate(group.topic.tolist()):
            readers = group.subscribers(topic).tolist()
            owner[p] = rng.choice(readers) if readers else -1
        assignment = Assignment(group, owner)
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


def test_the_score_of_kip_54_for_a_spread_of_one():
    """N members of which r carry one more: r * (N - r)."""
    assert pairwise_difference([3] * 4 + [2] * 6) == 24


def test_a_lag_that_is_unknown_counts_nothing_and_one_beyond_32_bits_counts_fully():
    topics = {"t": {"partitions": 3, "lag": [None, 2**40, 2**40], "weight": [1, 2, 3]}}
    document = {"format": "assay-group/1", "group": "g", "topics": topics, "members": {"c0": {}}}
    assignment = Assignment(Group.from_dict(document), np.zeros(3, np.int32))
    assert values(assignment, ("peak_lag", "peak_weight")) == (2**41, 6)


def test_a_member_is_idle_only_where_there_is_a_partition_for_it():
    topics, reads = {"t": 2}, {m: {"subscription": ["t"]} for m in ("c0", "c1", "c2")}
    document = {"format": "assay-group/1", "group": "g", "topics": topics, "members": reads}
    group = Group.from_dict(document)
    for owner, idle in (([0, 1], 0), ([0, 0], 1)):
        assert values(Assignment(group, np.array(owner, np.int32)), ("idle_members",)) == (idle,)


@pytest.mark.parametrize(
    ("objective", "tiers"),
    [
        ("kip-54", ("balance", "stickiness")),
        (" kip-54-fairest ", ("stickiness", "balance")),
        ("kip-169", ("topic_balance", "peak_lag")),
        ("kip-881", ("balance", "racks", "stickiness")),
        ("balance", ("balance",)),
        ("balance>stickiness", ("balance", "stickiness")),
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
        ("fun", r"objective: unknown tier 'fun', expected one of kip-54, .*, weight_balance$"),
        ("balance > > racks", "objective: unknown tier ''"),
        ("balance >", "objective: unknown tier ''"),
        ("Balance", "objective: unknown tier 'Balance'"),
        (
            "balance, stickiness",
            "objective: 'balance, stickiness', expected 'balance > stickiness'$",
        ),
        ("balance > stickiness > balance", "objective: tier 'balance' appears twice"),
        (["racks", "racks"], "objective: tier 'racks' appears twice"),
        ([], "objective: no tier named"),
    ],
)
def test_another_objective_is_refused(objective, message):
    with pytest.raises(BadInput, match=message):
        parse_objective(objective)


def group_of(topic, members) -> Group:
    document = {"format": "assay-group/1", "group": "g", "topics": {"t": topic, "unread": 1}}
    return Group.from_dict(document | {"members": members})


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
        require_data(group_of(topic, READ), (tier,))


def test_a_total_just_below_the_limit_is_served():
    require_data(group_of({"partitions": 2, "lag": [1, 2**62 - 2]}, READ), ("peak_lag",))


def test_what_nobody_reads_need_not_be_known():
    topic = {"partitions": 1, "lag": [1], "weight": [1], "racks": [["a"]]}
    group = group_of(topic, {"c0": READ["c0"] | {"rack": "a", "host": "h", "capacity": 1}})
    require_data(replace(group, copies=Racks.of(["h"], [[], None])), tuple(TIERS))


def test_the_weight_of_what_nobody_owns_need_not_be_known_to_move():
    group = group_of(3, {"c0": {"subscription": ["t"]}})
    require_data(group, ("moved_weight",))
    with pytest.raises(BadInput, match="tier peak_weight needs it"):
        require_data(group, ("peak_weight",))


def test_moves_may_be_said_for_stickiness():
    assert parse_objective("balance > moves") == parse_objective("kip-54")
    with pytest.raises(BadInput, match="'stickiness' appears twice"):
        parse_objective("moves > stickiness")
