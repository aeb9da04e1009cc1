"""Trades: the best balance or racks within a budget on moves or moved weight.

Sorting finds the best balance where all members that read anything read the same, in a twentieth
of the time of flows. Flows find it elsewhere: each move is charged the same, and the charge is
found by bisection, with a flow of least squares for each charge tried. At the charge where the
budget is reached, cycles lead from the flow with fewer moves to the one with more. Sorting finds
the best racks.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

import numpy as np

from groups.arrays import NOBODY
from optimal.flow.flows import Stages
from optimal.flow.group_network import Layout, network_of
from optimal.flow.levels import unlevelled
from optimal.flow.paths import Paths, hand_out
from optimal.flow.pools import pools_of
from optimal.networks import least_squares

if TYPE_CHECKING:
    from groups.arrays import Int32, Int64
    from groups.group import Group
    from optimal.networks import Network
    from optimal.time_left import TimeLeft


def most_even(group: Group, moves: int, time_left: TimeLeft) -> tuple[Int32, str]:
    """Return the most even assignment within so many moves, and the method that found it.

    If there is a least majorised load vector within the budget, this is it, except where only
    several cycles together would use up the moves left.

    Parameters
    ----------
    moves : fewer than the most even assignment without budgets takes

    Returns
    -------
    (all partitions,) int32, -1 where nobody reads; ``closed-form`` or ``flow``

    Raises
    ------
    OutOfTime
        If the time is up.
    """
    members = _reading_alike(group)
    if members is not None:
        return _evened_out(group, members, moves), "closed-form"
    stages = Stages(before=(), levelled=False, flows=("stickiness", "balance"))
    pools = pools_of(group, stages)
    blocks = unlevelled(pools)
    paths = Paths.of(group, pools, blocks, stages)
    layout = Layout.of(paths, pools, blocks, np.ones(len(blocks.floor), bool))
    network = network_of(paths, pools, blocks, layout, levelled=False)
    stay, _, _, carry = layout.slices
    most = int(paths.owned.count.sum()) - moves
    flow = _flow_by_charge(network, stay, carry, most, group.owned[layout.carry], time_left)
    return hand_out(group, pools, paths, layout.counts(paths, flow)), "flow"


def _flow_by_charge(
    network: Network, stay: slice, carry: slice, kept: int, loads: Int64, time_left: TimeLeft
) -> Int64:
    """Return the flow of least squares that keeps at least `kept` partitions on `stay`, (arcs,).

    Charges for a move are odd, so that there are no ties: a move changes the sum of squares by an
    even number.
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
    return few + _part_of_change(network, many - few, stay, int(few[stay].sum()) - kept)


def _part_of_change(network: Network, change: Int64, stay: slice, room: int) -> Int64:
    """Return the part of a circulation, (arcs,) int64, that makes no more than `room` moves.

    It is put together cycle by cycle; cycles that make no moves on balance are left out.
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
                units = min(size, room // moves)
                taken[cycle] += units
                room -= units * moves
    return taken * np.sign(change)


def _cycle(
    node: int, leaving: dict[int, list[int]], head: list[int], amount: list[int]
) -> list[int]:
    """Return the arcs of a cycle that is reached from a node, none if nothing leaves the node."""
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


def _reading_alike(group: Group) -> Int64 | None:
    """(reading,) int64: the members that read a partition; None if they do not all read alike."""
    full = group.partitions > 0
    reads = np.zeros(len(group.subscriptions), bool)
    reads[group.subscriptions.entry_row[full[group.subscription_topics]]] = True
    members = np.flatnonzero(reads[group.subscription_row])
    readers = group.readers[full & (group.readers > 0)]
    return members if (readers == len(members)).all() else None


def _evened_out(group: Group, members: Int64, moves: int) -> Int32:
    """Return the owners after so many moves from the fullest members to the emptiest.

    Every move passes through one pool, so no other assignment within the budget is more even. The
    fullest give up their last partitions.

    Parameters
    ----------
    members : (reading,) int64, those that read all that is read
    """
    owner = group.owner.copy()
    owned = np.bincount(owner + 1, minlength=len(group.members) + 1)[1:][members]
    free = int(((group.readers[group.topic] > 0) & (owner == NOBODY)).sum())
    kept = owned - _taken_from_highest(owned, moves)
    gets = _taken_from_highest(-kept, moves + free)
    held = np.flatnonzero(owner != NOBODY)
    held = held[np.argsort(owner[held], kind="stable")]
    place = np.searchsorted(members, owner[held])
    rank = np.arange(len(held)) - (np.cumsum(owned) - owned)[place]
    owner[held[rank >= kept[place]]] = NOBODY
    left = np.flatnonzero((owner == NOBODY) & (group.readers[group.topic] > 0))
    owner[left] = np.repeat(members, gets)
    return owner


def _taken_from_highest(height: Int64, amount: int) -> Int64:
    """Return how much each column loses if `amount` units are taken one by one off the highest.

    Parameters
    ----------
    height : (columns,) int64
    amount : how many to take; of equal columns the first gives first
    """
    low, high = int(height.min(initial=0)) - amount, int(height.max(initial=0))
    levels = range(low, high)
    level = low + bisect_left(
        levels, True, key=lambda at: int(np.maximum(height - at, 0).sum()) <= amount
    )
    taken = np.maximum(height - level, 0)
    at_level = np.flatnonzero(height >= level)
    taken[at_level[: amount - int(taken.sum())]] += 1
    return taken


def nearest(group: Group, moved: str, budget: int) -> Int32:
    """Return the assignment of least racks within a budget, (all partitions,) -1 where unread.

    Partitions are independent of each other: those are brought near a replica that are the
    lightest to move, so no assignment with as many near has less in the budget's tier.

    Parameters
    ----------
    moved : the tier of the budget, `stickiness` or `moved_weight`
    """
    near, anybody = _first_readers(group)
    owned = np.flatnonzero(group.owner != NOBODY)
    misses = np.zeros(len(owned), bool)
    if group.racks is not None:
        misses = group.racks.misses(group.owner[owned], owned)
    far = owned[misses & (near[owned] >= 0)]
    weight = group.weight if moved == "moved_weight" else None
    worth = np.ones(len(far), np.int64) if weight is None else weight[far]
    order = np.argsort(worth, kind="stable")
    paid = int(np.searchsorted(np.cumsum(worth[order]), budget, side="right"))
    owner = np.where(group.owner != NOBODY, group.owner, np.where(near >= 0, near, anybody))
    owner[far[order[:paid]]] = near[far[order[:paid]]]
    return owner.astype(np.int32)


def _first_readers(group: Group) -> tuple[Int32, Int32]:
    """(first reader near a replica, first reader) of each partition, -1 if there is none."""
    near = np.full(group.n_partitions, NOBODY, np.int32)
    anybody = near.copy()
    for t in range(len(group.topics)):
        readers = group.subscribers(t)
        partitions = np.arange(group.first[t], group.first[t + 1])
        if not len(readers) or group.racks is None:
            continue
        anybody[partitions] = readers[0]
        replicas, place = np.unique(group.racks.replicas[partitions], return_inverse=True)
        for i, one in enumerate(replicas):
            misses = group.racks.lack(np.full(len(readers), one), group.racks.member[readers])
            if not misses.all():
                near[partitions[place == i]] = readers[int(np.argmin(misses))]
    return near, anybody
