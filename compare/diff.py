"""Diff: what each member lost and gained between two assignments of one group, by names."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import zip_longest
from typing import TYPE_CHECKING, NamedTuple

from compare.lag.behind import WORTH
from compare.moves import Move, most_first
from groups.arrays import UNKNOWN
from groups.documents.assay_group import pairs
from groups.errors import BadInput
from groups.wording import HIGHEST_SEEN, HOLDERS_ALONE

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from groups.assignment_files import AssignmentFile, NamedAssignment

FORMAT = "assay-diff/1"
# The ways in which the later assignment may be worse, worst first.
KINDS = (
    "partitions newly without an owner",
    "more partitions on one member",
    "loads farther apart",
    "at least a tenth more lag on one member",
)
# The ways in which it may be better, in the same order.
GAINS = (
    "fewer partitions without an owner",
    "fewer partitions on one member",
    "loads closer together",
    "at least a tenth less lag on one member",
)
Numbers = dict[str, list[int]]
Partition = tuple[str, int]


@dataclass(frozen=True)
class Change:
    """The change of one member.

    Attributes
    ----------
    before, after : how many partitions it holds; None if it is not in the group
    lost, gained : ``{topic: [partition, ...]}``, ascending
    """

    member: str
    before: int | None
    after: int | None
    lost: Numbers
    gained: Numbers


class Stuck(NamedTuple):
    """A member that committed nothing between two captures, though records wait for it.

    Attributes
    ----------
    waiting : records between the commits and the ends of logs in the later capture
    arrived : how many more there are than in the earlier one
    """

    member: str
    waiting: int
    arrived: int


@dataclass(frozen=True)
class Diff:
    """The difference between an earlier and a later assignment of one group.

    A text that shows only what members hold, or only those that hold something, does not make the
    rest come or go: members that hold nothing are left out of `before` and `after` if only one can
    show them, and `after` has the partitions of `before` that it would not show without an owner.
    """

    before: NamedAssignment
    after: NamedAssignment

    def __post_init__(self) -> None:
        """Require that both have the same group id, if both have one, and make them comparable."""
        names = {side.group for side in (self.before, self.after)} - {None}
        if len(names) > 1:
            raise BadInput(
                f"{self.after.source}: it is of group {self.after.group!r}, "
                f"but {self.before.source} is of {self.before.group!r}"
            )
        before, after = self.before, _with_unshown(self.before, self.after)
        object.__setattr__(self, "before", _without_idle(before, beside=after))
        object.__setattr__(self, "after", _without_idle(after, beside=before))

    @property
    def group(self) -> str | None:
        """The group's id, None if neither has one."""
        return self.before.group or self.after.group

    @property
    def joined(self) -> list[str]:
        """Members that are only in the later one, ascending."""
        return sorted(self.after.held.keys() - self.before.held.keys())

    @property
    def left(self) -> list[str]:
        """Members that are only in the earlier one, ascending."""
        return sorted(self.before.held.keys() - self.after.held.keys())

    @cached_property
    def members(self) -> tuple[Change, ...]:
        """The change of each member, in the order of ids."""
        before, after = (
            {member: set(pairs(held)) for member, held in side.held.items()}
            for side in (self.before, self.after)
        )
        return tuple(
            Change(
                member,
                len(before[member]) if member in before else None,
                len(after[member]) if member in after else None,
                _numbers(before.get(member, set()) - after.get(member, set())),
                _numbers(after.get(member, set()) - before.get(member, set())),
            )
            for member in sorted(before.keys() | after.keys())
        )

    @cached_property
    def moves(self) -> tuple[Move, ...]:
        """The moves between members, largest first; each lost partition is in one of them."""
        losers: dict[Partition, list[str]] = defaultdict(list)
        gainers: dict[Partition, list[str]] = defaultdict(list)
        for change in self.members:
            for partition in pairs(change.lost):
                losers[partition].append(change.member)
            for partition in pairs(change.gained):
                gainers[partition].append(change.member)
        moved: dict[tuple[str | None, str | None, bool], list[Partition]] = defaultdict(list)
        before, after = (set(_holders(side)) for side in (self.before, self.after))
        for partition in losers.keys() | gainers.keys():
            ways = zip_longest(losers.get(partition, ()), gainers.get(partition, ()))
            for origin, target in ways:
                held = before if origin is None else after
                shared = None in (origin, target) and partition in held
                moved[origin, target, shared].append(partition)
        return most_first(
            Move(a, b, _numbers(each), shared) for (a, b, shared), each in moved.items()
        )

    @property
    def moved(self) -> int:
        """Number of partitions that went from one member to another."""
        return sum(m.count for m in self.moves if m.origin is not None and m.target is not None)

    @property
    def appeared(self) -> Numbers | None:
        """Partitions that only the later side has; None if a side does not say which exist."""
        return _only_in(self.after, self.before)

    @property
    def vanished(self) -> Numbers | None:
        """Partitions that only the earlier side has; None if a side does not say which exist."""
        return _only_in(self.before, self.after)

    @cached_property
    def lost_owner(self) -> Numbers | None:
        """Partitions that lost their owner; None if the later side does not say which exist."""
        left = unassigned(self.after)
        if left is None:
            return None
        return _numbers(_holders(self.before).keys() & set(pairs(left)))

    @property
    def waiting(self) -> int | None:
        """Lag in records of the partitions that lost their owner; None if one is unknown."""
        lag = self.after.lag_records
        lags = [
            lag[topic][number] if number < len(lag.get(topic, ())) else UNKNOWN
            for topic, number in pairs(self.lost_owner or {})
        ]
        return None if UNKNOWN in lags else sum(lags)

    @cached_property
    def stuck(self) -> tuple[Stuck, ...]:
        """Members that committed nothing in between, though records wait; most records first.

        Only partitions that a member holds on both sides count, with a commit on both. Empty if
        both are of one time.
        """
        found: list[Stuck] = []
        if None is not self.before.captured_at == self.after.captured_at:
            return ()
        for member, held in self.after.held.items():
            both = {*pairs(held)} & {*pairs(self.before.held.get(member, {}))}
            sides = [(_commit(self.before, one), _commit(self.after, one)) for one in both]
            known = [(then, now) for then, now in sides if min(*then, *now) >= 0]
            behind = [now[1] - now[0] for _, now in known]
            arrived = sum(now[1] - then[1] for then, now in known)
            if max(behind, default=0) > 0 and all(now[0] == then[0] for then, now in known):
                found.append(Stuck(member, sum(max(lag, 0) for lag in behind), arrived))
        return tuple(sorted(found, key=lambda one: (-one.waiting, one.member)))

    @cached_property
    def harm(self) -> tuple[int, int, int, int]:
        """How much worse the later side is in each of `KINDS`; a number below 0 is a gain.

        The numbers are partitions that lost their owner, or if none did, the increase of those
        without one; the increase of the greatest load if the number of members has changed, as
        fewer members can be more even by holding more each; the increase of the difference between
        the greatest and the least load; and the increase of the greatest lag of a member, 0 if
        less than a tenth of what it was.
        """
        now, then = self.after, self.before
        left = [sum(map(len, (unassigned(side) or {}).values())) for side in (now, then)]
        most, least = ([of(loads(side), default=0) for side in (now, then)] for of in (max, min))
        fullest = most[0] - most[1]
        lags = [side.peak_lag_records for side in (now, then)]
        more = 0 if lags[0] is None or lags[1] is None else lags[0] - lags[1]
        if WORTH * abs(more) < (lags[1] or 0):
            more = 0
        lost = sum(map(len, (self.lost_owner or {}).values()))
        return (
            lost or left[0] - left[1],
            fullest if len(now.held) != len(then.held) else 0,
            fullest - (least[0] - least[1]),
            more,
        )

    @property
    def worse(self) -> str | None:
        """The first of `KINDS` in which the sides differ, if the later is worse; else None."""
        return self._first_of(KINDS, 1)

    @property
    def better(self) -> str | None:
        """The first of `GAINS` in which the sides differ, if the later is better; else None."""
        return self._first_of(GAINS, -1)

    def _first_of(self, kinds: Sequence[str], sign: int) -> str | None:
        """Return the first kind in which the sides differ, if its harm has this sign."""
        differing = ((kind, more) for kind, more in zip(kinds, self.harm, strict=True) if more)
        kind, more = next(differing, (None, 0))
        return kind if sign * more > 0 else None

    @property
    def is_empty(self) -> bool:
        """Whether both have the same members, assignment and partitions."""
        return not any((self.joined, self.left, self.appeared, self.vanished, self.moves))

    def to_dict(self) -> dict[str, object]:
        """Return the ``assay-diff/1`` document."""
        return {
            "format": FORMAT,
            "group": self.group,
            "before": _side(self.before),
            "after": _side(self.after),
            "joined": self.joined,
            "left": self.left,
            "appeared": self.appeared,
            "vanished": self.vanished,
            "moved": self.moved,
            "lost_owner": self.lost_owner,
            "waiting": self.waiting,
            "stuck": [one._asdict() for one in self.stuck],
            "worse": self.worse,
            "better": self.better,
            "moves": [move.to_dict() for move in self.moves],
            "members": [vars(change) for change in self.members],
        }


def diffs_of(before: AssignmentFile, after: AssignmentFile) -> list[Diff]:
    """Return the diff of each group that is in both files, worst change first.

    Raises
    ------
    BadInput
        If no group is in both, or one is more than once in a file.
    """
    both = names_in(before) & names_in(after)
    if not both:
        raise BadInput(f"{after.name}: no group in it that is in {before.name} too")
    return worst_first(Diff(before.of(name), after.of(name)) for name in sorted(both))


def worst_first(diffs: Iterable[Diff]) -> list[Diff]:
    """Return diffs sorted by :attr:`Diff.harm`, worst change first."""
    return sorted(diffs, key=lambda diff: tuple(-worse for worse in diff.harm))


def names_in(file: AssignmentFile) -> set[str]:
    """Return the names of the groups in a file."""
    return {one.group for one in file.assignments if one.group is not None}


def not_compared(file: AssignmentFile, diffs: Iterable[Diff]) -> list[NamedAssignment]:
    """Return the named groups of a file that are in no diff, in the order of names."""
    compared = {diff.group for diff in diffs}
    alone = [one for one in file.assignments if one.group not in (None, *compared)]
    return sorted(alone, key=lambda one: str(one.group))


def loads(side: NamedAssignment) -> list[int]:
    """Return how many partitions each member holds, in the order of names."""
    return [len(set(pairs(side.held[member]))) for member in sorted(side.held)]


def unassigned(side: NamedAssignment) -> Numbers | None:
    """Return the partitions without an owner; None if the side does not say which exist."""
    if side.exist is None:
        return None
    return _numbers(set(pairs(side.exist)).difference(*map(pairs, side.held.values())))


def with_several(side: NamedAssignment) -> Numbers:
    """Return the partitions that several members hold."""
    return _numbers(pair for pair, count in _holders(side).items() if count > 1)


def _without_idle(side: NamedAssignment, *, beside: NamedAssignment) -> NamedAssignment:
    """Return a side without members that hold nothing and that the other side cannot show."""
    if HOLDERS_ALONE not in beside.assumed:
        return side
    held = {
        m: topics for m, topics in side.held.items() if any(topics.values()) or m in beside.held
    }
    return replace(side, held=held)


def _with_unshown(before: NamedAssignment, after: NamedAssignment) -> NamedAssignment:
    """Return the later side with the earlier partitions that it shows only if they have an owner.

    They are those of a text without partition counts, unless it would show their commit.
    """
    if after.exist is None or not any(HIGHEST_SEEN in line for line in after.assumed):
        return after
    exist = {topic: {*numbers} for topic, numbers in after.exist.items()}
    for topic, number in pairs(before.exist or {}):
        if not after.commits or _commit(before, (topic, number))[0] == UNKNOWN:
            exist.setdefault(topic, set()).add(number)
    return replace(after, exist=exist)


def _holders(side: NamedAssignment) -> Counter[Partition]:
    """Return how many members hold each partition that has an owner."""
    return Counter(pair for topics in side.held.values() for pair in set(pairs(topics)))


def one_sided(
    before: NamedAssignment | None = None, after: NamedAssignment | None = None
) -> dict[str, object]:
    """Return the ``assay-diff/1`` document of a group that only one side has."""
    sides = {"before": before, "after": after}
    (group,) = (side.group for side in sides.values() if side is not None)
    documents = {when: None if side is None else _side(side) for when, side in sides.items()}
    return {"format": FORMAT, "group": group, **documents}


def _side(side: NamedAssignment) -> dict[str, object]:
    exist = side.exist
    return {
        "source": side.source,
        "captured_at": side.captured_at,
        "peak_lag": side.peak_lag_records,
        "members": len(side.held),
        "partitions": None if exist is None else sum(map(len, exist.values())),
        "unassigned": unassigned(side),
        "double": with_several(side),
        "assumed": list(side.assumed),
    }


def _commit(side: NamedAssignment, partition: Partition) -> tuple[int, int]:
    """Return the committed offset and the end of the log of a partition, -1 where unknown."""
    topic, number = partition
    commits = side.commits.get(topic, ())
    return commits[number] if number < len(commits) else (UNKNOWN, UNKNOWN)


def _only_in(one: NamedAssignment, other: NamedAssignment) -> Numbers | None:
    if one.exist is None or other.exist is None:
        return None
    return _numbers(set(pairs(one.exist)).difference(pairs(other.exist)))


def _numbers(pairs: Iterable[Partition]) -> Numbers:
    found: Numbers = {}
    for topic, number in sorted(pairs):
        found.setdefault(topic, []).append(number)
    return found
