"""Parts: what a column adds up to in each part of it, such as the groups of a fleet."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from groups.arrays import Bools, Int64, Ints


def sums(column: Ints | Bools, start: Int64) -> Int64:
    """Return the sum of a column over each part, (parts,) int64.

    Parameters
    ----------
    start : (parts + 1,) int64, where each part begins in the column
    """
    running = np.concatenate(([0], np.cumsum(column, dtype=np.int64)))
    return np.asarray(running[start[1:]] - running[start[:-1]])


def some(column: Bools, start: Int64) -> Bools:
    """Say of each part whether one of its entries is true, (parts,) bool."""
    return np.asarray(sums(column, start) > 0)


def greatest(column: Int64, start: Int64) -> Int64:
    """Return the greatest of a column, 0 or more, in each part; 0 of one without entries."""
    found = np.zeros(len(start) - 1, np.int64)
    there = np.flatnonzero(start[1:] > start[:-1])
    if len(there):
        found[there] = np.maximum.reduceat(column, start[there])
    return found
