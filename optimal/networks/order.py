"""Order: orders, ranks and numbers of large integer columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from groups.arrays import Int64, Ints


def order_by(key: Ints) -> Int64:
    """Return the stable ascending order of a column of integers of 0 or more.

    Small keys are sorted by radix; larger ones share a 64-bit word with their position, so that
    the fastest sort there is leaves equal keys in order.
    """
    count = len(key)
    greatest = int(key.max(initial=0))
    if greatest < 2**16:
        return np.argsort(key.astype(np.uint16), kind="stable")
    bits = max(count - 1, 1).bit_length()
    if greatest.bit_length() + bits > 62:
        return np.argsort(key, kind="stable")
    words = (key.astype(np.int64) << bits) | np.arange(count)
    words.sort()
    return words & ((1 << bits) - 1)


def ranks(sizes: Int64) -> Int64:
    """Return the ranks 0, 1, ... inside runs of so many entries: (sum of sizes,) int64."""
    return np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)


def numbered(key: Int64, width: int) -> tuple[Int64, Int64]:
    """Return (distinct keys ascending, number of each entry's key among them).

    Keys are below `width`; where that is not much more than there are entries, counting does it.
    """
    if width > 4 * len(key) + 1024:
        distinct, number = np.unique(key, return_inverse=True)
        return distinct, number.astype(np.int64)
    there = np.zeros(width, bool)
    there[key] = True
    distinct = np.flatnonzero(there)
    index = np.cumsum(there) - 1
    return distinct, index[key]
