"""The cheapest flow where costs are small: a maximum flow for each step of the price.

The primal-dual method (Ford & Fulkerson, Flows in Networks, 1962, chapter III): what costs nothing
at the prices so far takes a maximum flow; then all that this could not reach becomes one dearer.
The number of steps is the greatest cost of a path, such as the moves in a chain, so that it is
fast where costs are -1, 0 and 1 and chains are short.
"""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np

from groups.errors import SolverContradiction

if TYPE_CHECKING:
    from groups.arrays import Int64
    from optimal.networks.network import Network
    from optimal.time_left import TimeLeft

MOST_STEPS = 12


def by_steps(
    network: Network, cost: Int64, part: Int64, time_left: TimeLeft
) -> tuple[Int64, Int64] | None:
    """Return a cheapest flow, (arcs,) int64, and its potentials, (nodes,) int64.

    Every residual arc (u, v) has d(v) <= d(u) + cost. None where it takes more than MOST_STEPS.

    Parameters
    ----------
    cost : (arcs,) int64, of a unit on each arc
    part : (nodes,) int64, numbers of parts that no arc connects: those that are done are left out
    """
    tail, head, lower, upper = network.tail, network.head, network.lower, network.upper
    flow, distance = np.where(cost < 0, upper, lower), np.zeros(len(network.supply), np.int64)
    excess = network.supply.copy()
    np.subtract.at(excess, tail, flow)
    np.add.at(excess, head, flow)
    from optimal.networks.solvers import max_flow

    arcs, source = np.arange(len(tail)), len(excess)
    for _ in range(MOST_STEPS):
        time_left.check()
        tight = arcs[(cost[arcs] + distance[tail[arcs]]) == distance[head[arcs]]]
        forward, backward = tight[flow[tight] < upper[tight]], tight[flow[tight] > lower[tight]]
        full, short = np.flatnonzero(excess > 0), np.flatnonzero(excess < 0)
        solver = max_flow.SimpleMaxFlow()
        made = solver.add_arcs_with_capacity(
            np.concatenate((tail[forward], head[backward], np.full(len(full), source), short)),
            np.concatenate((head[forward], tail[backward], full, np.full(len(short), source + 1))),
            np.concatenate(
                (
                    upper[forward] - flow[forward],
                    flow[backward] - lower[backward],
                    excess[full],
                    -excess[short],
                )
            ),
        )
        if solver.solve(source, source + 1) != solver.OPTIMAL:
            raise SolverContradiction("the maximum flow did not end OPTIMAL")
        sent = solver.flows(made)
        ends = (*accumulate(map(len, (forward, backward, full, short)), initial=0),)
        flow[forward] += sent[: ends[1]]
        flow[backward] -= sent[ends[1] : ends[2]]
        excess[full] -= sent[ends[2] : ends[3]]
        excess[short] += sent[ends[3] :]
        if not excess.any():
            return flow, distance
        reached = np.zeros(source + 2, bool)
        reached[np.array(solver.get_source_side_min_cut(), np.int64)] = True
        distance[~reached[:source]] += 1
        left = np.zeros(int(part.max()) + 1, bool)
        left[part[excess != 0]] = True
        arcs = arcs[left[part[tail[arcs]]]]
    return None
