"""Parts: what a column adds up to in each part of it, such as the groups of a fleet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from groups.arrays import Bools, Int64, Ints


# What sums are split in, that they stay inside 64 bits.
HALF = 32
SAFE = 2.0**62


def sums(column: Ints | Bools, start: Int64) -> Int64:
    """Return the sum of a column over each part, (parts,) int64.

    Parameters
    ----------
    start : (parts + 1,) int64, where each part begins in the column; the first begins at 0
    """
    if len(start) == 2:
        counted = np.count_nonzero(column) if column.dtype == bool else column.sum(dtype=np.int64)
        return np.array([counted], np.int64)
    running = np.concatenate(([0], np.cumsum(column, dtype=np.int64)))
    return np.asarray(running[start[1:]] - running[start[:-1]])


def starts(lengths: Int64) -> Int64:
    """(..., parts + 1) int64: where parts of these lengths begin, then where the last ends."""
    found = np.zeros((*lengths.shape[:-1], lengths.shape[-1] + 1), np.int64)
    np.cumsum(lengths, axis=-1, out=found[..., 1:])
    return found


def exact_sums(column: Int64 | Bools, start: Int64) -> npt.NDArray[Any]:
    """Return the same as Python integers where a sum may leave 64 bits."""
    furthest = max(-float(column.min(initial=0)), float(column.max(initial=0)))
    if furthest * len(column) < SAFE:
        return sums(column, start)
    high, low = sums(column >> HALF, start), sums(column & (2**HALF - 1), start)
    return np.asarray((high.astype(object) << HALF) + low, object)


def some(column: Bools, start: Int64) -> Bools:
    """Return for each part whether one of its entries is true, (parts,) bool."""
    return np.asarray(sums(column, start) > 0)


def greatest(column: npt.NDArray[Any], start: Int64) -> npt.NDArray[Any]:
    """Return the greatest of a column, 0 or more, in each part; 0 of one without entries."""
    return _reduced(np.maximum, column, start)


def least(column: npt.NDArray[Any], start: Int64) -> npt.NDArray[Any]:
    """Return the least of a column in each part; 0 of one without entries."""
    return _reduced(np.minimum, column, start)


def _reduced(by: np.ufunc, column: npt.NDArray[Any], start: Int64) -> npt.NDArray[Any]:
    found = np.zeros(len(start) - 1, column.dtype)
    there = np.flatnonzero(start[1:] > start[:-1])
    if len(there):
        found[there] = by.reduceat(column, start[there])
    return found
