"""Sums of all subsets, and the two of them that meet closest to a target."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from groups.arrays import frozen

if TYPE_CHECKING:
    from groups.arrays import Int64

# The most that is enumerated at once: subsets of one half of the partitions.
HALF = 10


@lru_cache(maxsize=32)
def subsets(n: int) -> Int64:
    """(2^n, n) int64: 1 where the subset of that number has the element."""
    return frozen((np.arange(2**n)[:, None] >> np.arange(n)) & 1)


@lru_cache(maxsize=32)
def sizes(n: int) -> Int64:
    """(2^n,) int64: how many elements each subset has."""
    return frozen(subsets(n).sum(axis=1))


def subset_sums(values: Int64) -> Int64:
    """(2^n,) int64: the sum of each subset of (n,) int64."""
    sums = np.zeros(2 ** len(values), np.int64)
    for i, value in enumerate(values.tolist()):
        np.add(sums[: 2**i], value, out=sums[2**i : 2 ** (i + 1)])
    return sums


class Half(NamedTuple):
    """Ways to pick from one half of the partitions.

    Attributes
    ----------
    sums : (ways,) int64, ascending where it is the second half
    picks : number of each way, for whoever made them
    """

    sums: Int64
    picks: Int64


def meet(first: Half, second: Half, twice: int, least: int, most: int) -> tuple[int, int, int]:
    """Return the sum closest to a target of one way of each half, and the numbers of the two.

    Meet in the middle (Horowitz and Sahni 1974, doi:10.1145/321812.321823): for each way of the
    first half the closest one of the second is next to where the rest would stand.

    Parameters
    ----------
    second : its sums ascend
    twice : twice the target, which may lie between two integers
    least, most : sums outside are of no use, and the target is not outside

    Returns
    -------
    the sum and the numbers; -1 for the numbers where no sum is of use
    """
    rest = np.searchsorted(second.sums, twice // 2 - first.sums, side="right")
    best = (2 * (most - least) + 2, least - 1, -1, -1)
    for at in (np.maximum(rest - 1, 0), np.minimum(rest, len(second.sums) - 1)):
        found = first.sums + second.sums[at]
        off = np.abs(2 * found - twice)
        off[(found < least) | (found > most)] = best[0]
        i = int(off.argmin())
        if off[i] < best[0]:
            best = int(off[i]), int(found[i]), int(first.picks[i]), int(second.picks[at[i]])
    return best[1:]
