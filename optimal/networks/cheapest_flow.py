"""Cheapest flow: by cost scaling, by maximum flows where costs are few, by the simplex method."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np

from groups.errors import BadInput, SolverContradiction
from groups.tiers import SAFE_TOTAL

if TYPE_CHECKING:
    from groups.arrays import Int64
    from optimal.networks.network import Network
    from optimal.time_left import TimeLeft


LONG = 200


def cheapest(network: Network, cost: Int64, time_left: TimeLeft) -> Int64:
    """Return a cheapest flow, (arcs,) int64, for a cost per unit, (arcs,) int64.

    Raises
    ------
    BadInput
        Where the costs would leave 64 bits in the solver.
    SolverContradiction
        Where there is no flow: the network was built to have one.
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
    from optimal.networks.solvers import min_cost_flow

    solver = min_cost_flow.SimpleMinCostFlow()
    arcs = solver.add_arcs_with_capacity_and_unit_cost(
        network.tail[free], network.head[free], room[free], cost[free]
    )
    solver.set_nodes_supplies(np.arange(nodes), supply)
    status = solver.solve()
    if status == solver.BAD_COST_RANGE:
        raise BadInput("objective: the costs of one tier leave 64 bits in the min-cost flow")
    if status != solver.OPTIMAL:
        # Asking an infeasible solve for its flows ends the process.
        raise SolverContradiction(f"the min-cost flow ended {status.name}, expected OPTIMAL")
    flow = network.lower.copy()
    flow[free] += solver.flows(arcs)
    return flow


def is_long(network: Network) -> bool:
    """Return whether paths between a network's sinks are so long that cost scaling is slow.

    Its time grows with the third power of the length of the longest path: 13 s for a chain of
    1001 members, which the simplex method solves in a tenth of a second. On short and wide
    networks it is the other way round.
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
        Where the answer is not a flow.
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


MOST_STEPS = 12


def by_steps(
    network: Network, cost: Int64, part: Int64, time_left: TimeLeft
) -> tuple[Int64, Int64] | None:
    """Return a cheapest flow, (arcs,) int64, and its potentials, (nodes,) int64.

    Every residual arc (u, v) has d(v) <= d(u) + cost. None where it takes more than MOST_STEPS.
    The primal-dual method (Ford & Fulkerson, Flows in Networks, 1962, chapter III): what costs
    nothing at the prices so far takes a maximum flow; then all that this could not reach becomes
    one dearer. The number of steps is the greatest cost of a path, such as the moves in a chain:
    it is fast where costs are -1, 0 and 1 and chains are short.

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
