"""Topic lists: the rows of a CSR, each list kept once."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from groups.arrays import column, integers
from groups.errors import BadInput

if TYPE_CHECKING:
    import numpy.typing as npt

    from groups.arrays import I, Int32, Int64, Ints

# What the rows are compared in at once stays in the processor's cache.
AT_ONCE = 2**18


def require_rising(indptr: Ints, entries: int) -> None:
    """Raise BadInput unless the ends of the rows rise from 0 to the number of entries."""
    if not len(indptr) or indptr[0] != 0 or indptr[-1] != entries or (np.diff(indptr) < 0).any():
        raise BadInput(
            f"subscription_indptr: expected to rise from 0 to {entries}, "
            "the length of subscription_topics"
        )


def of_members(
    indptr: npt.ArrayLike, listed: npt.ArrayLike, row: npt.ArrayLike | None, members: int
) -> tuple[Int64, npt.NDArray[Any], Int32]:
    """Return (indptr, listed, row of each member) with the rows that somebody reads.

    Parameters
    ----------
    row : (members,) int; None: row i is what member i reads

    Returns
    -------
    Equal rows are put together.

    Raises
    ------
    BadInput
        Where the ends of the rows, or the rows of the members, are not what they are to be.
    """
    length = members + 1 if row is None else None
    ends = column(indptr, "subscription_indptr", np.int64, length=length)
    given = integers(listed, "subscription_topics")
    require_rising(ends, len(given))
    if row is None:
        return distinct(ends, given)
    rows = (len(ends) - 1, "rows")
    read = column(row, "subscription_row", np.int32, length=members, below=rows)
    ends, given, of_row = distinct(ends, given)
    return in_use(ends, given, of_row[read])


def distinct(indptr: Int64, listed: npt.NDArray[I]) -> tuple[Int64, npt.NDArray[I], Int32]:
    """Put equal rows of a CSR together, in the order of their first members.

    Parameters
    ----------
    indptr, listed : CSR; row i is what member i reads

    Returns
    -------
    The two columns of the distinct rows, and (members,) int32: the row of each member.
    """
    members = len(indptr) - 1
    if members > 0 and _equal(indptr, listed):
        return indptr[:2], listed[: indptr[1]], np.zeros(members, np.int32)
    # A dictionary of the rows' bytes compares them in full wherever hashes meet.
    raw, ends = listed.tobytes(), (indptr * listed.itemsize).tolist()
    number: dict[bytes, int] = {}
    row = np.array([number.setdefault(raw[a:b], len(number)) for a, b in pairwise(ends)], np.int32)
    if len(number) == members:
        return indptr, listed, row
    starts = np.cumsum([0, *map(len, number)], dtype=np.int64) // listed.itemsize
    return starts, np.frombuffer(b"".join(number), listed.dtype), row


def in_use(
    indptr: Int64, listed: npt.NDArray[I], row: Int32
) -> tuple[Int64, npt.NDArray[I], Int32]:
    """Leave out the rows that no member reads; the others stay in their order."""
    used = np.zeros(len(indptr) - 1, bool)
    used[row] = True
    if used.all():
        return indptr, listed, row
    kept = np.flatnonzero(used)
    starts = np.concatenate(([0], np.cumsum(np.diff(indptr)[kept]))).astype(np.int64)
    place = np.cumsum(used) - 1
    return starts, entries(indptr, listed, kept)[1], place[row].astype(np.int32)


def entries(indptr: Int64, listed: npt.NDArray[I], rows: Ints) -> tuple[Int64, npt.NDArray[I]]:
    """Return (place in `rows`, topic) for every entry of some rows of a CSR."""
    start = indptr[rows]
    length = indptr[np.asarray(rows, np.int64) + 1] - start
    which = np.repeat(np.arange(len(rows)), length)
    before = np.cumsum(length) - length
    return which, listed[np.arange(len(which)) + np.repeat(start - before, length)]


def _equal(indptr: Int64, listed: Ints) -> bool:
    """Return whether all rows are the same; there is one at least."""
    length = int(indptr[1])
    if (np.diff(indptr) != length).any():
        return False
    if not length:
        return True
    rows, step = listed.reshape(-1, length), max(AT_ONCE // length, 1)
    return all(
        bool((rows[start : start + step] == rows[0]).all()) for start in range(0, len(rows), step)
    )
