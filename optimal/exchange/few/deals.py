"""Deals: parts given to one member after the other, in many ways at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from optimal.exchange.few.parts import first_free

if TYPE_CHECKING:
    from collections.abc import Iterator

    from groups.arrays import Int64
    from optimal.exchange.few.parts import Bits, Parts


@dataclass(frozen=True, eq=False)
class Deals:
    """Ways to give parts to some of the members, no partition twice.

    The next member always gets a part with the first partition that is left: members are alike,
    so every assignment is met once.

    Attributes
    ----------
    dealt : how many members have their part
    taken : (words, ways) uint64, the partitions that are given
    left : (budgets, ways) int64, what is left of each budget
    before : the deals that these continue, None at the start
    of : (ways,) int64, which of them each continues
    part : (ways,) int64, number of the part that was given last
    """

    dealt: int
    taken: Bits
    left: Int64
    before: Deals | None
    of: Int64
    part: Int64

    def __len__(self) -> int:
        """Return the number of ways."""
        return len(self.part)

    def some(self, which: Int64 | slice) -> Deals:
        """Return some of the ways."""
        taken, left = self.taken[:, which], self.left[:, which]
        return Deals(self.dealt, taken, left, self.before, self.of[which], self.part[which])

    def parts_of(self, way: int) -> list[int]:
        """Return the numbers of the parts of one way, the last one first."""
        numbers, deals = [], self
        while deals.before is not None:
            numbers.append(int(deals.part[way]))
            deals, way = deals.before, int(deals.of[way])
        return numbers


def nothing_dealt(parts: Parts) -> Deals:
    """Return the one way to give nobody anything."""
    none = np.zeros(1, np.int64)
    taken = np.zeros((len(parts.bits), 1), np.uint64)
    return Deals(0, taken, parts.budget[:, None], None, none, none)


def continuations(parts: Parts, deals: Deals) -> tuple[Int64, Int64]:
    """Return the (way, part) of every deal to one more member, (continuations,) int64 each."""
    ways, numbers = [], []
    for some, start, end in _alike(parts, deals):
        fits = deals.left[0, some, None] >= parts.slack[0, start:end]
        for taken, bits in zip(deals.taken, parts.bits, strict=True):
            fits &= (taken[some, None] & bits[start:end]) == 0
        way, number = np.nonzero(fits)
        ways.append(some[way])
        numbers.append(start + number)
    none = np.zeros(0, np.int64)
    way, number = np.concatenate((none, *ways)), np.concatenate((none, *numbers))
    for left, slack in zip(deals.left[1:], parts.slack[1:], strict=True):
        enough = left[way] >= slack[number]
        way, number = way[enough], number[enough]
    return way, number


def _alike(parts: Parts, deals: Deals) -> Iterator[tuple[Int64, int, int]]:
    """Yield ways of one first partition that is left, and the range of parts to try for them."""
    first = first_free(deals.taken, len(parts.size))
    # Short integers are sorted by counting.
    order = np.argsort(first.astype(np.uint16), kind="stable")
    at = np.searchsorted(first[order], np.arange(len(parts.size) + 1))
    for p in np.flatnonzero(np.diff(at)).tolist():
        of_p = order[at[p] : at[p + 1]]
        start, end = int(parts.starts[p]), int(parts.starts[p + 1])
        most = int(deals.left[0, of_p].max())
        tried = int(np.searchsorted(parts.slack[0, start:end], most, side="right"))
        if tried:
            yield of_p, start, start + tried


def continued(parts: Parts, deals: Deals, way: Int64, part: Int64) -> Deals:
    """Return the deals in which some ways go on with some parts."""
    taken = deals.taken[:, way] | parts.bits[:, part]
    left = deals.left[:, way] - parts.slack[:, part]
    return Deals(deals.dealt + 1, taken, left, deals, way, part)


def complete(parts: Parts, deals: Deals) -> Int64:
    """(ways,) int64: the ways in which everything is given to all members."""
    if deals.dealt != parts.members:
        return np.zeros(0, np.int64)
    return np.flatnonzero((deals.taken == parts.everything[:, None]).all(axis=0))
