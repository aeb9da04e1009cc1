"""Incumbent: who holds what in the search, and what each member carries."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from groups.arrays import Bools, Floats, Int64
    from optimal.loads.candidates import Candidates


class Incumbent:
    """An assignment that exchanges change, one of the candidates at all times.

    Attributes
    ----------
    holder : (read,) int64, member that holds each read partition
    loads : (members,) int64, lag or weight that each member carries
    held : (piles, members) int64, how many partitions of each pile a member holds
    of : of each member the partitions that it holds, positions among the read ones
    """

    def __init__(self, candidates: Candidates, holder: Int64) -> None:
        """Count what everybody holds."""
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
        """What the busiest member carries, or the seconds that the last one takes."""
        return self.candidates.peak(self.loads)

    @property
    def heights(self) -> Int64 | Floats:
        """(members,): what members carry, or the seconds of it, to be held against each other."""
        return self.candidates.heights(self.loads)

    @property
    def busiest(self) -> int:
        """The member that carries most."""
        return int(self.heights.argmax())

    @property
    def moved(self) -> Bools:
        """(read,) bool: whether a partition has an owner and is not with it."""
        home = self.candidates.home
        return np.asarray((home >= 0) & (home != self.holder), bool)

    @property
    def moves(self) -> int:
        """How many partitions have left their owner."""
        return int(self.moved.sum())

    @property
    def moves_left(self) -> int | None:
        """How many more moves there may be, None for any number."""
        return None if self.candidates.moves is None else self.candidates.moves - self.moves

    def copy(self) -> Incumbent:
        """Return the same assignment, to be changed by itself."""
        return Incumbent(self.candidates, self.holder)

    def worst(self, members: Iterable[int], parts: Iterable[Int64]) -> float:
        """Return how high the highest of some members would be with these partitions."""
        sums = [int(self.candidates.size[part].sum()) for part in parts]
        if self.candidates.rate is None:
            return max(sums)
        rates = self.candidates.rate[list(members)].tolist()
        return max(float(one / rate) for one, rate in zip(sums, rates, strict=True))

    def give(self, members: Iterable[int], parts: Iterable[Int64]) -> None:
        """Let members hold other parts of what they hold together.

        Parameters
        ----------
        parts : of each of the members the partitions that it holds from now on
        """
        for member, part in zip(members, parts, strict=True):
            self.of[member] = part
            self.holder[part] = member
            self.loads[member] = self.candidates.size[part].sum()
            self.held[:, member] = 0
            np.add.at(self.held[:, member], self.candidates.pile[part], 1)
