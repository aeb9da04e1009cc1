"""Rivals: other ways to the same optimum, timed beside the exact method on the same group."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from ortools.graph.python import min_cost_flow

if TYPE_CHECKING:
    from groups.group import Group


def one_convex_flow(group: Group) -> tuple[int, ...]:
    """Solve balance > stickiness as a single min-cost flow; return the values of both tiers.

    Partitions of one topic and owner are one source; each member has a unit arc a step, the k-th
    costing 2k - 1 times more than all moves together. No levels, no classes of members.
    """
    members, topics = len(group.members), len(group.topics)
    weight = group.n_partitions + 1
    read = group.readers[group.topic] > 0
    reader, listed = group.subscription_pairs
    key = group.topic[read].astype(np.int64) * (members + 1) + group.owner[read] + 1
    pairs, count = np.unique(key, return_counts=True)
    topic, owner = pairs // (members + 1), pairs % (members + 1) - 1
    owned = owner >= 0
    supply = np.bincount(topic, count, topics).astype(np.int64)
    first_member, sink = topics, topics + members
    most = int(2 * supply.sum() / max(members, 1)) + int(count.max(initial=0)) + 2
    step = np.tile(np.arange(1, most + 1), members)
    tail = np.concatenate(
        (
            topic[owned],
            listed,
            first_member + np.repeat(np.arange(members), most),
        )
    )
    head = np.concatenate(
        (
            first_member + owner[owned],
            first_member + reader,
            np.full(members * most, sink),
        )
    )
    room = np.concatenate(
        (
            count[owned],
            supply[listed],
            np.ones(members * most, np.int64),
        )
    )
    cost = np.concatenate(
        (
            np.full(int(owned.sum()), -1),
            np.zeros(len(listed), np.int64),
            (2 * step - 1) * weight,
        )
    )
    flow = min_cost_flow.SimpleMinCostFlow()
    arcs = flow.add_arcs_with_capacity_and_unit_cost(tail, head, room, cost)
    nodes = np.concatenate((supply, np.zeros(members, np.int64), [-supply.sum()]))
    flow.set_nodes_supplies(np.arange(len(nodes)), nodes)
    if flow.solve() != flow.OPTIMAL:
        raise RuntimeError("the one convex flow did not end optimal")
    found = flow.flows(arcs)
    kept = int(found[: int(owned.sum())].sum())
    loads = np.bincount(head[: -members * most] - first_member, found[: -members * most], members)
    ordered = np.sort(loads.astype(np.int64))
    score = int(((2 * np.arange(members) - members + 1) * ordered).sum())
    return score, int(count[owned].sum()) - kept
