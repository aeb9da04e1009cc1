"""Hands: who holds what in the search, and what each member carries."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from groups.arrays import Floats, Int64
    from optimal.exchange.choices import Choices


class Hands:
    """An assignment that exchanges change, one of the choices at all times.

    Attributes
    ----------
    holder : (read,) int64, member that holds each read partition
    loads : (members,) int64, lag or weight that each member carries
    held : (piles, members) int64, how many partitions of each pile a member holds
    of : of each member the partitions that it holds, positions among the read ones
    """

    def __init__(self, choices: Choices, holder: Int64) -> None:
        """Count what everybody holds."""
        self.choices = choices
        self.holder = holder.copy()
        self.loads = np.zeros(choices.members, np.int64)
        np.add.at(self.loads, holder, choices.size)
        self.held = np.zeros(choices.least.shape, np.int64)
        np.add.at(self.held, (choices.pile, holder), 1)
        order = np.argsort(holder, kind="stable")
        ends = np.cumsum(np.bincount(holder, minlength=choices.members))[:-1]
        self.of: list[Int64] = np.split(order, ends)

    @property
    def peak(self) -> int:
        """What the busiest member carries, or the seconds that the last one takes."""
        return self.choices.peak(self.loads)

    @property
    def heights(self) -> Int64 | Floats:
        """(members,): what members carry, or the seconds of it, to be held against each other."""
        return self.choices.heights(self.loads)

    @property
    def busiest(self) -> int:
        """The member that carries most."""
        return int(self.heights.argmax())

    def worst(self, members: Iterable[int], parts: Iterable[Int64]) -> float:
        """Return how high the highest of some members would be with these partitions."""
        sums = [int(self.choices.size[part].sum()) for part in parts]
        if self.choices.rate is None:
            return max(sums)
        rates = self.choices.rate[list(members)].tolist()
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
            self.loads[member] = self.choices.size[part].sum()
            self.held[:, member] = 0
            np.add.at(self.held[:, member], self.choices.pile[part], 1)
