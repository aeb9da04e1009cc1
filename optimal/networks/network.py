"""Network: nodes and arcs; the potentials and the face of a cheapest flow.

The face is the network of all flows that are as cheap: what a cheapest flow of one tier fixes by
complementary slackness (Ahuja, Magnanti & Orlin, Network Flows, 1993, section 9.4) bounds the
flows of the next tier.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from groups.arrays import order_by
from groups.errors import SolverContradiction

if TYPE_CHECKING:
    from groups.arrays import Int64


@dataclass(frozen=True, eq=False)
class Network:
    """Arcs with bounds, and nodes that supply (more than 0) or demand (less than 0).

    Attributes
    ----------
    tail, head, lower, upper : (arcs,) int64
    supply : (nodes,) int64, sums to 0
    """

    tail: Int64
    head: Int64
    lower: Int64
    upper: Int64
    supply: Int64


def potentials(network: Network, cost: Int64, flow: Int64) -> Int64:
    """Return distances in the residual network from a root at distance 0 of every node.

    (nodes,) int64; Bellman-Ford over the arcs sorted by head. Every residual arc (u, v) then has
    d(v) <= d(u) + cost: the potentials of the flow.
    """
    forward, backward = flow < network.upper, flow > network.lower
    tail = np.concatenate((network.tail[forward], network.head[backward]))
    head = np.concatenate((network.head[forward], network.tail[backward]))
    length = np.concatenate((cost[forward], -cost[backward]))
    order = order_by(head)
    tail, head, length = tail[order], head[order], length[order]
    starts = np.flatnonzero(np.concatenate(([True], head[1:] != head[:-1]))) if len(head) else head
    into = head[starts]
    distance = np.zeros(len(network.supply), np.int64)
    for _ in range(len(distance) + 1):
        reach = np.minimum.reduceat(distance[tail] + length, starts) if len(starts) else distance
        shorter = np.minimum(distance[into], reach) if len(starts) else distance[into]
        if np.array_equal(shorter, distance[into]):
            return distance
        distance[into] = shorter
    raise SolverContradiction("the min-cost flow left a cycle of negative cost")


def face(network: Network, cost: Int64, distance: Int64) -> Network:
    """Return the network of all cheapest flows, given potentials of one of them."""
    reduced = cost + distance[network.tail] - distance[network.head]
    return replace(
        network,
        lower=np.where(reduced < 0, network.upper, network.lower),
        upper=np.where(reduced > 0, network.lower, network.upper),
    )
