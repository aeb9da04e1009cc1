"""Fleet: many groups side by side as one group without common topics or members."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from groups.arrays import NOBODY, UNKNOWN, frozen
from groups.columns.names import numbers
from groups.columns.racks import joined_racks
from groups.columns.segments import starts
from groups.group import Group

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pyarrow as pa

    from groups.arrays import Bools, Int32, Int64, Ints
    from groups.columnar.layout import BadRow
    from groups.documents.snapshot import Snapshot


@dataclass(frozen=True, eq=False)
class Fleet:
    """Many groups as one, and where each begins in it.

    No member reads a topic of another group, so whatever is decided within components (levels,
    cheapest flows, the inequalities of a certificate) is decided for each group by itself.

    Attributes
    ----------
    group : the groups side by side; its names are numbers
    member_start, topic_start, partition_start : (groups + 1,) int64
    alone : returns a group by itself, by its number
    place : (groups,) int64, the number of each group among what the fleet was made of
    claims_looked_at : returns what `other_claims` is
    """

    group: Group
    member_start: Int64
    topic_start: Int64
    partition_start: Int64
    alone: Callable[[int], Group]
    place: Int64
    claims_looked_at: Callable[[], Bools]

    def __len__(self) -> int:
        """Count the groups."""
        return len(self.place)

    @property
    def member_group(self) -> Int64:
        """(members,) int64: the number of each member's group."""
        return np.repeat(np.arange(len(self)), np.diff(self.member_start))

    @cached_property
    def other_claims(self) -> Bools:
        """(groups,) bool: where members claim something else than what they validly own."""
        return self.claims_looked_at()

    def members(self, number: int) -> slice:
        """Return which members are those of a group."""
        return slice(*self.member_start[number : number + 2].tolist())

    def partitions(self, number: int) -> slice:
        """Return which of all partitions are those of a group."""
        return slice(*self.partition_start[number : number + 2].tolist())

    def owner_in(self, number: int, owner: Int32) -> Int32:
        """Return the owners in a group as it numbers its members, of those through the fleet."""
        if len(self) == 1:
            return owner
        own = owner[self.partitions(number)]
        return np.where(own < 0, NOBODY, own - np.int32(self.member_start[number]))

    def owner_through(self, number: int, own: Int32) -> Int32:
        """Return the owners in a group as the fleet numbers its members, of those in the group."""
        return np.where(own < 0, NOBODY, own + np.int32(self.member_start[number]))

    @property
    def partition_group(self) -> Int64:
        """(all partitions,) int64: the number of each partition's group."""
        return np.repeat(np.arange(len(self)), np.diff(self.partition_start))

    @staticmethod
    def one(group: Group) -> Fleet:
        """Return the fleet of one group: the group itself, with its names."""
        sizes = len(group.members), len(group.topics), len(group.owner)
        members, topics, partitions = np.array([(0, size) for size in sizes], np.int64)
        return Fleet(
            group,
            members,
            topics,
            partitions,
            lambda _: group,
            np.zeros(1, np.int64),
            lambda: np.array([group.is_disputed]),
        )

    @staticmethod
    def from_arrow(rows: pa.RecordBatch) -> tuple[Fleet, list[BadRow]]:
        """Put the groups of Arrow rows side by side, without a Python object for each.

        Parameters
        ----------
        rows : with the columns of `groups.columnar.layout.LAYOUT`; others are ignored

        Returns
        -------
        The fleet, and for each row that is no group its number and why.

        Raises
        ------
        BadInput
            Where a column is missing or of another kind, or where the groups together have more
            partitions than are supported.
        """
        from groups.columnar.batch import side_by_side

        good, failures = side_by_side(rows)
        members, topics, partitions = (
            good.lists[name].start for name in ("members", "topics", "owner")
        )
        fleet = Fleet(
            good.group,
            members,
            topics,
            partitions,
            good.alone,
            good.place,
            good.other_claims,
        )
        return fleet, failures

    @staticmethod
    def of(groups: Sequence[Group]) -> Fleet:
        """Put groups side by side, numbering members, topics, partitions and racks through."""
        members = starts(np.array([len(g.members) for g in groups], np.int64))
        topics = starts(np.array([len(g.topics) for g in groups], np.int64))
        partitions = starts(np.array([g.n_partitions for g in groups], np.int64))
        entries = starts(np.array([len(g.subscription_topics) for g in groups], np.int64))
        rows = starts(np.array([len(g.subscription_indptr) - 1 for g in groups], np.int64))
        indptr = _shifted([g.subscription_indptr[:-1] for g in groups], entries)
        group = Group(
            name="fleet",
            topics=numbers(topics[-1]),
            partitions=_joined([g.partitions for g in groups]),
            members=numbers(members[-1]),
            subscription_indptr=frozen(np.append(indptr, entries[-1])),
            subscription_topics=_narrow(_shifted([g.subscription_topics for g in groups], topics)),
            subscription_row=_narrow(_shifted([g.subscription_row for g in groups], rows)),
            subscription_known=_joined([g.subscription_known for g in groups]).astype(bool),
            owner=_narrow(_shifted([g.owner for g in groups], members)),
            generation=_joined([g.generation for g in groups]),
            lag_records=_optional([g.lag_records for g in groups], partitions),
            weight=_optional([g.weight for g in groups], partitions),
            racks=joined_racks([g.racks for g in groups], np.diff(members), np.diff(partitions)),
        )
        return Fleet(
            group,
            members,
            topics,
            partitions,
            groups.__getitem__,
            np.arange(len(groups)),
            lambda: np.array([one.is_disputed for one in groups], bool),
        )

    def only(self, chosen: Bools) -> Fleet:
        """Return the fleet of some of the groups, (groups,) bool, in their order."""
        index, own = np.flatnonzero(chosen), self.group
        through = self.member_start, self.topic_start, self.partition_start
        member, topic, partition = (_parts(chosen, index, start) for start in through)
        row, entry = _rows(own, member)
        lag, weight = own.lag_records, own.weight
        members, topics, partitions = (starts(np.diff(start)[index]) for start in through)
        # Parts of a good group are good: no rule is about two groups.
        kept: dict[str, Any] = {
            "topics": own.topics[: topics[-1]],
            "partitions": own.partitions[topic],
            "members": own.members[: members[-1]],
            "subscription_indptr": starts(np.diff(own.subscription_indptr)[row]),
            "subscription_topics": _renumbered(topic, own.subscription_topics[entry]),
            "subscription_row": _renumbered(row, own.subscription_row[member]),
            "subscription_known": own.subscription_known[member],
            "owner": _renumbered(member, own.owner[partition]),
            "generation": own.generation[member],
            "lag_records": None if lag is None else lag[partition],
            "weight": None if weight is None else weight[partition],
            "racks": None if own.racks is None else own.racks.of(member, partition),
        }
        for column in kept.values():
            if isinstance(column, np.ndarray):
                frozen(column)
        group = Group.of_valid(cast("Snapshot", _columns(own) | kept))
        return Fleet(
            group,
            members,
            topics,
            partitions,
            alone=lambda number: self.alone(int(index[number])),
            place=self.place[index],
            claims_looked_at=lambda: self.other_claims[index],
        )


def _columns(group: Group) -> dict[str, Any]:
    return {column.name: getattr(group, column.name) for column in fields(group)}


def _parts(chosen: Bools, index: Int64, start: Int64) -> Bools | slice:
    """Return what belongs to the chosen groups: a slice where they stand side by side."""
    if len(index) and index[-1] - index[0] < len(index):
        return slice(int(start[index[0]]), int(start[index[-1] + 1]))
    return np.repeat(chosen, np.diff(start))


def _rows(group: Group, member: Bools | slice) -> tuple[Bools | slice, Bools | slice]:
    """Return the topic lists that some members of a fleet read, and what is listed in these."""
    read, indptr = group.subscription_row[member], group.subscription_indptr
    if isinstance(member, slice):
        # The lists stand in the order of the groups.
        row = slice(int(read.min()), int(read.max()) + 1) if len(read) else slice(0, 0)
        return row, slice(int(indptr[row.start]), int(indptr[row.stop]))
    there = np.zeros(len(indptr) - 1, bool)
    there[read] = True
    return there, np.repeat(there, np.diff(indptr))


def _renumbered(kept: Bools | slice, column: Ints) -> Int32:
    """Return indices into what is kept; what is below 0 means nobody and stays."""
    if isinstance(kept, slice):
        return _narrow(np.where(column < 0, NOBODY, column - kept.start))
    number = np.append(np.cumsum(kept) - 1, NOBODY)
    return _narrow(number[column])


def _narrow(column: Ints) -> Int32:
    return frozen(column.astype(np.int32))


def _joined(columns: Sequence[Ints | np.ndarray[tuple[int], np.dtype[np.bool_]]]) -> Int64:
    if not columns:
        return np.empty(0, np.int64)
    return frozen(np.concatenate(columns).astype(np.int64, copy=False))


def _shifted(columns: Sequence[Ints], begins: Int64) -> Int64:
    """Join columns of indices; what is below 0 means nobody and stays."""
    joined = _joined(columns)
    return np.where(
        joined < 0, joined, joined + np.repeat(begins[: len(columns)], [len(c) for c in columns])
    )


def _optional(columns: Sequence[Int64 | None], begins: Int64) -> Int64 | None:
    if all(column is None for column in columns):
        return None
    lengths = np.diff(begins).tolist()
    return _joined(
        [
            np.full(length, UNKNOWN, np.int64) if column is None else column
            for column, length in zip(columns, lengths, strict=True)
        ]
    )
