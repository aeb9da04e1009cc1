"""Subscriptions: the distinct topic lists of a group, and which of them each member reads."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from groups.arrays import DENSE, as_immutable, column, contains, flags, frozen, integers, starts
from groups.errors import BadInput

if TYPE_CHECKING:
    import numpy.typing as npt

    from groups.arrays import Bools, I, Int32, Int64, Ints


# Pairs looked up at once, so that they stay in the processor's cache.
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
    """Return (indptr, listed, row of each member) with equal rows merged and unread rows dropped.

    Parameters
    ----------
    row : (members,) int; None: member i reads row i

    Raises
    ------
    BadInput
        If the ends of the rows, or the rows of the members, have wrong lengths or values.
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
    """Merge equal rows of a CSR, in the order of their first members.

    Parameters
    ----------
    indptr, listed : CSR; member i reads row i

    Returns
    -------
    The two columns of the distinct rows, and (members,) int32: the row of each member.
    """
    members = len(indptr) - 1
    # A dictionary with the rows' bytes as keys: equal hashes are followed by a full comparison.
    raw, at = listed.tobytes(), (indptr * listed.itemsize).tolist()
    number: dict[bytes, int] = {}
    row = np.array([number.setdefault(raw[a:b], len(number)) for a, b in pairwise(at)], np.int32)
    if len(number) == members:
        return indptr, listed, row
    ends = np.cumsum([0, *map(len, number)], dtype=np.int64) // listed.itemsize
    return ends, np.frombuffer(b"".join(number), listed.dtype), row


def in_use(
    indptr: Int64, listed: npt.NDArray[I], row: Int32
) -> tuple[Int64, npt.NDArray[I], Int32]:
    """Return the CSR and rows of members without rows that no member reads, in the same order."""
    used = np.zeros(len(indptr) - 1, bool)
    used[row] = True
    if used.all():
        return indptr, listed, row
    kept = np.flatnonzero(used)
    place = np.cumsum(used) - 1
    ends = starts(np.diff(indptr)[kept])
    return ends, entries(indptr, listed, kept)[1], place[row].astype(np.int32)


def entries(indptr: Int64, listed: npt.NDArray[I], rows: Ints) -> tuple[Int64, npt.NDArray[I]]:
    """Return (index into `rows`, topic) for every entry of some rows of a CSR."""
    start = indptr[rows]
    length = indptr[np.asarray(rows, np.int64) + 1] - start
    which = np.repeat(np.arange(len(rows)), length)
    before = np.cumsum(length) - length
    return which, listed[np.arange(len(which)) + np.repeat(start - before, length)]


@dataclass(frozen=True, eq=False)
class Subscriptions:
    """The topic lists of a group (rows), and the row that each member reads.

    Attributes
    ----------
    indptr, listed : CSR of the rows, the topic lists that members read: (rows + 1,) int64 and
        (entries,) int32; ascending in each row, and some member reads each row
    row : (members,) int32, the row that each member reads; rows may be equal
    known : (members,) bool, False where the source does not show a subscription; that row is empty
    topics : how many topics there are
    """

    indptr: Int64
    listed: Int32
    row: Int32
    known: Bools
    topics: int

    def __post_init__(self) -> None:
        """Check the columns and replace them by immutable ones.

        Raises
        ------
        BadInput
            If a column has the wrong length, type or values; the message names the place.
        """
        indptr = column(self.indptr, "subscription_indptr", np.int64)
        listed = integers(self.listed, "subscription_topics")
        require_rising(indptr, len(listed))
        row = column(self.row, "subscription_row", np.int32, below=(len(indptr) - 1, "rows"))
        known = flags(self.known, "subscription_known", len(row))
        vars(self).update(indptr=indptr, listed=listed, row=row, known=known)
        self._require_good_rows()
        vars(self)["listed"] = as_immutable(listed, np.int32)
        if not self.size.all():
            raise BadInput(f"subscription_row: no member reads row {int(np.argmin(self.size))}")
        if not known.all() and (wrong := ~known & (self.reads > 0)).any():
            raise BadInput(
                f"subscription_known[{int(np.argmax(wrong))}]: unknown, but its row is not empty"
            )

    @staticmethod
    def of_valid(
        indptr: Int64, listed: Int32, row: Int32, known: Bools, topics: int
    ) -> Subscriptions:
        """Return the subscriptions of columns without checking them; they must be frozen."""
        found = object.__new__(Subscriptions)
        vars(found).update(indptr=indptr, listed=listed, row=row, known=known, topics=topics)
        return found

    def __len__(self) -> int:
        """Count the rows."""
        return len(self.indptr) - 1

    @cached_property
    def _lengths(self) -> Int64:
        """(rows,) int64: how many topics each row lists."""
        return frozen(np.diff(self.indptr))

    @cached_property
    def size(self) -> Int64:
        """(rows,) int64: how many members read each row."""
        return frozen(np.bincount(self.row, minlength=len(self)))

    @cached_property
    def first(self) -> Int64:
        """(rows,) int64: the first member that reads each row."""
        first = np.full(len(self), len(self.row), np.int64)
        np.minimum.at(first, self.row, np.arange(len(self.row)))
        return frozen(first)

    @cached_property
    def reads(self) -> Int64:
        """(members,) int64: how many topics each member reads."""
        return frozen(self._lengths[self.row])

    @cached_property
    def readers(self) -> Int64:
        """(topics,) int64: how many members read each topic."""
        found = np.zeros(self.topics, np.int64)
        np.add.at(found, self.listed, np.repeat(self.size, self._lengths))
        return frozen(found)

    def least_of_readers(self, of_member: Int64) -> Int64:
        """(topics,) int64: the least value of a topic's readers; the greatest integer if none."""
        most = np.iinfo(np.int64).max
        of_row, found = np.full(len(self), most), np.full(self.topics, most)
        np.minimum.at(of_row, self.row, of_member)
        np.minimum.at(found, self.listed, of_row[self.entry_row])
        return found

    @cached_property
    def pairs(self) -> tuple[Int32, Int32]:
        """All (member, topic) pairs with a subscription, sorted: two int32 columns.

        Their length is the sum over members, even if many share a row.
        """
        member, topic = entries(self.indptr, self.listed, self.row)
        return frozen(member.astype(np.int32)), frozen(topic)

    @cached_property
    def entry_row(self) -> Int64:
        """(entries,) int64: the row of each entry of `listed`."""
        return frozen(np.repeat(np.arange(len(self)), self._lengths))

    @cached_property
    def by_topic(self) -> tuple[Int64, Int32]:
        """CSR of the readers of each topic: (topics + 1,) int64 and int32, members ascending."""
        member, topic = self.pairs
        return frozen(starts(self.readers)), frozen(member[np.argsort(topic, kind="stable")])

    def include(self, member: Ints, topic: Ints) -> Bools:
        """Return for each pair of indices whether the member reads the topic.

        It is true for a member whose subscription is unknown.
        """
        if len(member) * DENSE >= self._width:
            base, row_at = self._bands
            first, found = base.take(self.row), np.empty(len(member), bool)
            for at in range(0, len(member), AT_ONCE):
                part = slice(at, at + AT_ONCE)
                asked = first.take(member[part])
                asked += topic[part]
                found[part] = row_at.take(asked, mode="clip") == self.row.take(member[part])
        else:
            asked = (self.row * np.int64(self.topics)).take(member)
            asked += topic
            found = contains(self._entries, asked)
        if self.known.all():
            return np.asarray(found, bool)
        return np.asarray(found | ~self.known[member], bool)

    def hold_all(self, partitions: Int64) -> bool:
        """Return True if every member is known to read every topic with partitions, by one row.

        False says nothing if members read several rows.

        Parameters
        ----------
        partitions : (topics,) int64, partition count of each
        """
        if not self.known.all() or len(self) != 1:
            return False
        return bool((self.readers[partitions > 0] > 0).all())

    @cached_property
    def _entries(self) -> Int64:
        """(entries,) int64 ascending: ``row * topics + topic`` of each entry."""
        return self.entry_row * self.topics + self.listed

    @cached_property
    def _width(self) -> int:
        """The sum over rows of the number of topics from the row's first to its last."""
        return int(self._spans[1].sum())

    @cached_property
    def _spans(self) -> tuple[Int64, Int64]:
        """(first topic, number of topics from the first to the last) of each row; 0 if empty."""
        filled = np.flatnonzero(self._lengths)
        low, span = np.zeros((2, len(self)), np.int64)
        low[filled] = self.listed[self.indptr[filled]]
        span[filled] = self.listed[self.indptr[filled + 1] - 1] - low[filled] + 1
        return low, span

    @cached_property
    def _bands(self) -> tuple[Int64, Int32]:
        """A lookup table of rows: (where topic 0 of each row would be, row at each place).

        The table has a place for each topic from the first to the last of each row, row by row,
        with the row's index if it lists the topic, else -1. One more place before and after the
        rows, always -1, serves lookups outside the table.
        """
        low, span = self._spans
        base = np.cumsum(span) - span - low + 1
        row_at = np.full(self._width + 2, -1, np.int32)
        row_at[base[self.entry_row] + self.listed] = self.entry_row
        return base, row_at

    def _require_good_rows(self) -> None:
        if self.listed.size and not 0 <= self.listed.min() <= self.listed.max() < self.topics:
            at = int(np.argmax((self.listed < 0) | (self.listed >= self.topics)))
            raise BadInput(
                f"subscription_topics: {self.listed[at]} in the row of {self._reader_at(at)}, "
                f"but there are {self.topics} topics"
            )
        rises = np.ones(len(self.listed), bool)
        rises[1:] = self.listed[1:] > self.listed[:-1]
        rises[self.indptr[:-1][self.indptr[:-1] < len(self.listed)]] = True
        if not rises.all():
            raise BadInput(
                f"subscription_topics: the row of {self._reader_at(int(np.argmin(rises)))} "
                "is not ascending without repeats"
            )

    def _reader_at(self, entry: int) -> str:
        """Return the first member whose row contains an entry, or the row if nobody reads it."""
        row = int(np.searchsorted(self.indptr, entry, side="right")) - 1
        readers = np.flatnonzero(self.row == row)
        return f"members[{readers[0]}]" if len(readers) else f"nobody, {row}"
