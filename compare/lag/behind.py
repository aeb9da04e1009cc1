"""Behind: how far behind each member is, in records and in time, and what that assumes.

Also the records that wait in partitions that have commits but no reader: if the only member that
read a topic has left or was killed, nobody takes over its partitions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from groups.arrays import UNKNOWN, Bools
from groups.columns.offsets import AT_BEGINNING
from groups.tiers import load_of
from groups.wording import MOST_NAMED, agreed, counted, duration, few

if TYPE_CHECKING:
    from collections.abc import Sequence

    from groups.assignment import Assignment
    from groups.group import Group

# A peak must fall by at least one part in this many to be worth a move.
WORTH = 10


@dataclass(frozen=True)
class Behind:
    """How far behind the members of an assignment are.

    Attributes
    ----------
    members : their ids for people, as `Group.called` has them
    records : (members,) the known lag of the partitions that each holds
    rates : (members,) records a second that each reads, None if unknown
    unknown : how many of the held partitions have an unknown lag
    """

    members: tuple[str, ...]
    records: tuple[int, ...]
    rates: tuple[int | None, ...]
    unknown: int = 0

    @property
    def seconds(self) -> tuple[int | None, ...]:
        """(members,) time to catch up if no new record arrives, in whole seconds, rounded up.

        0 for a member that is not behind, None for one whose rate is unknown.
        """
        return tuple(map(catch_up, self.records, self.rates))

    @property
    def peak(self) -> int | None:
        """The records of the member with most lag, None if a lag is unknown."""
        return None if self.unknown else max(self.records, default=None)

    @property
    def longest(self) -> int | None:
        """The seconds of the member that takes longest, None if a lag or a time is unknown."""
        if self.unknown or not self.seconds or None in self.seconds:
            return None
        return max(known for known in self.seconds if known is not None)


def behind(assignment: Assignment) -> Behind | None:
    """Return how far behind the members are; None if the group has no lag or nothing is held."""
    group = assignment.group
    lag, (_, partition) = group.lag_records, assignment.holdings
    if lag is None or not len(partition):
        return None
    unknown = int((lag[partition] == UNKNOWN).sum())
    records = tuple(load_of(assignment, lag))
    return Behind(group.called, records, rates_of(group), unknown)


def waiting_in(group: Group, of: Bools | slice = slice(None)) -> tuple[int | None, int]:
    """Return the total lag of the partitions whose lag is known, and of how many it is unknown.

    (None, 0) if no lag is known.

    Parameters
    ----------
    of : (partitions,) bool: which partitions to look at; left out: all
    """
    lags = [] if group.lag_records is None else group.lag_records[of].tolist()
    known = [records for records in lags if records >= 0]
    return (sum(known), len(lags) - len(known)) if known else (None, 0)


def waiting_without_owner(now: Assignment) -> tuple[int | None, int]:
    """Return `waiting_in` partitions whose topic has a reader but that no member holds."""
    group = now.group
    return waiting_in(group, (now.owner < 0) & (group.readers[group.topic] > 0))


def rates_of(group: Group) -> tuple[int | None, ...]:
    """Return the records a second that each member reads: its `capacity`, None if unknown."""
    if not group.details:
        return (None,) * len(group.members)
    return tuple(one.capacity for one in group.details)


def catch_up(records: int, rate: int | None) -> int | None:
    """Return the seconds that a member takes to read records at its rate, rounded up."""
    if not records:
        return 0
    return None if rate is None else -(-records // rate)


def peak_lag(assignment: Assignment) -> int | None:
    """Return the lag in records of the member with most, None if a lag is unknown."""
    found = behind(assignment)
    return None if found is None else found.peak


def _lags(assignment: Assignment) -> list[int]:
    """Return the lag of each partition that a member reads or holds, -1 if it is unknown."""
    lag = assignment.group.lag_records
    counts = is_read(assignment.group)
    counts[assignment.holdings[1]] = True
    return [UNKNOWN] if lag is None else lag[counts].tolist()


def total_lag(assignment: Assignment) -> int | None:
    """Return the total lag of the partitions that a member reads or holds, None if unknown."""
    lags = _lags(assignment)
    return None if UNKNOWN in lags else sum(lags)


def most_lag(assignment: Assignment) -> str:
    """Return sentences that say which member has most lag; empty if the group has no lag.

    They count the partitions of unknown lag that a member reads or holds, name the member that
    takes longest to catch up if rates are known, and give the assumption that the lag rests on.
    """
    found, given, lags = behind(assignment), if_latest(assignment.group), _lags(assignment)
    if found is None:
        return ""
    if not any(found.records):
        return f"No lag, {given}." if given and not any(lags) else ""
    most = max(found.records)
    total = counted(sum(lag for lag in lags if lag > 0), "record")
    given = f", {given}" if given else ""
    who = _those_at(most, found.records, found.members)
    said = f"Most lag: {who} {most:,} of {total}{given}."
    said += lag_unknown(lags.count(UNKNOWN))
    if found.longest is not None:
        who = _those_at(found.longest, found.seconds, found.members)
        said += f" Longest to catch up: {who} {duration(found.longest)}."
    return said


def of_unknown_lag(group: Group) -> int:
    """Return how many partitions that a member may read have an unknown lag; 0 without any lag.

    In a group without members all count.
    """
    lag, counts = group.lag_records, is_read(group) | (not group.members)
    return 0 if lag is None else int((lag[counts] == UNKNOWN).sum())


def lag_unknown(partitions: int) -> str:
    """Return the sentence, after a space, on partitions of unknown lag; empty for 0."""
    return f" The lag of {counted(partitions, 'partition')} is unknown." if partitions else ""


def _those_at(most: int, each: Sequence[int | None], members: Sequence[str]) -> str:
    """Return ``a with``, or ``a and 2 more, each with`` if several members have as much."""
    those = [member for member, number in zip(members, each, strict=True) if number == most]
    return f"{few(those[:1], len(those))}{', each' if len(those) > 1 else ''} with"


def rests_on_latest(group: Group) -> int:
    """Return for how many partitions ``latest`` was assumed; 0 if that changes no lag.

    These partitions have no commit, ``auto.offset.reset`` is not given, and a member reads them or
    the group has no members. ``earliest`` would give at least one of them another lag.
    """
    offsets, reset = group.offsets, group.auto_offset_reset
    if offsets is None or reset is not None:
        return 0
    without = np.repeat(
        offsets.given & ((group.readers > 0) | (not group.members)), group.partitions
    )
    without &= offsets.committed < 0
    decides = (offsets.lag(AT_BEGINNING)[without] != 0).any()
    return int(without.sum()) if decides else 0


def if_latest(*groups: Group) -> str:
    """Return the condition ``if consumers start at the end ...`` of groups' lag; empty if none.

    It stands in the middle or at the end of a sentence.
    """
    count = sum(map(rests_on_latest, groups))
    if not count:
        return ""
    return (
        "if consumers start at the end (auto.offset.reset=latest, assumed for "
        f"{counted(count, 'partition')} without a commit)"
    )


def which_if_latest(groups: Sequence[Group]) -> str:
    """Return the names of the groups whose lag has that condition, with it; empty if none has."""
    found = [group for group in groups if rests_on_latest(group)]
    if not found:
        return ""
    whose = few(list(dict.fromkeys(group.name for group in found)))
    return f"lag of {whose} is as shown {if_latest(*found)}"


@dataclass(frozen=True)
class WithoutReader:
    """Partitions that have commits of the group but no member that reads them.

    Attributes
    ----------
    topics : the topics of the partitions, in the group's order
    partitions : how many there are
    records : from the commits to the ends, as far as ends are known
    unknown : how many of the partitions have an unknown end
    surely : whether the subscriptions of all members are known
    """

    topics: tuple[str, ...]
    partitions: int
    records: int
    unknown: int
    surely: bool

    def sentence(self) -> str:
        """Return how many records wait there, as a sentence."""
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
    """Return the partitions that have commits but no reader; None if there are none.

    None, too, for a group without members: its verdict says that nobody reads.
    """
    offsets = group.offsets
    if offsets is None or not group.members:
        return None
    unread = ~is_read(group) & np.repeat(offsets.given, group.partitions)
    unread &= offsets.committed >= 0
    if not unread.any():
        return None
    known = unread & (offsets.end >= 0)
    behind = np.maximum(offsets.end[known] - offsets.committed[known], 0)
    return WithoutReader(
        topics=tuple(group.topics[t] for t in np.unique(group.topic[unread]).tolist()),
        partitions=int(unread.sum()),
        records=sum(behind.tolist()),
        unknown=int((unread & (offsets.end < 0)).sum()),
        surely=bool(group.subscription_known.all()),
    )


def is_read(group: Group) -> Bools:
    """(all partitions,) bool: whether a member reads it, or may read it if that is unknown."""
    return np.repeat(group.with_equal_subscriptions().readers > 0, group.partitions)


def sentences_without_reader(groups: Sequence[Group]) -> tuple[str, ...]:
    """Return sentences on partitions without a reader, for the groups where most records wait.

    The last one counts the groups that are left out.
    """
    found = [(group.name, one) for group in groups if (one := without_reader(group)) is not None]
    found.sort(key=lambda named: (-named[1].records, -named[1].unknown))
    sentences = [f"{name}: {one.sentence()}" for name, one in found[:MOST_NAMED]]
    more = len(found) - MOST_NAMED
    if more > 0:
        has = agreed(more, "have")
        rest = counted(more, "more group")
        sentences.append(f"{rest} {has} partitions with commits and no reader.")
    return tuple(sentences)
