"""Books: who reads, owned and holds what, as columns; whether that is valid and what it costs.

The audit's view of the raw data: all here is made of what the source of the group said.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from groups.tiers import TIERS, pairwise_difference
from optimal.case import BY_PARTITION

if TYPE_CHECKING:
    from groups.arrays import Bools, Int32, Int64, Ints
    from groups.group import Group
    from groups.tiers import Objective

# Two numbers below it can be added; above it stands what there is not.
SAFE = 2**62
# A table of all rows and topics is worth it up to so many cells per question.
DENSE = 16
# What is counted at once stays in the processor's cache.
AT_ONCE = 2**16
# Runs of this length and more are counted as one, where so few begin in what is counted at once.
LONG = 16
FEW = AT_ONCE // LONG
# Where so small a part differs, it is counted and not the whole.
SMALL = 4


@dataclass(frozen=True, eq=False)
class Books:
    """Who reads, owned and holds what, as columns made of the raw data.

    Attributes
    ----------
    held : (all partitions,) int32, the holder of each, -1 nobody
    entry_row : (entries,) int64, row of each entry of the subscriptions
    row_size : (rows,) int64, how many members read each row
    readers : (topics,) int64, how many members read each topic
    """

    group: Group
    held: Int32
    entry_row: Int64
    row_size: Int64
    readers: Int64
    _values: dict[str, int] = field(default_factory=dict, init=False)

    @staticmethod
    def of(group: Group, held: Int32) -> Books:
        """Count the readers of each topic."""
        group.require_subscriptions()
        lengths = np.diff(group.subscription_indptr)
        entry_row = np.repeat(np.arange(len(lengths)), lengths)
        row_size = np.bincount(group.subscription_row, minlength=len(lengths))
        readers = np.zeros(len(group.topics), np.int64)
        np.add.at(readers, group.subscription_topics, row_size[entry_row])
        return Books(group, held, entry_row, row_size, readers)

    @cached_property
    def all_read(self) -> bool:
        """Whether somebody reads every partition."""
        return bool((self.readers[self.group.partitions > 0] > 0).all())

    @cached_property
    def topic(self) -> Int32:
        """(all partitions,) int32."""
        topics = np.arange(len(self.readers), dtype=np.int32)
        return np.repeat(topics, self.group.partitions)

    @cached_property
    def read(self) -> Int64 | slice:
        """The partitions that somebody reads."""
        return slice(None) if self.all_read else np.flatnonzero(self.readers[self.topic] > 0)

    @cached_property
    def holders(self) -> Int64:
        """(members + 1,) int64: how many of the read partitions nobody, then each member holds."""
        return self.counted(self.held)

    @property
    def loads(self) -> Int64:
        """(members,) int64: how many partitions each member holds."""
        return self.holders[1:]

    @cached_property
    def owners(self) -> Int64:
        """(members + 1,) int64: how many of the read partitions nobody, then each member owned."""
        owner, held, width = self.group.owner[self.read], self.held[self.read], len(self.holders)
        changed = np.flatnonzero(self.differs)
        if len(changed) * SMALL > len(owner):
            return self.counted(self.group.owner)
        came = np.bincount(held[changed] + 1, minlength=width)
        return self.holders - came + np.bincount(owner[changed] + 1, minlength=width)

    @cached_property
    def differs(self) -> Bools:
        """(read,) bool: whether a partition is not with its owner, or has none."""
        return np.asarray((self.group.owner != self.held)[self.read], bool)

    @cached_property
    def owned(self) -> Bools:
        """(read,) bool: whether a partition has a valid owner."""
        return np.asarray(self.group.owner[self.read] >= 0, bool)

    @cached_property
    def moved(self) -> Bools:
        """(read,) bool: whether a partition had an owner and is not with it."""
        if not self.owned.any():
            return self.owned
        return self.differs if self.owned.all() else np.asarray(self.owned & self.differs, bool)

    def counted(self, member: Int32) -> Int64:
        """(members + 1,) int64: how many of the read partitions nobody has, then each member."""
        member, width = member[self.read], len(self.group.members) + 1
        step, found = max(AT_ONCE, width), np.zeros(width, np.int64)
        if len(member) > AT_ONCE and len(_runs(member[:AT_ONCE])) < FEW:
            # One member after the other is slow to count, so long runs are counted at once.
            starts = _runs(member)
            if len(starts) * LONG < len(member):
                length = np.diff(starts, append=len(member))
                return np.bincount(member[starts] + 1, length, width).astype(np.int64)
        for start in range(0, len(member), step):
            found += np.bincount(member[start : start + step] + 1, minlength=width)
        return found

    @cached_property
    def valid(self) -> bool:
        """Say whether what somebody reads is with a reader, and the rest with nobody."""
        group, held = self.group, self.held
        if self.all_read:
            if self.holders[0]:
                return False
        elif ((held >= 0) != (self.readers[self.topic] > 0)).any():
            return False
        if np.count_nonzero(self.row_size) <= 1:
            return True
        width = len(self.readers)
        entries = self.entry_row * width + group.subscription_topics
        topic, holder = self.topic[self.read], held[self.read]
        first = group.subscription_row * np.int64(width)
        if len(self.row_size) * width > DENSE * len(holder):
            asked = first[holder] + topic
            at = np.searchsorted(entries, asked)
            return bool((at < len(entries)).all() and (entries[at] == asked).all())
        reads = np.zeros(len(self.row_size) * width, bool)
        reads[entries] = True
        return all(
            reads.take(
                first.take(holder[start : start + AT_ONCE]) + topic[start : start + AT_ONCE]
            ).all()
            for start in range(0, len(holder), AT_ONCE)
        )

    def know(self, objective: Objective) -> bool:
        """Say whether the group has what the tiers of an objective need."""
        racks = self.group.racks
        columns = {"lag": self.group.lag_records, "weight": self.group.weight}
        columns["racks"] = None if racks is None else racks.replicas.astype(np.int64)
        for tier in objective:
            needs = TIERS[tier].needs
            if needs is None:
                continue
            wanted = self.read
            if tier == "moved_weight":
                wanted = np.flatnonzero((self.held >= 0) & (self.group.owner >= 0))
            if tier == "peak_time" and (self.group.capacity < 1)[self.loads > 0].any():
                return False
            column = columns[needs]
            if not len(self.held[wanted]):
                continue
            if column is None or column[wanted].min() < 0:
                return False
        return True

    def far(self, member: Ints) -> Int64:
        """(read,) int64: 1 where a partition's member is far from all its replicas."""
        racks = self.group.racks
        if racks is None:
            return np.zeros(len(member), np.int64)
        rack = racks.member[member]
        return racks.lack(racks.replicas[self.read], rack).astype(np.int64)

    def leaving(self, tier: str) -> Int64:
        """(read,) int64: what it costs in a tier that a partition leaves its owner."""
        if tier == "moved_weight" and self.group.weight is not None:
            return np.where(self.owned, self.group.weight[self.read], 0)
        return self.owned.astype(np.int64)

    def costs(self, tier: str) -> Int64:
        """(read,) int64: what each partition costs in a tier where it is."""
        if tier == "racks":
            return self.far(self.held[self.read])
        return np.where(self.moved, self.leaving(tier), 0)

    def dearest(self, tier: str) -> Int64 | Bools:
        """(read,) int64 or bool: what each costs in a tier where all is far, or nothing stays."""
        if tier == "moved_weight":
            return self.leaving(tier)
        return np.ones(len(self.owned), bool) if tier == "racks" else self.owned

    def most(self, tier: str) -> int:
        """Return what a tier costs where all is far, or nothing stays."""
        return int(self.dearest(tier).sum())

    @cached_property
    def even_squares(self) -> Int64:
        """(topics,) int64: the least sum of squares: the share of each reader is rounded."""
        share, more = np.divmod(self.group.partitions, np.maximum(self.readers, 1))
        least = more * (share + 1) ** 2 + (self.readers - more) * share**2
        return np.where(self.readers > 0, least, 0)

    def value(self, tier: str) -> int:
        """Return the value of a tier."""
        if tier not in self._values:
            self._values[tier] = self._value(tier)
        return self._values[tier]

    def _value(self, tier: str) -> int:
        if tier == "stickiness":
            return int(np.count_nonzero(self.moved))
        if tier in BY_PARTITION:
            return int(self.costs(tier).sum())
        held = self.held[self.read]
        if tier == "topic_balance":
            key = self.topic[self.read] * np.int64(len(self.loads)) + held
            shares = np.unique(key, return_counts=True)[1]
            return int((shares * shares).sum())
        if tier == "idle_members":
            could = min(len(self.loads), len(self.held[self.read]))
            return could - int(np.count_nonzero(self.loads))
        loads, needs = self.loads, TIERS[tier].needs
        column = self.group.lag_records if needs == "lag" else self.group.weight
        if needs is not None and column is not None:
            loads = np.zeros(len(self.loads), np.int64)
            np.add.at(loads, held, column[self.read])
        if tier == "peak_time":
            return int((-(-loads // np.maximum(self.group.capacity, 1))).max(initial=0))
        shape = next(shape for shape in ("peak", "spread", "balance") if shape in tier.split("_"))
        if shape == "balance":
            return _difference(loads)
        fewest = int(loads.min()) if shape == "spread" and len(loads) else 0
        return int(loads.max(initial=0)) - fewest


def _difference(loads: Int64) -> int:
    """Return the sum over all pairs of the difference of their loads."""
    members = len(loads)
    if members * int(loads.sum()) >= SAFE:
        return pairwise_difference(loads.tolist())
    return int(((2 * np.arange(members) - (members - 1)) * np.sort(loads)).sum())


def _runs(member: Int32) -> Int64:
    """Where runs of one member begin, ascending."""
    return np.flatnonzero(np.append(True, member[1:] != member[:-1])[: len(member)])
