"""The optimum by one min-cost flow of unit arcs, and larger groups to solve with it."""

import random
from dataclasses import replace

import numpy as np
from ortools.graph.python import min_cost_flow

from compare.samples.families import Family, Subscriptions
from groups import Assignment, Group
from groups.columns.racks import Racks
from tests.optimal.random_groups import any_owner

FLOW_TIERS = ("balance", "topic_balance", "stickiness", "moved_weight", "racks")


def monolithic(group: Group, order: tuple[str, ...]) -> Assignment:
    """Return an optimum, from one min-cost flow of unit arcs with a node for each partition.

    A unit flows from its partition to a node for (topic, member), then to the member and to the
    sink; the k-th unit of a convex arc costs 2k - 1. One weighted sum stands for the order of the
    tiers.
    """
    weight = np.zeros(group.n_partitions, np.int64) if group.weight is None else group.weight
    read = np.flatnonzero(group.readers[group.topic] > 0)
    greatest = {tier: len(read) for tier in FLOW_TIERS} | {
        "balance": len(read) ** 2,
        "topic_balance": int((group.partitions**2).sum()),
        "moved_weight": int(weight[group.owner >= 0].sum()),
    }
    unit, rest = dict.fromkeys(FLOW_TIERS, 0), 0
    for tier in reversed(order):
        unit[tier] = rest + 1
        rest += unit[tier] * greatest[tier]
    solver = min_cost_flow.SimpleMinCostFlow()
    topics, members = len(group.topics), len(group.members)
    part = group.n_partitions + topics * members
    sink = part + members
    choices = []
    for p in read.tolist():
        solver.set_node_supply(p, 1)
        topic, owner = int(group.topic[p]), int(group.owner[p])
        for m in np.flatnonzero(group.subscribes(np.arange(members), np.full(members, topic))):
            moved = int(owner not in (-1, int(m)))
            misses = 0
            if unit["racks"]:
                misses = int(group.racks.misses(np.array([m]), np.array([p]))[0])
            cost = moved * (unit["stickiness"] + unit["moved_weight"] * int(weight[p]))
            cost += misses * unit["racks"]
            head = group.n_partitions + topic * members + int(m)
            arc = solver.add_arc_with_capacity_and_unit_cost(p, head, 1, cost)
            choices.append((p, int(m), arc))
    reader, listed = group.subscription_pairs
    for t, m in zip(listed, reader, strict=True):
        tail = group.n_partitions + int(t) * members + int(m)
        for k in range(1, int(group.partitions[t]) + 1):
            cost = unit["topic_balance"] * (2 * k - 1)
            solver.add_arc_with_capacity_and_unit_cost(tail, part + int(m), 1, cost)
    most = np.zeros(members, np.int64)
    np.add.at(most, reader, group.partitions[listed])
    for m in range(members):
        for k in range(1, int(most[m]) + 1):
            cost = unit["balance"] * (2 * k - 1)
            solver.add_arc_with_capacity_and_unit_cost(part + m, sink, 1, cost)
    solver.set_node_supply(sink, -len(read))
    assert solver.solve() == solver.OPTIMAL
    owner = np.full(group.n_partitions, -1, np.int32)
    for p, m, arc in choices:
        if solver.flow(arc):
            owner[p] = m
    return Assignment(group, owner)


def larger_group(rng: random.Random, kind: Subscriptions) -> Group:
    """Return a group of 50 members and 500 partitions of 25 topics, with random or no owners."""
    group = Family(50, 10, 25, kind, skewed=rng.random() < 0.5).group(rng.randrange(1000))
    owner = any_owner(rng, group)
    owner[[p for p in range(len(owner)) if rng.random() < 0.1]] = -1
    near = [rng.choice("abc") for _ in group.members]
    racks = Racks.of(near, [sorted(rng.sample("abc", 2)) for _ in owner])
    weight = np.array([rng.randint(0, 4) for _ in owner])
    return replace(group, owner=owner, racks=racks, weight=weight)
