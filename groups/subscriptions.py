"""Subscriptions: the distinct topic lists of a group, and which of them each member reads."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    Ints = npt.NDArray[np.integer[Any]]
    Int32 = npt.NDArray[np.int32]
    Int64 = npt.NDArray[np.int64]
    Rows = tuple[Int64, Int32]

Integer = TypeVar("Integer", bound=np.integer[Any])
# What the rows are compared in at once stays in the processor's cache.
AT_ONCE = 2**18


def distinct(indptr: Int64, topics: Int32) -> tuple[Rows, Int32]:
    """Put equal rows of a CSR together, in the order of their first members.

    Parameters
    ----------
    indptr, topics : CSR; row i is what member i reads

    Returns
    -------
    The CSR of the distinct rows, int64 and int32, and (members,) int32: the row of each member.
    """
    members = len(indptr) - 1
    if members > 0 and _equal(indptr, topics):
        return (indptr[:2], topics[: indptr[1]]), np.zeros(members, np.int32)
    # A dictionary of the rows' bytes compares them in full wherever hashes meet.
    raw, ends = topics.tobytes(), (indptr * topics.itemsize).tolist()
    number: dict[bytes, int] = {}
    row = np.array([number.setdefault(raw[a:b], len(number)) for a, b in pairwise(ends)], np.int32)
    if len(number) == members:
        return (indptr, topics), row
    starts = np.cumsum([0, *map(len, number)], dtype=np.int64) // topics.itemsize
    return (starts, np.frombuffer(b"".join(number), topics.dtype)), row


def in_use(indptr: Int64, topics: Int32, row: Int32) -> tuple[Rows, Int32]:
    """Leave out the rows that no member reads; the others stay in their order."""
    used = np.zeros(len(indptr) - 1, bool)
    used[row] = True
    if used.all():
        return (indptr, topics), row
    kept = np.flatnonzero(used)
    lengths = np.diff(indptr)[kept]
    place = np.cumsum(used) - 1
    starts = np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)
    return (starts, entries(indptr, topics, kept)[1]), place[row].astype(np.int32)


def entries(
    indptr: Int64, listed: npt.NDArray[Integer], rows: Ints
) -> tuple[Int64, npt.NDArray[Integer]]:
    """Return (place in `rows`, what is listed) for every entry of some rows of a CSR."""
    start = indptr[rows]
    length = indptr[np.asarray(rows, np.int64) + 1] - start
    which = np.repeat(np.arange(len(rows)), length)
    before = np.cumsum(length) - length
    return which, listed[np.arange(len(which)) + np.repeat(start - before, length)]


def _equal(indptr: Int64, topics: Int32) -> bool:
    """Say whether all rows are the same; there is one at least."""
    length = int(indptr[1])
    if (np.diff(indptr) != length).any():
        return False
    if not length:
        return True
    rows, step = topics.reshape(-1, length), max(AT_ONCE // length, 1)
    return all(
        bool((rows[start : start + step] == rows[0]).all()) for start in range(0, len(rows), step)
    )
