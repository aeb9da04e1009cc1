"""Without reader: partitions that have commits, though no member reads them any more.

So it is where the only member that read a topic has left or was killed: nobody takes its
partitions over, and what is written there waits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from groups.unknown import reading_most
from groups.wording import MOST_NAMED, agreed, counted, few

if TYPE_CHECKING:
    from collections.abc import Sequence

    from groups.arrays import Bools
    from groups.group import Group


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
    return np.repeat(reading_most(group).readers > 0, group.partitions)


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
