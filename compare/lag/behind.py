"""Behind: how far behind each member is, in records and in time, and on what that rests.

And what waits in partitions that have commits, though no member reads them any more: where the
only member that read a topic has left or was killed, nobody takes its partitions over.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from groups.arrays import UNKNOWN, Bools
from groups.tiers import load_of
from groups.wording import MOST_NAMED, agreed, counted, duration, few

if TYPE_CHECKING:
    from collections.abc import Sequence

    from groups.assignment import Assignment
    from groups.group import Group

# A peak that is less than one part in so many away says nothing: no fall of that is worth a move.
WORTH = 10


@dataclass(frozen=True)
class Behind:
    """How far behind the members of an assignment are.

    Attributes
    ----------
    members : ids
    records : (members,) the known lag of what each holds
    rates : (members,) records a second that each reads, None where that is not known
    unknown : how many of the partitions that somebody holds have a lag that is not known
    """

    members: tuple[str, ...]
    records: tuple[int, ...]
    rates: tuple[int | None, ...]
    unknown: int = 0

    @property
    def seconds(self) -> tuple[int | None, ...]:
        """(members,) time to catch up if nothing new arrives, in whole seconds, rounded up.

        0 for who is not behind, None where the rate is not known.
        """
        return tuple(map(catch_up, self.records, self.rates))

    @property
    def peak(self) -> int | None:
        """The records of the member with most lag, None where some are unknown."""
        return None if self.unknown else max(self.records, default=None)

    @property
    def longest(self) -> int | None:
        """The seconds of the member that takes longest, None where that is not known."""
        if self.unknown or not self.seconds or None in self.seconds:
            return None
        return max(known for known in self.seconds if known is not None)


def known_lag(group: Group) -> int | None:
    """Return the records of all partitions of which the lag is known, None where none is."""
    lag = group.lag_records
    known = () if lag is None else lag[lag >= 0].tolist()
    return sum(known) if known else None


def behind(assignment: Assignment) -> Behind | None:
    """Return how far behind the members are, None where nothing is known of any lag."""
    group = assignment.group
    lag, (_, partition) = group.lag_records, assignment.holdings
    if lag is None or not len(partition):
        return None
    unknown = int((lag[partition] == UNKNOWN).sum())
    records = tuple(load_of(assignment, lag))
    return Behind(group.members, records, rates_of(group), unknown)


def lag_without_owner(now: Assignment) -> int | None:
    """Return the records of partitions that nobody holds though somebody reads them.

    None where no lag is known.
    """
    group, lag = now.group, now.group.lag_records
    unowned = (now.owner < 0) & (group.readers[group.topic] > 0)
    return None if lag is None else sum(lag[unowned & (lag > 0)].tolist())


def rates_of(group: Group) -> tuple[int | None, ...]:
    """Return the records a second that each member reads: its `capacity`, None where not known."""
    if not group.details:
        return (None,) * len(group.members)
    return tuple(one.capacity for one in group.details)


def catch_up(records: int, rate: int | None) -> int | None:
    """Return in how many seconds so many records are read, rounded up."""
    if not records:
        return 0
    return None if rate is None else -(-records // rate)


def peak_lag(assignment: Assignment) -> int | None:
    """Return the records that the member with most lag is behind, None where some are unknown."""
    found = behind(assignment)
    return None if found is None else found.peak


def _lags(assignment: Assignment) -> list[int]:
    """Return the lag of each partition that somebody reads or holds, -1 where it is not known."""
    lag = assignment.group.lag_records
    counts = is_read(assignment.group)
    counts[assignment.holdings[1]] = True
    return [UNKNOWN] if lag is None else lag[counts].tolist()


def total_lag(assignment: Assignment) -> int | None:
    """Return the lag of all partitions that somebody reads or holds; None if one is unknown."""
    lags = _lags(assignment)
    return None if UNKNOWN in lags else sum(lags)


def most_lag(assignment: Assignment) -> str:
    """Return sentences that say which member has most lag; nothing where no lag is known.

    What is unknown is told, and counts for nobody. Where rates are known, so is who takes longest
    to catch up. Where the lag rests on an assumption, so does the sentence, also if there is none.
    """
    found, given = behind(assignment), if_latest(assignment.group)
    if found is None:
        return ""
    if not any(found.records):
        return f"No lag, {given}." if given and not found.unknown else ""
    most = max(found.records)
    total = counted(sum(lag for lag in _lags(assignment) if lag > 0), "record")
    given = f", {given}" if given else ""
    who = _those_at(most, found.records, found.members)
    said = f"Most lag: {who} {most:,} of {total}{given}."
    said += lag_unknown(found.unknown)
    if found.longest is not None:
        who = _those_at(found.longest, found.seconds, found.members)
        said += f" Longest to catch up: {who} {duration(found.longest)}."
    return said


def lag_unknown(partitions: int) -> str:
    """Return a sentence on so many partitions of unknown lag, behind another; nothing on none."""
    return f" The lag of {counted(partitions, 'partition')} is unknown." if partitions else ""


def _those_at(most: int, each: Sequence[int | None], members: Sequence[str]) -> str:
    """Return ``a with``, or ``a and 2 more, each with`` where several have as much."""
    those = [member for member, number in zip(members, each, strict=True) if number == most]
    return f"{few(those[:1], len(those))}{', each' if len(those) > 1 else ''} with"


def rests_on_latest(group: Group) -> int:
    """Return for how many partitions ``latest`` was assumed, 0 where that decides no lag.

    They have no commit, somebody reads them, or the group has no members, and nobody said what
    ``auto.offset.reset`` is. Of one of them at least another answer would make another lag.
    """
    offsets, reset = group.offsets, group.auto_offset_reset
    if offsets is None or reset is not None:
        return 0
    without = np.repeat(
        offsets.given & ((group.readers > 0) | (not group.members)), group.partitions
    )
    without &= offsets.committed < 0
    decides = (offsets.lag(latest=False)[without] != 0).any()
    return int(without.sum()) if decides else 0


def if_latest(group: Group) -> str:
    """Return the condition under which a group's lag is what is said of it, nothing if without.

    It stands in the middle or at the end of a sentence.
    """
    return _if_latest(rests_on_latest(group))


def which_if_latest(groups: Sequence[Group]) -> str:
    """Return which groups' lag rests on that condition; empty if none does."""
    found = [(group.name, count) for group in groups if (count := rests_on_latest(group))]
    if not found:
        return ""
    whose = few(list(dict.fromkeys(name for name, _ in found)))
    return f"lag of {whose} is as shown {_if_latest(sum(count for _, count in found))}"


def _if_latest(count: int) -> str:
    if not count:
        return ""
    return (
        "if consumers start at the end (auto.offset.reset=latest, assumed for "
        f"{counted(count, 'partition')} without a commit)"
    )


@dataclass(frozen=True)
class WithoutReader:
    """Partitions of one group that nobody reads and somebody committed in.

    Attributes
    ----------
    topics : of the partitions, in the group's order
    records : from the commits to the ends, as far as ends are known
    unknown : how many of the partitions have an end that is not known
    surely : whether it is known of every member what it reads
    """

    topics: tuple[str, ...]
    partitions: int
    records: int
    unknown: int
    surely: bool

    def sentence(self) -> str:
        """Return what waits there."""
        nobody = f"that nobody {'reads' if self.surely else 'is known to read'}"
        has, it = ("has a commit", "it") if self.partitions == 1 else ("have commits", "them")
        known = "" if not self.unknown else "at least "
        waiting = f"{known}{counted(self.records, 'record')} {agreed(self.records, 'wait')} there"
        if not self.records:
            waiting = "no record waits there"
            if self.unknown:
                waiting = f"how many records wait in {it} is not known"
        what = counted(self.partitions, "partition")
        return f"{what} {nobody} ({few(self.topics)}) {has}; {waiting}."

    def to_dict(self) -> dict[str, object]:
        """Return the ``without_reader`` of the ``assay-scores/1`` document."""
        return {
            "partitions": self.partitions,
            "topics": list(self.topics),
            "records": self.records,
            "unknown": self.unknown,
        }


def without_reader(group: Group) -> WithoutReader | None:
    """Return the partitions that nobody reads and somebody committed in; None where are none.

    Of a group without members the verdict says it all: None.
    """
    offsets = group.offsets
    if offsets is None or not group.members:
        return None
    there = ~is_read(group) & np.repeat(offsets.given, group.partitions)
    there &= offsets.committed >= 0
    if not there.any():
        return None
    known = there & (offsets.end >= 0)
    behind = np.maximum(offsets.end[known] - offsets.committed[known], 0)
    return WithoutReader(
        topics=tuple(group.topics[t] for t in np.unique(group.topic[there]).tolist()),
        partitions=int(there.sum()),
        records=sum(behind.tolist()),
        unknown=int((there & (offsets.end < 0)).sum()),
        surely=bool(group.subscription_known.all()),
    )


def is_read(group: Group) -> Bools:
    """(all partitions,) bool: whether somebody reads it, or may where that is not known."""
    return np.repeat(group.with_equal_subscriptions().readers > 0, group.partitions)


def sentences_without_reader(groups: Sequence[Group]) -> tuple[str, ...]:
    """Return what nobody reads in the groups where most waits, and the number of others."""
    found = [(group.name, one) for group in groups if (one := without_reader(group)) is not None]
    found.sort(key=lambda named: (-named[1].records, -named[1].unknown))
    told = [f"{name}: {one.sentence()}" for name, one in found[:MOST_NAMED]]
    more = len(found) - MOST_NAMED
    if more > 0:
        has = agreed(more, "have")
        told.append(f"{counted(more, 'more group')} {has} partitions with commits and no reader.")
    return tuple(told)
