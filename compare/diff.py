"""Diff: who lost and gained what between two assignments of one group, by names."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from functools import cached_property
from itertools import zip_longest
from typing import TYPE_CHECKING

from compare.lag.behind import WORTH
from compare.moves import Move, most_first
from groups.arrays import UNKNOWN
from groups.documents.assay_group import pairs
from groups.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from groups.assignment_files import AssignmentFile, NamedAssignment

FORMAT = "assay-diff/1"
# In what the later one may be worse, the worst kind first.
KINDS = (
    "partitions newly without an owner",
    "more partitions on one member",
    "loads farther apart",
    "at least a tenth more lag on one member",
)
# In what it may be better, in the same order.
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
    """What became of one member.

    Attributes
    ----------
    before, after : how many partitions it holds; None where it is not in the group
    lost, gained : ``{topic: [partition, ...]}``, ascending
    """

    member: str
    before: int | None
    after: int | None
    lost: Numbers
    gained: Numbers


@dataclass(frozen=True)
class Diff:
    """Two assignments of one group, the earlier one first."""

    before: NamedAssignment
    after: NamedAssignment

    def __post_init__(self) -> None:
        """Require that both are of one group, as far as they say."""
        names = {side.group for side in (self.before, self.after)} - {None}
        if len(names) > 1:
            raise BadInput(
                f"{self.after.source}: it is of group {self.after.group!r}, "
                f"but {self.before.source} is of {self.before.group!r}"
            )

    @property
    def group(self) -> str | None:
        """The group's id, None where neither says it."""
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
        """What became of each member of either, ascending."""
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
        """What went from whom to whom, most first; each lost partition is in one of them."""
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
                there = before if origin is None else after
                shared = None in (origin, target) and partition in there
                moved[origin, target, shared].append(partition)
        return most_first(
            Move(a, b, _numbers(each), shared) for (a, b, shared), each in moved.items()
        )

    @property
    def moved(self) -> int:
        """How many partitions went from one member to another."""
        return sum(m.count for m in self.moves if m.origin is not None and m.target is not None)

    @property
    def appeared(self) -> Numbers | None:
        """Partitions that only the later one knows; None where one does not say which exist."""
        return _only_in(self.after, self.before)

    @property
    def vanished(self) -> Numbers | None:
        """Partitions that only the earlier one knows; None where one does not say which exist."""
        return _only_in(self.before, self.after)

    @property
    def lost_owner(self) -> Numbers | None:
        """Partitions that had an owner and are with nobody; None where it is open what exists."""
        left = unassigned(self.after)
        if left is None:
            return None
        return _numbers(_holders(self.before).keys() & set(pairs(left)))

    @property
    def waiting(self) -> int | None:
        """Records that wait in partitions that lost their owner; None where one is not known."""
        lags = [
            (self.after.lag_records.get(topic) or [UNKNOWN] * (number + 1))[number]
            for topic, number in pairs(self.lost_owner or {})
        ]
        return None if UNKNOWN in lags else sum(lags)

    @property
    def harm(self) -> tuple[int, int, int, int]:
        """How much worse the later one is, in the order of `KINDS`; a number below 0 is a gain.

        Partitions that lost their owner, or without those how many more nobody holds; where the
        number of members is another one, the greatest load, as fewer members come closer together
        by holding more each; the difference between the greatest and the least load; and the lag
        of the member with most, 0 where that is less than a tenth of what it was.
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
        """In what the later one is worse, of `KINDS`; None where it is not."""
        return self._first_of(KINDS, 1)

    @property
    def better(self) -> str | None:
        """In what the later one is better, of `GAINS`; None where it is not."""
        return self._first_of(GAINS, -1)

    def _first_of(self, kinds: Sequence[str], sign: int) -> str | None:
        """Return the worst kind in which the sides differ, if its harm has that sign."""
        differing = ((kind, more) for kind, more in zip(kinds, self.harm, strict=True) if more)
        kind, more = next(differing, (None, 0))
        return kind if sign * more > 0 else None

    @property
    def is_empty(self) -> bool:
        """Whether members, what they hold and what exists are the same in both."""
        changed = self.joined or self.left or self.appeared or self.vanished
        return not changed and not self.moves

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
            "worse": self.worse,
            "better": self.better,
            "moves": [move.to_dict() for move in self.moves],
            "members": [vars(change) for change in self.members],
        }


def diffs_of(before: AssignmentFile, after: AssignmentFile) -> list[Diff]:
    """Return what changed in each group that is in both files, worst change first.

    Raises
    ------
    BadInput
        Where no group is in both, or one is more than once in a file.
    """
    both = names_in(before) & names_in(after)
    if not both:
        raise BadInput(f"{after.name}: no group in it that is in {before.name} too")
    return worst_first(Diff(before.of(name), after.of(name)) for name in sorted(both))


def worst_first(diffs: Iterable[Diff]) -> list[Diff]:
    """Return diffs of several groups by :attr:`Diff.harm`, the worst change first."""
    return sorted(diffs, key=lambda diff: tuple(-worse for worse in diff.harm))


def names_in(file: AssignmentFile) -> set[str]:
    """Return the groups in a file that have a name."""
    return {one.group for one in file.assignments if one.group is not None}


def not_compared(file: AssignmentFile, diffs: Iterable[Diff]) -> list[NamedAssignment]:
    """Return the groups of a file that have a name and are in no diff, ascending."""
    compared = {diff.group for diff in diffs}
    alone = [one for one in file.assignments if one.group not in (None, *compared)]
    return sorted(alone, key=lambda one: str(one.group))


def loads(side: NamedAssignment) -> list[int]:
    """Return how many partitions each member holds, in the order of names."""
    return [len(set(pairs(side.held[member]))) for member in sorted(side.held)]


def unassigned(side: NamedAssignment) -> Numbers | None:
    """Return the partitions that are with nobody; None where it is not said which exist."""
    if side.exist is None:
        return None
    held: dict[str, set[int]] = defaultdict(set)
    for topics in side.held.values():
        for topic, numbers in topics.items():
            held[topic].update(numbers)
    left = {topic: sorted(set(side.exist[topic]) - held[topic]) for topic in sorted(side.exist)}
    return {topic: numbers for topic, numbers in left.items() if numbers}


def with_several(side: NamedAssignment) -> Numbers:
    """Return the partitions that several members hold."""
    return _numbers(pair for pair, count in _holders(side).items() if count > 1)


def _holders(side: NamedAssignment) -> Counter[Partition]:
    """Return how many members hold each partition that somebody holds."""
    return Counter(pair for topics in side.held.values() for pair in set(pairs(topics)))


def one_sided(
    before: NamedAssignment | None = None, after: NamedAssignment | None = None
) -> dict[str, object]:
    """Return the document of a group that only one side has, so that nothing is compared."""
    sides = {"before": before, "after": after}
    (group,) = (side.group for side in sides.values() if side is not None)
    told = {when: None if side is None else _side(side) for when, side in sides.items()}
    return {"format": FORMAT, "group": group, **told}


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


def _only_in(one: NamedAssignment, other: NamedAssignment) -> Numbers | None:
    if one.exist is None or other.exist is None:
        return None
    found = {
        topic: sorted(set(numbers) - set(other.exist.get(topic, ())))
        for topic, numbers in sorted(one.exist.items())
    }
    return {topic: numbers for topic, numbers in found.items() if numbers}


def _numbers(pairs: Iterable[Partition]) -> Numbers:
    found: Numbers = {}
    for topic, number in sorted(pairs):
        found.setdefault(topic, []).append(number)
    return found
