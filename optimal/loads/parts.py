"""Parts: all sets of partitions that one member may hold under a given peak.

If M members of total weight T may carry at most P each, they have a budget of M * P - T together.
A part that weighs less than P minus the budget leaves too much for the others. If P is close to
the average, few of all combinations of partitions are parts.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, combinations
from math import comb
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from groups.arrays import frozen

if TYPE_CHECKING:
    from groups.arrays import Int64


Bits = npt.NDArray[np.uint64]

WORD = 64
# Limits of the enumeration: half parts, parts, and pairs of half parts whose weight fits.
MOST_HALVES = 400_000
MOST_PARTS = 400_000
MOST_PAIRS = 4_000_000


@dataclass(frozen=True, eq=False)
class Parts:
    """The sets of partitions that one member may hold, the same for every member.

    Partitions are numbered by how far their weight is from the middle of all weights, the most
    extreme first: few parts hold an extreme one.

    Attributes
    ----------
    peak : the greatest weight of a part
    members : how many members share the partitions
    size : (partitions,) int64, in that order
    bits : (words, parts) uint64, the partitions of each part as bits, 64 in a word
    slack : (budgets, parts) int64, what each part takes of each budget; of the first budget, the
        peak minus its weight, ascending among parts of one first partition
    budget : (budgets,) int64, what all members together may take: first of the peak, then of each
        list of prices (`optimal.loads.bin_completion`)
    starts : (partitions + 1,) int64, where the parts begin of which a partition is the first
    """

    peak: int
    members: int
    size: Int64
    bits: Bits
    slack: Int64
    budget: Int64
    starts: Int64

    def holds(self, which: list[int] | slice = slice(None)) -> Int64:
        """(parts, partitions) int64: 1 where a part holds a partition; `which` selects parts."""
        number = np.arange(len(self.size))
        bits = self.bits[:, which]
        held = bits[number // WORD] >> (number % WORD).astype(np.uint64)[:, None]
        return (held & np.uint64(1)).astype(np.int64).T


def extreme_first(size: Int64) -> Int64:
    """(partitions,) int64: indices of the partitions, the most extreme weight first."""
    if not len(size):
        return np.zeros(0, np.int64)
    twice_middle = int(size.min()) + int(size.max())
    return np.argsort(-np.abs(2 * size - twice_middle), kind="stable")


def parts_within(size: Int64, members: int, counts: range, peak: int) -> Parts | None:
    """Return all parts under a peak; None if there are too many to enumerate.

    Parameters
    ----------
    size : (partitions,) int64, extreme ones first
    counts : how many partitions a member may hold
    """
    budget = members * peak - int(size.sum())
    found: list[Int64] = []
    held: list[Bits] = []
    for count in counts:
        if count == 0 or budget < 0:
            # Every member gets a part with the first partition left, so none gets an empty one.
            continue
        rows = _combinations(size, count, peak - budget, peak)
        if rows is None or sum(map(len, found)) + len(rows) > MOST_PARTS:
            return None
        found.append(peak - size[rows].sum(axis=1))
        held.append(_as_bits(rows, len(size)))
    words = -(-len(size) // WORD)
    bits = np.concatenate([np.zeros((words, 0), np.uint64), *held], axis=1)
    slack = np.concatenate([np.zeros(0, np.int64), *found])
    first = first_free(~bits, len(size))
    order = np.lexsort((slack, first))
    starts = np.searchsorted(first[order], np.arange(len(size) + 1))
    budgets = np.array([budget], np.int64)
    return Parts(peak, members, size, bits[:, order], slack[None, order], budgets, starts)


def first_free(taken: Bits, partitions: int) -> Int64:
    """(ways,) int64: the first partition that is not taken; `partitions` where all are."""
    first = np.full(taken.shape[1], partitions, np.int64)
    for word in range(len(taken) - 1, -1, -1):
        free = ~taken[word]
        lowest = free & (~free + np.uint64(1))
        there = lowest > 0
        # A power of two is exact as a float.
        first[there] = WORD * word + np.log2(lowest[there].astype(np.float64)).astype(np.int64)
    return np.minimum(first, partitions)


def _as_bits(rows: Int64, partitions: int) -> Bits:
    """(words, parts) uint64: the partitions of each row, as bits."""
    bits = np.zeros((-(-partitions // WORD), len(rows)), np.uint64)
    for column in rows.T:
        word, bit = np.divmod(column, WORD)
        bits[word, np.arange(len(rows))] |= np.uint64(1) << bit.astype(np.uint64)
    return bits


def _combinations(size: Int64, count: int, least: int, most: int) -> Int64 | None:
    """(parts, count) int64: combinations whose weight is in a window; None if too many.

    Each is put together from two halves, the second of later partitions than the first (Horowitz
    and Sahni 1974, doi:10.1145/321812.321823).
    """
    short, long = count // 2, count - count // 2
    if comb(len(size), long) > MOST_HALVES:
        return None
    first, second = _all_combinations(len(size), short), _all_combinations(len(size), long)
    weight = size[first].sum(axis=1)
    order = np.argsort(weight, kind="stable")
    first, weight = first[order], weight[order]
    rest = size[second].sum(axis=1)
    start = np.searchsorted(weight, least - rest, side="left")
    ways = np.maximum(np.searchsorted(weight, most - rest, side="right") - start, 0)
    pairs = int(ways.sum())
    if pairs > MOST_PAIRS:
        return None
    of = np.repeat(np.arange(len(second)), ways)
    at = np.arange(pairs) + np.repeat(start - (np.cumsum(ways) - ways), ways)
    if short:
        ascending = first[at, -1] < second[of, 0]
        of, at = of[ascending], at[ascending]
    return np.concatenate((first[at], second[of]), axis=1)


@lru_cache(maxsize=8)
def _all_combinations(partitions: int, count: int) -> Int64:
    """(combinations, count) int64: all combinations of so many partitions, in ascending order."""
    every = chain.from_iterable(combinations(range(partitions), count))
    return frozen(np.fromiter(every, np.int64).reshape(comb(partitions, count), count))
