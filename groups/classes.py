"""Classes: the members that read the same topics, put together."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from collections.abc import Sequence

    Int32 = npt.NDArray[np.int32]
    Int64 = npt.NDArray[np.int64]

# What the rows are compared in at once stays in the processor's cache.
AT_ONCE = 2**18


@dataclass(frozen=True, eq=False)
class Classes:
    """The distinct subscriptions of a group and whose they are.

    Rows were compared entry by entry. Classes are numbered by their first members.

    Attributes
    ----------
    member : (members,) int32, class of each member
    first : (classes,) int64, first member of each class; size : (classes,) int64, its members
    indptr, topics : CSR, int64 and int32; class i reads ``topics[indptr[i]:indptr[i + 1]]``
    source : the two columns of the group that this was made of
    """

    member: Int32
    first: Int64
    size: Int64
    indptr: Int64
    topics: Int32
    source: tuple[Int64, Int32]

    def __len__(self) -> int:
        return len(self.first)

    @staticmethod
    def of(indptr: Int64, topics: Int32) -> Classes:
        """Compare the rows of a CSR."""
        members = len(indptr) - 1
        if members > 0 and _equal(indptr, topics):
            one = np.zeros(1, np.int64)
            return Classes.made(
                np.zeros(members, np.int32), one, indptr[:2], topics[: indptr[1]], (indptr, topics)
            )
        # A dictionary of the rows' bytes compares them in full wherever hashes meet.
        raw, ends = topics.tobytes(), (indptr * topics.itemsize).tolist()
        number: dict[bytes, int] = {}
        member = np.array(
            [number.setdefault(raw[a:b], len(number)) for a, b in pairwise(ends)],
            np.int32,
        )
        if len(number) == members:
            first, rows = np.arange(members), (indptr, topics)
        else:
            first = np.flatnonzero(np.diff(np.maximum.accumulate(member), prepend=-1))
            starts = np.cumsum([0, *map(len, number)], dtype=np.int64) // topics.itemsize
            rows = starts, np.frombuffer(b"".join(number), topics.dtype)
        return Classes.made(member, first, *rows, (indptr, topics))

    @staticmethod
    def made(
        member: Int32, first: Int64, indptr: Int64, topics: Int32, source: tuple[Int64, Int32]
    ) -> Classes:
        """Count the members of each class and make every array read-only."""
        size = np.bincount(member, minlength=len(first))
        for column in (member, first, size, indptr, topics):
            column.flags.writeable = False
        return Classes(member, first, size, indptr, topics, source)

    @staticmethod
    def side_by_side(
        parts: Sequence[Classes], topics: Int64, source: tuple[Int64, Int32]
    ) -> Classes:
        """Put the classes of groups without common topics together.

        Members who read nothing are one class only within their group.

        Parameters
        ----------
        topics : (parts + 1,) int64, number of the first topic of each part
        source : the columns of all of them
        """
        if not parts:
            return Classes.of(*source)
        members, classes, entries = (
            np.cumsum([0, *lengths], dtype=np.int64)
            for lengths in (
                [len(part.member) for part in parts],
                [len(part) for part in parts],
                [len(part.topics) for part in parts],
            )
        )
        return Classes.made(
            _through([part.member for part in parts], classes).astype(np.int32),
            _through([part.first for part in parts], members),
            np.append(_through([part.indptr[:-1] for part in parts], entries), entries[-1]),
            _through([part.topics for part in parts], topics).astype(np.int32),
            source,
        )

    def are_of(self, indptr: Int64, topics: Int32) -> bool:
        """Say whether this was made of these very columns."""
        return self.source[0] is indptr and self.source[1] is topics


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


def _through(columns: Sequence[npt.NDArray[np.integer[Any]]], starts: Int64) -> Int64:
    joined = np.concatenate(columns).astype(np.int64, copy=False)
    return np.asarray(joined + np.repeat(starts[: len(columns)], [len(c) for c in columns]))


NO_CLASSES = Classes.of(np.zeros(1, np.int64), np.empty(0, np.int32))
