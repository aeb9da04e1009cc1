"""Most even: the assignment with the least sum of squared loads within so many moves.

Each move is charged the same, and the charge is searched for: a flow of least squares for each
one tried. At the charge where the budget is reached, cycles lead from the flow with fewer moves
towards the one with more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from groups.tiers import MOVES
from optimal.budgets.trades import best_within
from optimal.flow.group_network import Layout, network_of
from optimal.flow.levels import unlevelled
from optimal.flow.paths import Paths, hand_out
from optimal.flow.pools import pools_of
from optimal.flow.stages import Stages
from optimal.networks.least_squares import least_squares

if TYPE_CHECKING:
    from groups.arrays import Int32, Int64
    from groups.group import Group
    from optimal.networks.network import Network
    from optimal.time_left import TimeLeft


def most_even(group: Group, moves: int, time_left: TimeLeft) -> tuple[Int32, str]:
    """Return the owners after at most so many moves, and what found them.

    (all partitions,) int32, -1 where nobody reads. Where the least majorised load vector can be
    had within the budget this is it, but for cycles that only together cost what is left.

    Parameters
    ----------
    moves : fewer than the most even assignment of all takes

    Raises
    ------
    OutOfTime
        Where the time is up.
    """
    sorted_out = best_within(group, "balance", MOVES)
    if sorted_out is not None:
        return sorted_out(moves), "closed-form"
    stages = Stages(before=(), levelled=False, flows=("stickiness", "balance"))
    pools = pools_of(group, stages)
    blocks = unlevelled(pools)
    paths = Paths.of(group, pools, blocks, stages)
    layout = Layout.of(paths, pools, blocks, np.ones(len(blocks.floor), bool))
    network = network_of(paths, pools, blocks, layout, levelled=False)
    stay, _, _, carry = layout.slices
    most = int(paths.owned.count.sum()) - moves
    flow = _charged(network, stay, carry, most, group.owned[layout.carry], time_left)
    return hand_out(group, pools, paths, layout.counts(paths, flow)), "flow"


def _charged(
    network: Network, stay: slice, carry: slice, kept: int, loads: Int64, time_left: TimeLeft
) -> Int64:
    """Return the flow that keeps at least so many partitions on `stay`, (arcs,) int64.

    Charges are odd: a move that brings loads nearer lowers the sum of squares by an even number.
    """
    arcs, base = np.arange(carry.start, carry.stop), np.zeros(len(loads), np.int64)

    def charged(charge: int, guess: Int64) -> Int64:
        cost = np.zeros(len(network.tail), np.int64)
        cost[stay] = -charge
        return least_squares(network, arcs, base, guess, time_left, cost=cost)[0]

    low, high = 0, int(np.maximum(network.supply, 0).sum()) + 1
    few, many = charged(2 * high + 1, loads), None
    while high - low > 1:
        middle = (low + high) // 2
        flow = charged(2 * middle - 1, few[carry])
        if int(flow[stay].sum()) >= kept:
            high, few = middle, flow
        else:
            low, many = middle, flow
    if many is None:
        return few
    return few + _part(network, many - few, stay, int(few[stay].sum()) - kept)


def _part(network: Network, change: Int64, stay: slice, room: int) -> Int64:
    """Return the part of a circulation, (arcs,) int64, that takes no more than `room` moves.

    Cycle by cycle, the shortest first found; one that moves nothing in all is left out.
    """
    amount = np.abs(change).tolist()
    moved = np.zeros(len(change), np.int64)
    moved[stay] = -np.sign(change[stay])
    leaving: dict[int, list[int]] = {}
    arcs = np.flatnonzero(change)
    back = change < 0
    tail = np.where(back, network.head, network.tail).tolist()
    head = np.where(back, network.tail, network.head).tolist()
    for arc in arcs.tolist():
        leaving.setdefault(tail[arc], []).append(arc)
    taken = np.zeros(len(change), np.int64)
    for node in list(leaving):
        while room and (cycle := _cycle(node, leaving, head, amount)):
            size = min(amount[arc] for arc in cycle)
            moves = int(moved[cycle].sum())
            for arc in cycle:
                amount[arc] -= size
            if moves > 0:
                some = min(size, room // moves)
                taken[cycle] += some
                room -= some * moves
    return taken * np.sign(change)


def _cycle(
    node: int, leaving: dict[int, list[int]], head: list[int], amount: list[int]
) -> list[int]:
    """Return the arcs of a cycle that is reached from a node, none where nothing leaves it."""
    path: list[int] = []
    at = {node: 0}
    while True:
        arcs = leaving.get(node, [])
        while arcs and not amount[arcs[-1]]:
            arcs.pop()
        if not arcs:
            return []
        path.append(arcs[-1])
        node = head[arcs[-1]]
        if node in at:
            return path[at[node] :]
        at[node] = len(path)
