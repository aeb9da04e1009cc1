"""Trades: the best value of one tier within a budget on moves or moved weight.

Either sorting finds it, or flows: each move is charged the same, and the charge is found by
bisection, with a flow of least squares for each charge tried. At the charge where the budget is
reached, cycles lead from the flow with fewer moves to the one with more.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from groups.arrays import NOBODY
from groups.tiers import MOVES
from optimal.flow.flows import Stages
from optimal.flow.group_network import Layout, network_of
from optimal.flow.levels import unlevelled
from optimal.flow.paths import Paths, hand_out
from optimal.flow.pools import pools_of
from optimal.networks import least_squares

if TYPE_CHECKING:
    from collections.abc import Callable

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


def best_within(group: Group, tier: str, moved: str) -> Callable[[int], Int32] | None:
    """Return a function from a budget to the best owners in a tier; None if sorting does not do.

    Sorting serves racks within moves or moved weight, where partitions are independent and the
    lightest far ones are the cheapest to bring near; and balance within moves if all members that
    read anything read the same: then the assignments within a budget have a least majorised load
    vector, since every move passes through one pool, and taking from the fullest and giving to
    the emptiest reaches it.

    Parameters
    ----------
    tier : the tier to minimise
    moved : the tier of the budget; for balance, a budget is at most the moves of the optimum

    Returns
    -------
    from a budget to (all partitions,) int32 owners, -1 where nobody reads
    """
    if (tier, moved) == ("balance", "stickiness") and _read_alike(group):
        return _EvenTrades.of(group).within
    if tier == "racks" and moved in ("stickiness", "moved_weight"):
        return _RackTrades.of(group, group.weight if moved == "moved_weight" else None).within
    return None


def _read_alike(group: Group) -> bool:
    """Return whether all members that read a partition read the same ones."""
    full = group.partitions > 0
    readers = group.readers[full & (group.readers > 0)]
    return bool((readers == len(_members_that_read(group))).all())


def _members_that_read(group: Group) -> Int64:
    """(reading,) int64: the members that read a partition."""
    reads = np.zeros(len(group.row_size), bool)
    reads[group.subscriptions.entry_row[group.partitions[group.subscription_topics] > 0]] = True
    return np.flatnonzero(reads[group.subscription_row])


@dataclass(frozen=True, eq=False)
class _EvenTrades:
    """Evens out a group in which all members that read anything read the same.

    Attributes
    ----------
    members : (reading,) int64; owned : (reading,) int64, partitions that each of them owns
    free : how many partitions have a reader but no owner
    """

    group: Group
    members: Int64
    owned: Int64
    free: int

    @staticmethod
    def of(group: Group) -> _EvenTrades:
        members = _members_that_read(group)
        owned = np.bincount(group.owner + 1, minlength=len(group.members) + 1)[1:][members]
        read = group.readers[group.topic] > 0
        return _EvenTrades(group, members, owned, int((read & (group.owner < 0)).sum()))

    def within(self, moves: int) -> Int32:
        """Return the owners after so many moves: the fullest give up their last partitions."""
        kept = self.owned - _take_from_highest(self.owned, moves)
        gets = _take_from_highest(-kept, moves + self.free)
        owner = self.group.owner.copy()
        held = np.flatnonzero(owner != NOBODY)
        held = held[np.argsort(owner[held], kind="stable")]
        place = np.searchsorted(self.members, owner[held])
        start = np.cumsum(self.owned) - self.owned
        rank = np.arange(len(held)) - start[place]
        owner[held[rank >= kept[place]]] = NOBODY
        left = np.flatnonzero((owner == NOBODY) & (self.group.readers[self.group.topic] > 0))
        owner[left] = np.repeat(self.members, gets)
        return owner


def _take_from_highest(height: Int64, amount: int) -> Int64:
    """Return how much each column loses if `amount` units are taken one by one off the highest.

    Parameters
    ----------
    height : (columns,) int64
    amount : how many to take; of equal columns the first gives first
    """
    low, high = int(height.min(initial=0)) - amount, int(height.max(initial=0))
    while low < high:
        level = (low + high) // 2
        if int(np.maximum(height - level, 0).sum()) <= amount:
            high = level
        else:
            low = level + 1
    taken = np.maximum(height - high, 0)
    at_level = np.flatnonzero(height >= high)
    taken[at_level[: amount - int(taken.sum())]] += 1
    return taken


@dataclass(frozen=True, eq=False)
class _RackTrades:
    """Brings partitions near a replica by moving them, the lightest first.

    Attributes
    ----------
    kept : (all partitions,) int32, owners with nothing moved
    near : (all partitions,) int32, the first reader near a replica, -1 where there is none
    far : (tradeable,) int64, partitions with a far owner and a near reader, the lightest first
    spent : (tradeable,) int64, the weight of each and those before it
    """

    kept: Int32
    near: Int32
    far: Int64
    spent: Int64

    @staticmethod
    def of(group: Group, weight: Int64 | None) -> _RackTrades:
        near, anybody = _first_readers(group)
        kept = np.where(group.owner != NOBODY, group.owner, np.where(near >= 0, near, anybody))
        owned = np.flatnonzero(group.owner != NOBODY)
        misses = np.zeros(len(owned), bool)
        if group.racks is not None:
            misses = group.racks.misses(group.owner[owned], owned)
        far = owned[misses & (near[owned] >= 0)]
        worth = np.ones(len(far), np.int64) if weight is None else weight[far]
        order = np.argsort(worth, kind="stable")
        return _RackTrades(kept.astype(np.int32), near, far[order], np.cumsum(worth[order]))

    def within(self, budget: int) -> Int32:
        """Return the owners after as many moves as a budget pays for."""
        owner = self.kept.copy()
        nearer = self.far[: int(np.searchsorted(self.spent, budget, side="right"))]
        owner[nearer] = self.near[nearer]
        return owner


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
