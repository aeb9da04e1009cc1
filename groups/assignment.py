"""Assignment: which member gets each partition; its validity, loads and moves."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np

from groups.arguments import taking
from groups.arrays import NOBODY, any_in_parts, as_immutable, count_owners, frozen
from groups.documents import fields
from groups.errors import InvalidAssignment
from groups.wording import counted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from groups.arrays import Bools, Int32, Int64, Ints
    from groups.fleet import Fleet
    from groups.group import Group

# If fewer than one partition in FEW changed owner, loads are computed from the changes.
FEW = 4
ViolationKind = Literal["double", "unsubscribed", "unassigned", "no-such-partition"]


@dataclass(frozen=True)
class Violation:
    """One reason why an assignment is not valid; `member` is None if no member is involved."""

    kind: ViolationKind
    member: str | None
    topic: str
    partition: int

    @property
    def partition_exists(self) -> bool:
        """Whether the partition exists in the group."""
        return self.kind != "no-such-partition"

    def __str__(self) -> str:
        who = "nobody" if self.member is None else self.member
        return f"{self.topic}-{self.partition} with {who}: {self.kind}"


@dataclass(frozen=True, eq=False)
class Assignment:
    """The member that gets each partition of a group.

    Attributes
    ----------
    group : the group that it is for
    owner : (all partitions,) int32, index of the member that gets the partition, -1 nobody
    strays : further (member index, topic name, partition number) triples: a partition that
        another member has already, or one that does not exist
    """

    group: Group
    owner: Int32
    strays: tuple[tuple[int, str, int], ...] = ()

    def __post_init__(self) -> None:
        """Check that it fits the group; a writable array is copied."""
        members = len(self.group.members)
        if not isinstance(self.owner, np.ndarray) or self.owner.dtype.kind not in "iu":
            raise InvalidAssignment("owner: expected an array of integers")
        if self.owner.shape != self.group.owner.shape:
            raise InvalidAssignment(
                f"owner: {counted(self.owner.size, 'partition')}, "
                f"but the group has {self.group.n_partitions:,}"
            )
        if len(self.owner) and not NOBODY <= self.owner.min() <= self.owner.max() < members:
            raise InvalidAssignment(f"owner: an index outside the group's {members} members")
        object.__setattr__(self, "owner", as_immutable(self.owner, np.int32))

    def __repr__(self) -> str:
        return f"Assignment({self.group.name!r}, {int((self.owner >= 0).sum())} partitions)"

    @staticmethod
    @taking
    def from_dict(group: Group, document: Mapping[str, object]) -> Assignment:
        """Build the assignment of ``{member: {topic: [partition, ...]}}``.

        If several members get one partition, the first by name is the owner, the others are
        strays.

        Raises
        ------
        InvalidAssignment
            If a member is not in the group.
        BadInput
            If the document has another shape.
        """
        index = {member: i for i, member in enumerate(group.members)}
        held = []
        for member, topics in fields.mapping(document, "assignment").items():
            if member not in index:
                raise InvalidAssignment(f"assignment: {member!r} is not a member of the group")
            at = f"assignment.{member}"
            for topic, numbers in fields.mapping(topics, at).items():
                for i, n in enumerate(fields.listed(numbers, f"{at}.{topic}")):
                    number = fields.integer(n, f"{at}.{topic}[{i}]")
                    held.append((index[member], topic, number))
        return Assignment.from_holdings(group, sorted(held))

    @staticmethod
    def from_holdings(group: Group, held: list[tuple[int, str, int]]) -> Assignment:
        """Build the assignment of (member index, topic name, partition number) triples."""
        topic_index = {topic: i for i, topic in enumerate(group.topics)}
        owner = np.full(group.n_partitions, NOBODY, np.int32)
        strays = []
        for member, topic, number in held:
            t = topic_index.get(topic)
            if t is not None and number < group.partitions[t]:
                at = group.first[t] + number
                if owner[at] == NOBODY:
                    owner[at] = member
                    continue
            strays.append((member, topic, number))
        return Assignment(group, owner, tuple(strays))

    @staticmethod
    def from_columns(group: Group, member: Ints, topic: Ints, number: Ints) -> Assignment:
        """Build the assignment of three columns, in ascending order of (member, topic, number).

        If several members get one partition, the first is the owner, the others are strays.

        Parameters
        ----------
        member : (held,) int, index into ``group.members``
        topic : (held,) int, index into ``group.topics + group.absent_topics``
        number : (held,) int, 0 or more; may be past the topic's end
        """
        names = group.topics + group.absent_topics
        exists = topic < len(group.topics)
        exists[exists] = number[exists] < group.partitions[topic[exists]]
        found = np.flatnonzero(exists)
        partition = group.first[topic[found]] + number[found]
        _, first = np.unique(partition, return_index=True)
        owner = np.full(group.n_partitions, NOBODY, np.int32)
        owner[partition[first]] = member[found[first]]
        rest = np.ones(len(member), bool)
        rest[found[first]] = False
        strays = tuple(
            (int(member[i]), names[topic[i]], int(number[i])) for i in np.flatnonzero(rest)
        )
        return Assignment(group, owner, strays)

    @staticmethod
    @taking
    def current(group: Group) -> Assignment:
        """Return what members hold now: the raw claims, or the valid owners if there are none."""
        if group.raw_claims is None:
            return Assignment(group, group.owner)
        claims = group.raw_claims
        return Assignment.from_columns(group, claims.member, claims.topic, claims.partition)

    def to_dict(self) -> dict[str, dict[str, list[int]]]:
        """Return ``{member: {topic: [partition, ...]}}``, with members that get nothing, too."""
        found: dict[str, dict[str, list[int]]] = {m: {} for m in self.group.members}
        for member, topic, numbers in _runs(self.group, self.owner):
            found[self.group.members[member]][topic] = numbers
        for member, topic, number in self.strays:
            found[self.group.members[member]].setdefault(topic, []).append(number)
        return found

    @cached_property
    def holdings(self) -> tuple[Int64, Int64]:
        """(member, partition) pairs of all partitions handed out that exist, two int64 columns."""
        partition = np.flatnonzero(self.owner >= 0)
        member = self.owner[partition].astype(np.int64)
        index = {topic: i for i, topic in enumerate(self.group.topics)}
        extra = [
            (m, int(self.group.first[index[topic]]) + number)
            for m, topic, number in self.strays
            if topic in index and number < self.group.partitions[index[topic]]
        ]
        if extra:
            columns = np.array(extra, np.int64).T
            member = np.concatenate((member, columns[0]))
            partition = np.concatenate((partition, columns[1]))
        return frozen(member), frozen(partition)

    @cached_property
    def changed(self) -> Int64:
        """Partitions whose member here is not their valid owner, ascending int64."""
        return frozen(np.flatnonzero(self.owner != self.group.owner))

    @cached_property
    def moved(self) -> Int64:
        """Partitions that go from their valid owner to another member, ascending int64."""
        before, after = self.group.owner, self.owner
        if not self.group.owned.any():
            return frozen(np.empty(0, np.int64))
        moved = self.changed[(before[self.changed] >= 0) & (after[self.changed] >= 0)]
        if self.strays:
            member, partition = self.holdings
            moved = np.setdiff1d(moved, partition[before[partition] == member])
        return frozen(moved)

    @cached_property
    def loads(self) -> Int64:
        """(members,) int64: how many partitions each member holds."""
        members = len(self.group.members)
        if self.strays:
            return frozen(np.bincount(self.holdings[0], minlength=members))
        if not self.group.owned.any() or len(self.changed) * FEW > len(self.owner):
            return count_owners(self.owner, members)
        gone = count_owners(self.group.owner[self.changed], members)
        return frozen(self.group.owned - gone + count_owners(self.owner[self.changed], members))

    @property
    def idle(self) -> tuple[str, ...]:
        """Members that hold nothing, even if there are fewer partitions than members.

        The tier `idle_members` does not count those for whom there are too few partitions.
        """
        return tuple(self.group.members[m] for m in np.flatnonzero(self.loads == 0))

    @cached_property
    def violations(self) -> tuple[Violation, ...]:
        """Every reason why the assignment is not valid, in the order of partitions.

        An assignment is valid if every partition that somebody reads is with exactly one member
        that reads it.
        """
        group = self.group
        if self.is_valid:
            return ()
        nobody = np.flatnonzero(self.owner == NOBODY)
        left = nobody[group.readers[group.topic[nobody]] > 0]
        held = np.flatnonzero(self.owner >= 0)
        foreign = held[~group.subscribes(self.owner[held], group.topic[held])]
        found = [self._violation("unsubscribed", p) for p in foreign.tolist()]
        found += [self._violation("unassigned", p) for p in left.tolist()]
        index = {topic: i for i, topic in enumerate(group.topics)}
        for member, topic, number in self.strays:
            name, t = group.members[member], index.get(topic)
            if t is None or number >= group.partitions[t]:
                found.append(Violation("no-such-partition", name, topic, number))
                continue
            found.append(Violation("double", name, topic, number))
            if not group.subscribes(np.array([member]), np.array([t]))[0]:
                found.append(Violation("unsubscribed", name, topic, number))
        return tuple(sorted(found, key=lambda v: (v.topic, v.partition, v.member or "")))

    @property
    def is_valid(self) -> bool:
        """Whether every partition that somebody reads is with exactly one member that reads it."""
        from groups.fleet import Fleet

        return not self.strays and bool(valid_in(self, Fleet.one(self.group))[0])

    def require_valid(self) -> None:
        """Raise InvalidAssignment with the first violation, if there is one."""
        if self.violations:
            more = len(self.violations) - 1
            raise InvalidAssignment(f"{self.violations[0]}{f' (and {more} more)' if more else ''}")

    @property
    def unassigned(self) -> dict[str, list[int]]:
        """Partitions that no member reads and nobody has, by topic; they are no defect."""
        unread = (self.owner == NOBODY) & (self.group.readers[self.group.topic] == 0)
        marked = np.where(unread, 0, NOBODY).astype(np.int32)
        return {topic: numbers for _, topic, numbers in _runs(self.group, marked)}

    @property
    def moves(self) -> list[dict[str, str | int]]:
        """Each partition that moves: `topic`, `partition`, and the members `from` and `to`."""
        group, moved = self.group, self.moved
        columns = (moved, group.owner[moved], self.owner[moved])
        return [
            {
                "topic": group.topics[group.topic[p]],
                "partition": int(group.number[p]),
                "from": group.members[a],
                "to": group.members[b],
            }
            for p, a, b in zip(*(column.tolist() for column in columns), strict=True)
        ]

    def moves_by_pair(self) -> dict[tuple[str, str], int]:
        """Return ``{(from, to): partitions}``: how many partitions move between two members."""
        before, after = self.group.owner[self.moved], self.owner[self.moved]
        names = self.group.members
        pairs = Counter(zip(before.tolist(), after.tolist(), strict=True))
        return {(names[a], names[b]): count for (a, b), count in sorted(pairs.items())}

    def balanced(self) -> bool:
        """Return whether the assignment is balanced as KIP-54 defines it.

        That is so if loads differ by at most one, or no move of a single partition to another of
        its potential consumers improves the balance score. Chains of moves may still improve it.
        """
        from groups.fleet import Fleet

        return bool(balanced_in(self, Fleet.one(self.group))[0])

    def _violation(self, kind: ViolationKind, partition: int) -> Violation:
        member, group = self.owner[partition], self.group
        name = None if member == NOBODY else group.members[member]
        number = int(group.number[partition])
        return Violation(kind, name, group.topics[group.topic[partition]], number)


def valid_in(assignment: Assignment, fleet: Fleet) -> Bools:
    """(groups,) bool: whether readers hold all that is read, and nobody the rest.

    Parameters
    ----------
    assignment : an assignment of `fleet.group`, without strays
    """
    group, owner = fleet.group, assignment.owner
    everywhere = not len(owner) or owner.min() >= 0
    if everywhere and group.everybody_reads_all:
        return np.ones(len(fleet), bool)
    if everywhere:
        # A million partitions take 7 ms so, and 29 ms below.
        wrong = ~group.subscribes(owner, group.topic)
    else:
        wrong = (owner < 0) & (group.readers > 0)[group.topic]
        held = np.flatnonzero(owner >= 0)
        wrong[held] = ~group.subscribes(owner[held], group.topic[held])
    return np.asarray(~any_in_parts(wrong, fleet.partition_start))


def balanced_in(assignment: Assignment, fleet: Fleet) -> Bools:
    """(groups,) bool: whether each group is balanced as `Assignment.balanced` says."""
    group = fleet.group
    member, partition = assignment.holdings
    loads = assignment.loads
    greatest = np.full(len(group.topics), -1, np.int64)
    np.maximum.at(greatest, group.topic[partition], loads[member])
    least = group.subscriptions.least_of_readers(loads)
    return np.asarray(~any_in_parts(greatest - 1 > least, fleet.topic_start))


def _runs(group: Group, owner: Ints) -> list[tuple[int, str, list[int]]]:
    """Return (member, topic name, ascending partition numbers) triples, by member and topic."""
    held = np.flatnonzero(owner >= 0)
    held = held[np.argsort(owner[held], kind="stable")]
    member, topic, number = owner[held], group.topic[held], group.number[held]
    starts = np.flatnonzero(
        np.concatenate(([True], (member[1:] != member[:-1]) | (topic[1:] != topic[:-1])))
    )
    ends = [*starts[1:].tolist(), len(held)]
    numbers = number.tolist()
    return [
        (int(member[start]), group.topics[topic[start]], numbers[start:end])
        for start, end in zip(starts.tolist() if len(held) else [], ends, strict=False)
    ]
