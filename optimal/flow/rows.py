"""Rows of a CSR that are equal, put together."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from collections.abc import Sequence

    from groups.arrays import Int64, Ints

# Few rows are compared sooner than columns are made of them.
FEW = 300
ODD = np.uint64(0x9E3779B97F4A7C15)


def alike(
    indptr: Int64, entries: Ints, width: int, told_apart: Sequence[Ints] = ()
) -> tuple[Int64, Int64]:
    """Return (number of each row, first row of each number) where equal rows share a number.

    A random 64-bit word per entry, summed, finds the candidates; they are then compared.

    Parameters
    ----------
    indptr, entries : CSR, entries below `width`
    told_apart : (rows,) each; rows are equal only where these are, too

    Returns
    -------
    (rows,) and (numbers,) int64; numbers ascend with their first rows
    """
    length = np.diff(indptr)
    if _all_alike(length, entries, told_apart):
        return np.zeros(len(length), np.int64), np.zeros(1, np.int64)
    if len(entries) + len(length) <= FEW:
        return _few(indptr, entries, told_apart)
    rows = np.repeat(np.arange(len(length)), length)
    within = np.arange(len(entries)) - indptr[rows]
    seed = 0
    while True:
        words = words_of(seed, width)
        sums = np.concatenate(([np.uint64(0)], np.cumsum(words[entries], dtype=np.uint64)))
        key = sums[indptr[1:]] - sums[indptr[:-1]]
        for which, column in enumerate(told_apart):
            key = (key ^ (key >> np.uint64(29))) * ODD + column.astype(np.uint64) * words[which]
        _, first, number = np.unique(key, return_index=True, return_inverse=True)
        sample = first[number]
        same = (length == length[sample]).all() and all(
            (column == column[sample]).all() for column in told_apart
        )
        if same and (entries == entries[indptr[sample[rows]] + within]).all():
            break
        seed += 1
    order = np.argsort(first)
    rank = np.empty(len(first), np.int64)
    rank[order] = np.arange(len(first))
    return rank[number], first[order]


def _few(indptr: Int64, entries: Ints, told_apart: Sequence[Ints]) -> tuple[Int64, Int64]:
    """Return the same for few rows, compared one by one."""
    ends, others = indptr.tolist(), zip(*(column.tolist() for column in told_apart), strict=True)
    listed = entries.tolist()
    known: dict[tuple[object, ...], int] = {}
    number: list[int] = []
    first: list[int] = []
    for row, (start, end) in enumerate(pairwise(ends)):
        key = (tuple(listed[start:end]), next(others, ()))
        if key not in known:
            known[key] = len(first)
            first.append(row)
        number.append(known[key])
    return np.array(number, np.int64), np.array(first, np.int64)


def _all_alike(length: Int64, entries: Ints, told_apart: Sequence[Ints]) -> bool:
    if not len(length) or (length != length[0]).any():
        return False
    if any((column != column[0]).any() for column in told_apart):
        return False
    if len(length) == 1:
        return True
    rows = entries.reshape(len(length), -1)
    return bool((rows == rows[0]).all())


def words_of(seed: int, width: int) -> npt.NDArray[np.uint64]:
    """(width + 8,) uint64: words that look random (splitmix64: Steele, Lea & Flood 2014)."""
    word = (np.arange(width + 8, dtype=np.uint64) + np.uint64(seed * 2**32 + 1)) * ODD
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return word ^ (word >> np.uint64(31))
