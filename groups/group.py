"""Group: a consumer group as the solvers and assignors see it; immutable, columnar, valid."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from groups.errors import BadInput
from groups.subscriptions import distinct, entries, in_use

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

Ints = npt.NDArray[np.integer[Any]]
Int32 = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

NOBODY = -1
UNKNOWN = -1
NO_GENERATION = -1
MOST_PARTITIONS = 100_000_000
# A table of all members and topics is worth it up to so many cells per question.
DENSE = 16
A = TypeVar("A", bound=npt.NDArray[Any])


@dataclass(frozen=True, eq=False)
class Claims:
    """What the members said they own, as they said it.

    One entry per claimed partition, in ascending order of (member, topic, partition).

    Attributes
    ----------
    member : (claims,) int32, index into ``Group.members``
    topic : (claims,) int32, index into ``Group.topics + Group.absent_topics``
    partition : (claims,) int64, number inside the topic; may be past its end
    """

    member: Int32
    topic: Int32
    partition: Int64


@dataclass(frozen=True, eq=False)
class Racks:
    """Where members and replicas stand.

    Attributes
    ----------
    names : the rack names, ascending
    member : (members,) int32, index into `names`, -1 without a rack
    replicas : (all partitions,) int32, row of `holds`, -1 where nothing is known
    holds : (entries,) int64 ascending, ``set * len(names) + rack`` for each rack of each
        distinct replica set
    """

    names: tuple[str, ...]
    member: Int32
    replicas: Int32
    holds: Int64

    def misses(self, member: Ints, partition: Ints) -> Bools:
        """Say for each pair whether the member's rack holds no replica of the partition.

        A member without a rack is near no replica.
        """
        return self.lack(self.replicas[partition], self.member[member])

    def lack(self, replicas: Ints, rack: Ints) -> Bools:
        """Say for each pair whether the replica set has no replica in the rack, -1 for no rack."""
        asked = np.asarray(replicas, np.int64) * len(self.names) + rack
        return np.asarray((rack < 0) | ~contains(self.holds, asked), bool)

    def of_set(self, replicas: int) -> list[str]:
        """Return the names of the racks of a replica set."""
        width = len(self.names)
        start, end = np.searchsorted(self.holds, (replicas * width, (replicas + 1) * width))
        return [self.names[rack] for rack in self.holds[start:end] - replicas * width]


@dataclass(frozen=True, eq=False)
class Offsets:
    """Log offsets per partition, (all partitions,) int64 each, -1 where null.

    `given` says for which topics the snapshot gave offsets: (topics,) bool.
    """

    beginning: Int64
    end: Int64
    committed: Int64
    given: Bools


@dataclass(frozen=True)
class MemberDetails:
    """What a snapshot says of a member besides its subscription, claims and rack."""

    instance_id: str | None = None
    client_id: str | None = None
    host: str | None = None
    assignors: tuple[str, ...] | None = None
    capacity: int | None = None
    epoch: int | None = None
    target: Mapping[str, tuple[int, ...]] | None = None
    subscription_regex: str | None = None


class Format(Protocol):
    """How groups are read from documents and written to them."""

    def read_group(self, path: str | Path) -> Group:
        """Read the one group of a file."""

    def group_of(self, document: Mapping[str, Any]) -> Group:
        """Build the group of a document."""

    def document_of(self, group: Group) -> dict[str, Any]:
        """Return the document of a group."""


@dataclass(frozen=True, eq=False)
class Group:
    """A consumer group: topics, members, who reads what, who held what, and what it weighs.

    Build one with :meth:`from_dict`, :meth:`read` or :meth:`from_arrays`; one that exists is
    valid. "All partitions" are numbered topic by topic, in the order of `topics`.

    Attributes
    ----------
    name : id of the group
    topics, members : names, (topics,) and (members,)
    partitions : (topics,) int64, partition count of each topic
    subscription_indptr, subscription_topics : CSR of the topic lists that members read, (rows +
        1,) int64 and (entries,) int32; ascending in each row, and some member reads each row
    subscription_row : (members,) int32, the row that each member reads; rows may be equal
    subscription_known : (members,) bool, False where the source does not show a subscription
    owner : (all partitions,) int32, valid owner (docs/proof.md), -1 where nobody
    generation : (members,) int64, of the member's claims, -1 where none was given
    lag_records, weight : (all partitions,) int64 with -1 where unknown, or None
    racks : where members and replicas stand, or None
    absent_topics : names that members subscribe to or claim but that do not exist
    absent_subscriptions : (member, index into `absent_topics`) pairs
    assumed : what was assumed about the source, for people to read
    """

    format: ClassVar[Format]

    name: str
    topics: tuple[str, ...]
    partitions: Int64
    members: tuple[str, ...]
    subscription_indptr: Int64
    subscription_topics: Int32
    subscription_row: Int32
    subscription_known: Bools
    owner: Int32
    generation: Int64
    lag_records: Int64 | None = None
    weight: Int64 | None = None
    racks: Racks | None = None
    offsets: Offsets | None = None
    raw_claims: Claims | None = None
    absent_topics: tuple[str, ...] = ()
    absent_subscriptions: tuple[tuple[int, int], ...] = ()
    details: tuple[MemberDetails, ...] = ()
    assumed: tuple[str, ...] = ()
    captured_at: str | None = None
    auto_offset_reset: str | None = None

    def __post_init__(self) -> None:
        """Make every array read-only."""
        for part in (self, self.racks, self.offsets, self.raw_claims):
            for value in vars(part).values() if part is not None else ():
                if isinstance(value, np.ndarray):
                    value.flags.writeable = False

    def __repr__(self) -> str:
        return (
            f"Group({self.name!r}, {len(self.topics)} topics, {self.n_partitions} partitions, "
            f"{len(self.members)} members)"
        )

    @staticmethod
    def read(path: str | Path) -> Group:
        """Read the one group of an ``assay-group/1`` file.

        Raises
        ------
        BadInput
            Where the file is not one good snapshot; the message names the place.
        """
        return Group.format.read_group(path)

    @staticmethod
    def from_dict(document: Mapping[str, Any]) -> Group:
        """Build the group of an ``assay-group/1`` document.

        Members and topics are put in ascending order of their names.

        Raises
        ------
        BadInput
            Where a rule of the format is broken; the message names the place.
        """
        return Group.format.group_of(document)

    def to_dict(self) -> dict[str, Any]:
        """Return the ``assay-group/1`` document of this group."""
        return Group.format.document_of(self)

    @staticmethod
    def from_arrays(
        *,
        group: str,
        topics: Sequence[str],
        partitions: npt.ArrayLike,
        members: Sequence[str],
        subscription_indptr: npt.ArrayLike,
        subscription_topics: npt.ArrayLike,
        subscription_row: npt.ArrayLike | None = None,
        owner: npt.ArrayLike | None = None,
        lag: npt.ArrayLike | None = None,
        weight: npt.ArrayLike | None = None,
    ) -> Group:
        """Build a group from columns, in the order they are given.

        Parameters
        ----------
        group : id of the group
        topics, members : distinct non-empty names, (topics,) and (members,)
        partitions : (topics,) int, partition count of each topic
        subscription_indptr, subscription_topics : CSR, rows ascending and without repeats
        subscription_row : (members,) int, the row of the CSR that each member reads; None: row i
            is what member i reads, and equal rows are put together here
        owner : (all partitions,) int, index of the valid owner, -1 nobody; None: nobody anywhere
        lag : (all partitions,) int, records, -1 unknown
        weight : (all partitions,) int, bytes or rate, -1 unknown

        Raises
        ------
        BadInput
            Where an array has the wrong length or content.
        """
        topic_names, member_names = _names(topics, "topics"), _names(members, "members")
        counts = _column(partitions, "partitions", len(topic_names), least=0)
        total = check_total(counts.tolist())
        ends = len(member_names) + 1 if subscription_row is None else None
        indptr = _column(subscription_indptr, "subscription_indptr", ends, least=0)
        listed = _column(subscription_topics, "subscription_topics", None, least=0)
        _check_rows(indptr, listed, len(topic_names))
        rows = indptr, listed.astype(np.int32)
        if subscription_row is None:
            rows, row = distinct(*rows)
        else:
            given = _column(subscription_row, "subscription_row", len(member_names), least=0)
            _check_row(given, len(indptr) - 1)
            rows, row = in_use(*rows, given.astype(np.int32))
        owners = np.full(total, NOBODY, np.int64)
        if owner is not None:
            owners = _column(owner, "owner", total, least=NOBODY)
            _check_members(owners, len(member_names))
        built = Group(
            name=_names([group], "group")[0],
            topics=topic_names,
            partitions=counts,
            members=member_names,
            subscription_indptr=rows[0],
            subscription_topics=rows[1],
            subscription_row=row,
            subscription_known=np.ones(len(member_names), bool),
            owner=owners.astype(np.int32),
            generation=np.full(len(member_names), NO_GENERATION, np.int64),
            lag_records=None if lag is None else _column(lag, "lag", total, least=UNKNOWN),
            weight=None if weight is None else _column(weight, "weight", total, least=UNKNOWN),
        )
        _check_owners(built)
        return built

    @property
    def n_partitions(self) -> int:
        """Number of all partitions."""
        return len(self.owner)

    @cached_property
    def first(self) -> Int64:
        """(topics + 1,) int64: number of each topic's first partition, then the total."""
        return frozen(np.concatenate(([0], np.cumsum(self.partitions))).astype(np.int64))

    @cached_property
    def topic(self) -> Int32:
        """(all partitions,) int32: topic of each partition."""
        indices = np.arange(len(self.topics), dtype=np.int32)
        return frozen(np.repeat(indices, self.partitions))

    @cached_property
    def number(self) -> Int64:
        """(all partitions,) int64: number of each partition inside its topic."""
        return frozen(np.arange(self.n_partitions) - self.first[self.topic])

    @cached_property
    def row_size(self) -> Int64:
        """(rows,) int64: how many members read each row."""
        return frozen(np.bincount(self.subscription_row, minlength=self._rows))

    @cached_property
    def row_first(self) -> Int64:
        """(rows,) int64: the first member that reads each row."""
        members = len(self.members)
        first = np.full(self._rows, members, np.int64)
        np.minimum.at(first, self.subscription_row, np.arange(members))
        return frozen(first)

    @cached_property
    def reads(self) -> Int64:
        """(members,) int64: how many topics each member reads."""
        return frozen(np.diff(self.subscription_indptr)[self.subscription_row])

    @cached_property
    def readers(self) -> Int64:
        """(topics,) int64: how many members read each topic."""
        found = np.zeros(len(self.topics), np.int64)
        sizes = np.repeat(self.row_size, np.diff(self.subscription_indptr))
        np.add.at(found, self.subscription_topics, sizes)
        return frozen(found)

    @cached_property
    def subscription_pairs(self) -> tuple[Int32, Int32]:
        """(member, topic) of all that is read, by member, then topic: two int32 columns.

        As long as the members' lists together, however many of them share a row.
        """
        member, topic = entries(
            self.subscription_indptr, self.subscription_topics, self.subscription_row
        )
        return frozen(member.astype(np.int32)), frozen(topic)

    def subscription(self, member: int) -> Int32:
        """Return the topics that a member reads, ascending: (its topics,) int32."""
        row = self.subscription_row[member]
        start, end = self.subscription_indptr[row : row + 2]
        return self.subscription_topics[start:end]

    def subscribers(self, topic: int) -> Int32:
        """Return the members that read a topic, ascending: (its readers,) int32."""
        starts, members = self._by_topic
        return members[starts[topic] : starts[topic + 1]]

    @cached_property
    def _by_topic(self) -> tuple[Int64, Int32]:
        member, topic = self.subscription_pairs
        starts = np.concatenate(([0], np.cumsum(self.readers))).astype(np.int64)
        return starts, frozen(member[np.argsort(topic, kind="stable")])

    @property
    def _rows(self) -> int:
        return len(self.subscription_indptr) - 1

    @cached_property
    def owned(self) -> Int64:
        """(members,) int64: how many partitions each member is the valid owner of."""
        return count_owners(self.owner, len(self.members))

    @cached_property
    def everybody_reads_all(self) -> bool:
        """Whether every member's subscription is known to hold every topic with partitions."""
        if not self.subscription_known.all() or self._rows != 1:
            return False
        return bool((self.readers[self.partitions > 0] > 0).all())

    @cached_property
    def claims(self) -> Claims:
        """The raw claims; of a group built from arrays, its valid owners."""
        if self.raw_claims is not None:
            return self.raw_claims
        held = np.flatnonzero(self.owner >= 0)
        held = held[np.argsort(self.owner[held], kind="stable")]
        return Claims(
            frozen(self.owner[held]), frozen(self.topic[held]), frozen(self.number[held])
        )

    def subscribes(self, member: Ints, topic: Ints) -> Bools:
        """Say for each pair of indices whether the member reads the topic.

        A member whose subscription is unknown is taken to read what it is asked about.
        """
        width = len(self.topics)
        asked = (self.subscription_row * np.int64(width)).take(member)
        asked += topic
        if len(member) * DENSE >= self._rows * width:
            found = self._table.take(asked)
        else:
            found = contains(self._entries, asked)
        if self.subscription_known.all():
            return np.asarray(found, bool)
        return np.asarray(found | ~self.subscription_known[member], bool)

    @cached_property
    def _entries(self) -> Int64:
        """(entries,) int64 ascending: ``row * topics + topic`` of what each row lists."""
        rows = np.arange(self._rows) * len(self.topics)
        return np.repeat(rows, np.diff(self.subscription_indptr)) + self.subscription_topics

    @cached_property
    def _table(self) -> Bools:
        """(rows * topics,) bool: whether a row lists a topic."""
        listed = np.zeros(self._rows * len(self.topics), bool)
        listed[self._entries] = True
        return listed

    def with_equal_subscriptions(self) -> Group:
        """Return the group with every unknown subscription taken as all topics of the group.

        Known subscriptions stay. What was assumed is added to `assumed`.
        """
        unknown = ~self.subscription_known
        if not unknown.any():
            return self
        indptr, listed, row = self.subscription_indptr, self.subscription_topics, self._rows
        topics = np.arange(len(self.topics), dtype=np.int32)
        whole = np.flatnonzero(np.diff(indptr) == len(topics))
        if len(whole):
            row = int(whole[0])
        else:
            indptr = np.append(indptr, len(listed) + len(topics))
            listed = np.concatenate((listed, topics))
        read = np.where(unknown, row, self.subscription_row).astype(np.int32)
        (indptr, listed), read = in_use(indptr, listed, read)
        who = "1 member" if unknown.sum() == 1 else f"{unknown.sum()} members"
        line = f"subscription of {who} unknown, taken as all {len(topics)} topics of the group"
        return replace(
            self,
            subscription_indptr=indptr,
            subscription_topics=listed,
            subscription_row=read,
            subscription_known=np.ones(len(unknown), bool),
            assumed=(*self.assumed, line),
        )

    def with_unknown_lag(self, lag_records: int) -> Group:
        """Return the group with `lag_records` (0 or more) wherever the lag is unknown."""
        if lag_records < 0:
            raise BadInput(f"lag: {lag_records}, expected 0 or more")
        known = self.lag_records
        lag = np.full(self.n_partitions, UNKNOWN, np.int64) if known is None else known
        missing = int((lag < 0).sum())
        line = f"lag of {missing} partitions unknown, taken as {lag_records}"
        assumed = (*self.assumed, line) if missing else self.assumed
        return replace(self, lag_records=np.where(lag < 0, lag_records, lag), assumed=assumed)

    def require_subscriptions(self) -> None:
        """Raise BadInput where a subscription is unknown."""
        unknown = np.flatnonzero(~self.subscription_known)
        if len(unknown):
            raise BadInput(
                f"members.{self.members[unknown[0]]}.subscription: unknown"
                f"{f' (and {len(unknown) - 1} more)' if len(unknown) > 1 else ''}; "
                "pass --assume-equal (assume_subscriptions='equal') to take it as all topics"
            )


def contains(entries: Int64, asked: Int64) -> Bools:
    """Say for each asked value whether it is among the ascending entries."""
    if not len(entries):
        return np.zeros(len(asked), bool)
    at = np.minimum(np.searchsorted(entries, asked), len(entries) - 1)
    return np.asarray(entries[at] == asked, bool)


def among(entries: Int64, asked: Int64, width: int) -> Bools:
    """Say for each asked value below `width` whether it is among the ascending entries."""
    if width > DENSE * len(asked):
        return contains(entries, asked)
    there = np.zeros(width, bool)
    there[entries] = True
    return np.asarray(there[asked], bool)


def valid_owner(
    claims: Claims, group_partitions: Int64, generation: Int64, first: Int64
) -> tuple[Int64, Int32]:
    """Return who held each claimed partition last: (partition, member), by the first step.

    Of the claims on one existing partition that of the highest generation wins; two of the same
    highest generation void each other.
    """
    topics = len(group_partitions)
    exists = np.flatnonzero(claims.topic < topics)
    exists = exists[claims.partition[exists] < group_partitions[claims.topic[exists]]]
    partition = first[claims.topic[exists]] + claims.partition[exists]
    member = claims.member[exists]
    born = generation[member]
    order = np.lexsort((-born, partition))
    partition, member, born = partition[order], member[order], born[order]
    highest = np.ones(len(order), bool)
    highest[1:] = partition[1:] != partition[:-1]
    rival = np.zeros(len(order), bool)
    rival[:-1] = (partition[:-1] == partition[1:]) & (born[:-1] == born[1:])
    won = highest & ~rival
    return partition[won], member[won]


def check_total(counts: Iterable[int]) -> int:
    """Return the number of all partitions, refusing what no machine here could hold."""
    total = sum(counts)
    if total > MOST_PARTITIONS:
        raise BadInput(f"topics: {total} partitions, more than the {MOST_PARTITIONS} supported")
    return total


def count_owners(owner: Int32, members: int) -> Int64:
    """(members,) int64: how many of the partitions each has; owner -1 is nobody."""
    if not len(owner) or owner.max() < 0:
        return frozen(np.zeros(members, np.int64))
    if owner.min() >= 0:
        return frozen(np.bincount(owner, minlength=members))
    return frozen(np.bincount(owner + 1, minlength=members + 1)[1:])


def frozen(array: A) -> A:
    """Return the array, read-only from here on."""
    array.flags.writeable = False
    return array


def _names(names: Sequence[str], place: str) -> tuple[str, ...]:
    listed = tuple(names.tolist() if isinstance(names, np.ndarray) else names)
    for name in listed:
        if not isinstance(name, str) or not name:
            raise BadInput(f"{place}: {name!r}, expected a non-empty string")
    if len(set(listed)) < len(listed):
        twice = next(name for name, times in Counter(listed).items() if times > 1)
        raise BadInput(f"{place}: {twice!r} appears twice")
    return listed


def _column(values: npt.ArrayLike, place: str, length: int | None, *, least: int) -> Int64:
    array = np.asarray(values)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise BadInput(f"{place}: expected a one-dimensional array of integers")
    if length is not None and len(array) != length:
        raise BadInput(f"{place}: {len(array)} values, expected {length}")
    if array.size and (array.min() < least or int(array.max()) > np.iinfo(np.int64).max):
        bad = int(np.argmax((array < least) | (array > np.iinfo(np.int64).max)))
        raise BadInput(f"{place}[{bad}]: {array[bad]}, expected {least} or more, within 64 bits")
    return np.array(array, np.int64)


def _check_rows(indptr: Int64, rows: Int64, topics: int) -> None:
    if not len(indptr) or indptr[0] != 0 or indptr[-1] != len(rows) or (np.diff(indptr) < 0).any():
        raise BadInput(
            f"subscription_indptr: expected to rise from 0 to {len(rows)}, "
            f"the length of subscription_topics"
        )
    if len(rows) and rows.max() >= topics:
        raise BadInput(f"subscription_topics: {rows.max()}, but there are {topics} topics")
    rising = np.ones(len(rows), bool)
    rising[1:] = rows[1:] > rows[:-1]
    starts = indptr[:-1][indptr[:-1] < len(rows)]
    rising[starts] = True
    if not rising.all():
        at = int(np.argmin(rising))
        row = int(np.searchsorted(indptr, at, side="right")) - 1
        raise BadInput(f"subscription_topics[{at}]: row {row} is not ascending without repeats")


def _check_row(row: Int64, rows: int) -> None:
    if len(row) and row.max() >= rows:
        at = int(np.argmax(row))
        raise BadInput(f"subscription_row[{at}]: {row[at]}, but there are {rows} rows")


def _check_members(owner: Int64, members: int) -> None:
    if len(owner) and owner.max() >= members:
        at = int(np.argmax(owner))
        raise BadInput(f"owner[{at}]: {owner[at]}, but there are {members} members")


def _check_owners(group: Group) -> None:
    held = np.flatnonzero(group.owner >= 0)
    reads = group.subscribes(group.owner[held], group.topic[held])
    if not reads.all():
        at = int(held[np.argmin(reads)])
        topic, member = group.topics[group.topic[at]], group.members[group.owner[at]]
        raise BadInput(f"owner[{at}]: {member} owns a partition of {topic} but does not subscribe")
