"""Networks: nodes and arcs; cheapest flows, flows of least squares, their potentials and face.

The face is the network of all cheapest flows: complementary slackness fixes or bounds the flow on
each arc (Ahuja, Magnanti & Orlin, Network Flows, 1993, section 9.4). The next tier is minimised
on the face.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np

from groups.arrays import order_by, ranks
from groups.errors import BadInput, SolverContradiction
from groups.tiers import SAFE_TOTAL

if TYPE_CHECKING:
    from groups.arrays import Bools, Int64
    from optimal.time_left import TimeLeft


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
    """Return the potentials of a cheapest flow, (nodes,) int64.

    They are distances in the residual network from a root with an arc of length 0 to every node,
    by Bellman-Ford over the arcs sorted by head: every residual arc (u, v) has
    d(v) <= d(u) + cost.

    Raises
    ------
    SolverContradiction
        If the flow is not a cheapest one.
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
    """Return the network of all cheapest flows, from the potentials of one of them."""
    reduced = cost + distance[network.tail] - distance[network.head]
    return replace(
        network,
        lower=np.where(reduced < 0, network.upper, network.lower),
        upper=np.where(reduced > 0, network.lower, network.upper),
    )


# Paths of so many arcs are long.
LONG = 200


def cheapest(network: Network, cost: Int64, time_left: TimeLeft) -> Int64:
    """Return a cheapest flow, (arcs,) int64, for a cost per unit, (arcs,) int64.

    Raises
    ------
    BadInput
        If the costs would leave 64 bits in the solver.
    SolverContradiction
        If there is no flow: the network was built to have one.
    """
    time_left.check()
    nodes = len(network.supply)
    if is_long(network):
        return simplex(network, cost)
    if int(np.abs(cost).max(initial=0)) * (nodes + 1) >= SAFE_TOTAL:
        raise BadInput("objective: the costs of one tier leave 64 bits in the min-cost flow")
    room = network.upper - network.lower
    free = np.flatnonzero(room > 0)
    supply = network.supply.copy()
    np.subtract.at(supply, network.tail, network.lower)
    np.add.at(supply, network.head, network.lower)
    from optimal.solvers import min_cost_flow

    solver = min_cost_flow.SimpleMinCostFlow()
    arcs = solver.add_arcs_with_capacity_and_unit_cost(
        network.tail[free], network.head[free], room[free], cost[free]
    )
    solver.set_nodes_supplies(np.arange(nodes), supply)
    status = solver.solve()
    if status == solver.BAD_COST_RANGE:
        raise BadInput("objective: the costs of one tier leave 64 bits in the min-cost flow")
    if status != solver.OPTIMAL:
        # OR-tools ends the process if asked for the flows of an infeasible problem.
        raise SolverContradiction(f"the min-cost flow ended {status.name}, expected OPTIMAL")
    flow = network.lower.copy()
    flow[free] += solver.flows(arcs)
    return flow


def is_long(network: Network) -> bool:
    """Return whether a network has paths so long that cost scaling is slow.

    Its time grows with the third power of the length of the longest path: 13 s for a chain of
    1001 members, which the simplex method solves in 0.1 s. On short and wide networks, cost
    scaling is faster.
    """
    nodes, arcs = len(network.supply), len(network.tail)
    if nodes < LONG or arcs > 2 * nodes:
        return False
    inner = network.supply[network.head] >= 0
    ends = np.concatenate((network.tail[inner], network.head[inner]))
    others = np.concatenate((network.head[inner], network.tail[inner]))
    reached = np.zeros(nodes, bool)
    reached[np.argmax(network.supply)] = True
    for _ in range(LONG):
        before = int(reached.sum())
        reached[others[reached[ends]]] = True
        if int(reached.sum()) == before:
            return False
    return True


def simplex(network: Network, cost: Int64) -> Int64:
    """Return a cheapest flow found by the simplex method; basic flows are integral.

    Raises
    ------
    SolverContradiction
        If the answer is not a flow.
    """
    from ortools.math_opt.python import mathopt

    model = mathopt.Model()
    bounds = zip(network.lower.tolist(), network.upper.tolist(), strict=True)
    arcs = [model.add_variable(lb=low, ub=high) for low, high in bounds]
    nodes = [model.add_linear_constraint(lb=s, ub=s) for s in network.supply.tolist()]
    ends = zip(arcs, network.tail.tolist(), network.head.tolist(), strict=True)
    for arc, tail, head in ends:
        nodes[tail].set_coefficient(arc, 1.0)
        nodes[head].set_coefficient(arc, -1.0)
    for arc, price in zip(arcs, cost.tolist(), strict=True):
        if price:
            model.objective.set_linear_coefficient(arc, price)
    found = mathopt.solve(model, mathopt.SolverType.GLOP)
    if found.termination.reason is not mathopt.TerminationReason.OPTIMAL:
        raise SolverContradiction(f"the simplex method ended {found.termination.reason.name}")
    flow = np.rint(found.variable_values(arcs)).astype(np.int64)
    balance = np.zeros(len(nodes), np.int64)
    np.add.at(balance, network.tail, flow)
    np.subtract.at(balance, network.head, flow)
    inside = (network.lower <= flow) & (flow <= network.upper)
    if not (inside.all() and np.array_equal(balance, network.supply)):
        raise SolverContradiction("the simplex method's answer is not a flow")
    return np.asarray(flow)


# The primal-dual method gives up after so many steps.
MOST_STEPS = 12


def by_steps(
    network: Network, cost: Int64, part: Int64, time_left: TimeLeft
) -> tuple[Int64, Int64] | None:
    """Return a cheapest flow, (arcs,) int64, and its potentials, (nodes,) int64.

    The primal-dual method (Ford & Fulkerson, Flows in Networks, 1962, chapter III): a maximum flow
    over arcs of reduced cost 0; then the potential of all nodes not reached rises by 1. The number
    of steps is the greatest cost of a path, such as the moves in a chain: the method is fast if
    costs are -1, 0 and 1 and chains are short. None if it takes more than `MOST_STEPS`.

    Parameters
    ----------
    cost : (arcs,) int64, of a unit on each arc
    part : (nodes,) int64, the part of each node; no arc connects parts, and finished ones are
        left out
    """
    tail, head, lower, upper = network.tail, network.head, network.lower, network.upper
    flow, distance = np.where(cost < 0, upper, lower), np.zeros(len(network.supply), np.int64)
    excess = network.supply.copy()
    np.subtract.at(excess, tail, flow)
    np.add.at(excess, head, flow)
    from optimal.solvers import max_flow

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


def least_squares(
    network: Network,
    arcs: Int64,
    base: Int64,
    guess: Int64,
    time_left: TimeLeft,
    *,
    cost: Int64 | None = None,
    weight: Int64 | None = None,
) -> tuple[Int64, Network, Int64]:
    """Minimise the sum of squares of ``base + flow`` over some arcs, plus the cost of the others.

    The k-th unit of an arc costs ``2 (base + k) - 1``, times its weight. Only steps around `guess`
    have unit arcs; units below and above this window cost as much as the nearest step, which never
    overstates the total. If a flow is so far outside that its cost is understated, the window
    grows and the flow is solved again.

    Parameters
    ----------
    arcs : indices of the arcs; base, guess : (len(arcs),) int64
    cost : (arcs of the network,) int64, of a unit on each of the other arcs; None: 0
    weight : (len(arcs),) int64, the factor of each square, 1 or more; None: 1

    Returns
    -------
    A flow, (arcs of the network,) int64, the network of all flows of the same total, and the
    potentials, (nodes,) int64.
    """
    slope = np.ones(len(arcs), np.int64) if weight is None else weight
    least, most = network.lower[arcs], network.upper[arcs]
    of_unit = np.zeros(len(network.tail), np.int64) if cost is None else cost
    others = np.ones(len(network.tail), bool)
    others[arcs] = False
    width = 2
    low, high = np.clip(guess - width, least, most), np.clip(guess + width, least, most)
    while True:
        steps, of_step, of = _steps(network, arcs, others, base, low, high, of_unit, slope)
        flow = cheapest(steps, of_step, time_left)
        carried = np.bincount(of, flow[-len(of) :], len(arcs)).astype(np.int64)
        inside = ((carried >= low - 1) | (low == least)) & ((carried <= high + 1) | (high == most))
        if inside.all():
            break
        width *= 2
        low = np.minimum(low, np.clip(carried - width, least, most))
        high = np.maximum(high, np.clip(carried + width, least, most))
    distance = potentials(steps, of_step, flow)
    narrowed = face(network, of_unit, distance)
    rise = distance[network.head[arcs]] - distance[network.tail[arcs]]
    lower, upper = network.lower.copy(), network.upper.copy()
    lower[others], upper[others] = narrowed.lower[others], narrowed.upper[others]
    # Every optimal flow takes the steps that cost less than the rise, and none that cost more.
    lower[arcs] = np.clip(-(-rise // slope) // 2 - base, least, most)
    upper[arcs] = np.clip((rise // slope + 1) // 2 - base, least, most)
    total = np.empty(len(network.tail), np.int64)
    total[others] = flow[: int(others.sum())]
    total[arcs] = carried
    return total, replace(network, lower=lower, upper=upper), distance


def _steps(
    network: Network,
    arcs: Int64,
    others: Bools,
    base: Int64,
    low: Int64,
    high: Int64,
    of_unit: Int64,
    slope: Int64,
) -> tuple[Network, Int64, Int64]:
    """(network with the arcs split into steps, its costs, the original arc of each step)."""
    least, most = network.lower[arcs], network.upper[arcs]
    count = high - low
    units = np.repeat(np.arange(len(arcs)), count)
    step = low[units] + 1 + ranks(count)
    every = np.arange(len(arcs))
    of = np.concatenate((every, units, every))
    price = np.concatenate((low, step, high + 1)) + base[of]
    # Of the three kinds of arc (below, in and above the window) the first has the lower bound.
    lower = np.concatenate((least, np.zeros(len(units) + len(arcs), np.int64)))
    upper = np.concatenate((low, np.ones(len(units), np.int64), most - high))
    return (
        Network(
            tail=np.concatenate((network.tail[others], network.tail[arcs][of])),
            head=np.concatenate((network.head[others], network.head[arcs][of])),
            lower=np.concatenate((network.lower[others], lower)),
            upper=np.concatenate((network.upper[others], upper)),
            supply=network.supply,
        ),
        np.concatenate((of_unit[others], (2 * price - 1) * slope[of])),
        of,
    )
