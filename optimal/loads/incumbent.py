"""Incumbent: the assignment that the search changes, and two ways to find a first one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from ortools.graph.python import min_cost_flow

if TYPE_CHECKING:
    from collections.abc import Iterable

    from groups.arrays import Bools, Floats, Int64
    from optimal.loads.candidates import Candidates


class Incumbent:
    """An assignment that exchanges change; it is always one of the candidates.

    Attributes
    ----------
    holder : (read,) int64, member that holds each read partition
    loads : (members,) int64, lag or weight that each member carries
    held : (piles, members) int64, how many partitions of each pile a member holds
    of : for each member the partitions that it holds, as positions among the read ones
    """

    def __init__(self, candidates: Candidates, holder: Int64) -> None:
        """Compute loads and counts of every member."""
        self.candidates = candidates
        self.holder = holder.copy()
        self.loads = np.zeros(candidates.members, np.int64)
        np.add.at(self.loads, holder, candidates.size)
        self.held = np.zeros(candidates.least.shape, np.int64)
        np.add.at(self.held, (candidates.pile, holder), 1)
        order = np.argsort(holder, kind="stable")
        ends = np.cumsum(np.bincount(holder, minlength=candidates.members))[:-1]
        self.of: list[Int64] = np.split(order, ends)

    @property
    def peak(self) -> int:
        """The greatest load, or the seconds until the last member has caught up."""
        return self.candidates.peak(self.loads)

    @property
    def heights(self) -> Int64 | Floats:
        """(members,): what the peak is the greatest of: loads, or seconds before rounding up."""
        return self.candidates.heights(self.loads)

    @property
    def busiest(self) -> int:
        """The member of the greatest height."""
        return int(self.heights.argmax())

    @property
    def moved(self) -> Bools:
        """(read,) bool: whether a partition has an owner that does not hold it."""
        home = self.candidates.home
        return np.asarray((home >= 0) & (home != self.holder), bool)

    @property
    def moves(self) -> int:
        """The number of partitions that have left their owner."""
        return int(self.moved.sum())

    @property
    def moves_left(self) -> int | None:
        """How many more moves are allowed, None for any number."""
        return None if self.candidates.moves is None else self.candidates.moves - self.moves

    def copy(self) -> Incumbent:
        """Return an independent copy."""
        return Incumbent(self.candidates, self.holder)

    def worst(self, members: Iterable[int], parts: Iterable[Int64]) -> float:
        """Return the greatest height of the members if they held these partitions."""
        sums = [int(self.candidates.size[part].sum()) for part in parts]
        if self.candidates.rate is None:
            return max(sums)
        rates = self.candidates.rate[list(members)].tolist()
        return max(float(one / rate) for one, rate in zip(sums, rates, strict=True))

    def give(self, members: Iterable[int], parts: Iterable[Int64]) -> None:
        """Redistribute what some members hold together.

        Parameters
        ----------
        parts : for each of the members the partitions that it holds from now on
        """
        for member, part in zip(members, parts, strict=True):
            self.of[member] = part
            self.holder[part] = member
            self.loads[member] = self.candidates.size[part].sum()
            self.held[:, member] = 0
            np.add.at(self.held[:, member], self.candidates.pile[part], 1)


def longest_first(candidates: Candidates) -> Int64 | None:
    """Return the assignment that gives the heaviest partition left to the least loaded member.

    Graham's rule (1969, doi:10.1137/0117039) with counts: of each pile, members get no more than
    `least` partitions while the partitions left are only enough for all to reach `least`.

    Returns
    -------
    (read,) int64 members; None if some partition finds no member, which can happen only if
    members may hold different partitions
    """
    holder = np.full(len(candidates.read), -1, np.int64)
    loads = np.zeros(candidates.members, np.int64)
    held = np.zeros(candidates.least.shape, np.int64)
    spare = np.bincount(candidates.pile, minlength=len(held)) - candidates.least.sum(axis=1)
    for p in np.lexsort((np.arange(len(holder)), -candidates.size)).tolist():
        pile = int(candidates.pile[p])
        limit = candidates.most[pile] if spare[pile] > 0 else candidates.least[pile]
        open_to = np.flatnonzero(candidates.may[candidates.kind[p]] & (held[pile] < limit))
        if not len(open_to):
            return None
        heights = candidates.heights(loads + candidates.size[p] * (candidates.rate is not None))
        member = int(open_to[heights[open_to].argmin()])
        spare[pile] -= held[pile, member] >= candidates.least[pile, member]
        holder[p] = member
        held[pile, member] += 1
        loads[member] += candidates.size[p]
    return holder if candidates.keeps(holder) else None


def fewest_moves(candidates: Candidates) -> Int64 | None:
    """Return the candidate that moves the fewest partitions; the lightest of a class stay.

    A class is the partitions of one kind, pile and owner: they stay with their owner, or move to
    a member that may hold their kind. The numbers come from a minimum cost flow.

    Returns
    -------
    (read,) int64 members; None if no assignment keeps to the numbers that members may hold
    """
    home = candidates.home
    if (candidates.least > candidates.most).any():
        return None
    classes, of_class = np.unique(
        np.stack((candidates.pile, candidates.kind, home)), axis=1, return_inverse=True
    )
    of_class = of_class.reshape(-1)
    pools, of_pool = np.unique(classes[:2], axis=1, return_inverse=True)
    of_pool = of_pool.reshape(-1)
    number = np.bincount(of_class, minlength=classes.shape[1])
    (pile, kind, owner), members = classes, candidates.members
    stays = (owner >= 0) & candidates.may[kind, np.maximum(owner, 0)]
    place = np.flatnonzero(stays)
    pool, member = np.nonzero(candidates.may[pools[1]])
    seats = np.flatnonzero(candidates.most.reshape(-1) > 0)
    least = candidates.least.reshape(-1)[seats]
    room = np.minimum(candidates.most.reshape(-1)[seats], len(home))
    first_pool = len(number)
    first_seat = first_pool + pools.shape[1]
    sink = first_seat + candidates.most.size
    classes_in = np.arange(len(number))
    tails = (place, classes_in, first_pool + pool, first_seat + seats, first_seat + seats)
    heads = (
        first_seat + pile[place] * members + owner[place],
        first_pool + of_pool,
        first_seat + pools[0][pool] * members + member,
        np.full(len(seats), sink),
        np.full(len(seats), sink),
    )
    room_in_pool = np.bincount(of_pool, number, pools.shape[1]).astype(np.int64)
    capacity = (number[place], number, room_in_pool[pool], least, room - least)
    moved = np.where(owner >= 0, 1, 0)
    nothing = np.zeros(len(seats), np.int64)
    cost = (np.zeros(len(place)), moved, np.zeros(len(pool)), nothing - len(home) - 1, nothing)
    solver = min_cost_flow.SimpleMinCostFlow()
    arcs = solver.add_arcs_with_capacity_and_unit_cost(
        *(np.concatenate(column).astype(np.int64) for column in (tails, heads, capacity, cost))
    )
    supply = np.concatenate((number, np.zeros(sink - first_pool, np.int64), [-len(home)]))
    solver.set_nodes_supplies(np.arange(sink + 1), supply)
    if solver.solve() != solver.OPTIMAL:
        return None
    flow = solver.flows(arcs)
    ends = np.cumsum([len(column) for column in tails])
    if (flow[ends[2] : ends[3]] < least).any():
        return None
    stay = np.zeros(len(number), np.int64)
    stay[place] = flow[: ends[0]]
    got = flow[ends[1] : ends[2]]
    return _assign(candidates, of_class, stay, of_pool, (pool, member, got))


def _assign(
    candidates: Candidates,
    of_class: Int64,
    stay: Int64,
    of_pool: Int64,
    gets: tuple[Int64, Int64, Int64],
) -> Int64:
    """Let the lightest of each class stay; give the others to the least loaded, heaviest first.

    Parameters
    ----------
    of_class, of_pool : (read,) class of each partition, (classes,) pool of each class
    stay : (classes,) how many partitions stay with their owner
    gets : pool, member, and how many partitions of the pool the member gets
    """
    home = candidates.home
    holder = np.full(len(home), -1, np.int64)
    order = np.lexsort((candidates.size, of_class))
    starts = np.searchsorted(of_class[order], np.arange(len(stay)))
    rank = np.arange(len(order)) - starts[of_class[order]]
    staying = order[rank < stay[of_class[order]]]
    holder[staying] = home[staying]
    loads = np.zeros(candidates.members, np.int64)
    np.add.at(loads, home[staying], candidates.size[staying])
    room = np.zeros((int(of_pool.max(initial=-1)) + 1, candidates.members), np.int64)
    room[gets[0], gets[1]] = gets[2]
    left = np.flatnonzero(holder < 0)
    for p in left[np.argsort(-candidates.size[left], kind="stable")].tolist():
        open_to = np.flatnonzero(room[of_pool[of_class[p]]])
        member = int(open_to[loads[open_to].argmin()])
        room[of_pool[of_class[p]], member] -= 1
        holder[p] = member
        loads[member] += candidates.size[p]
    return holder
