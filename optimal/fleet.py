"""Fleet: many groups side by side, as the columns of one group without common topics."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from groups.group import contains

if TYPE_CHECKING:
    from collections.abc import Sequence

    from groups.group import Bools, Group, Int64, Ints


@dataclass(frozen=True, eq=False)
class Fleet:
    """Groups side by side: members, topics, partitions and racks are numbered through.

    Attributes
    ----------
    groups : the groups, in order
    member_start, partition_start : (groups + 1,) int64, where each group's numbers begin
    member_group : (members,) int64, group of each member
    indptr, topics_read : CSR of the subscriptions
    counts : (topics,) int64, partitions of each topic
    topic : (partitions,) int64, topic of each partition
    owner : (partitions,) int64, valid owner, -1 nobody
    weight : (partitions,) int64, -1 unknown, or None where no group has any
    rack : (members,) int64, -1 none; replicas : (partitions,) int64, -1 unknown
    rack_entries : int64 ascending, ``replicas * racks + rack``
    """

    groups: tuple[Group, ...]
    member_start: Int64
    partition_start: Int64
    member_group: Int64
    indptr: Int64
    topics_read: Int64
    counts: Int64
    topic: Int64
    owner: Int64
    weight: Int64 | None
    rack: Int64
    replicas: Int64
    rack_entries: Int64
    racks: int

    @staticmethod
    def of(groups: Sequence[Group]) -> Fleet:
        """Put groups side by side."""
        members = _starts([len(g.members) for g in groups])
        topics = _starts([len(g.topics) for g in groups])
        partitions = _starts([g.n_partitions for g in groups])
        entries = _starts([len(g.subscription_topics) for g in groups])
        rack, replicas, rack_entries, racks = _racks(groups)
        weights = [
            np.full(g.n_partitions, -1, np.int64) if g.weight is None else g.weight for g in groups
        ]
        return Fleet(
            groups=tuple(groups),
            member_start=members,
            partition_start=partitions,
            member_group=np.repeat(np.arange(len(groups)), np.diff(members)),
            indptr=np.append(
                _shifted([g.subscription_indptr[:-1] for g in groups], entries), entries[-1]
            ),
            topics_read=_shifted([g.subscription_topics for g in groups], topics),
            counts=_joined([g.partitions for g in groups]),
            topic=_shifted([g.topic for g in groups], topics),
            owner=_shifted([g.owner for g in groups], members, keep=-1),
            weight=None if all(g.weight is None for g in groups) else _joined(weights),
            rack=rack,
            replicas=replicas,
            rack_entries=rack_entries,
            racks=racks,
        )

    @property
    def members(self) -> int:
        """Number of all members."""
        return int(self.member_start[-1])

    @property
    def partitions(self) -> int:
        """Number of all partitions."""
        return int(self.partition_start[-1])

    @cached_property
    def reading(self) -> Int64:
        """(subscriptions,) int64: member of each entry of `topics_read`."""
        return np.repeat(np.arange(self.members), np.diff(self.indptr))

    def misses(self, rack: Ints, replicas: Ints) -> Bools:
        """Say for each pair whether the rack, -1 for none, holds no replica."""
        asked = np.asarray(replicas, np.int64) * self.racks + rack
        return np.asarray((rack < 0) | ~contains(self.rack_entries, asked), bool)


def _starts(lengths: list[int]) -> Int64:
    return np.cumsum([0, *lengths], dtype=np.int64)


def _joined(columns: Sequence[Ints]) -> Int64:
    return np.concatenate([np.empty(0, np.int64), *columns]).astype(np.int64, copy=False)


def _shifted(columns: Sequence[Ints], starts: Int64, keep: int | None = None) -> Int64:
    joined = _joined(columns)
    if len(columns) == 1:
        return joined
    shift = np.repeat(starts[:-1], [len(c) for c in columns])
    return joined + shift if keep is None else np.where(joined == keep, keep, joined + shift)


def _racks(groups: Sequence[Group]) -> tuple[Int64, Int64, Int64, int]:
    members, replicas = [], []
    entries = [np.empty(0, np.int64)]
    width = sum(len(g.racks.names) for g in groups if g.racks is not None)
    racks = sets = 0
    for g in groups:
        if g.racks is None:
            members.append(np.full(len(g.members), -1, np.int64))
            replicas.append(np.full(g.n_partitions, -1, np.int64))
            continue
        names = len(g.racks.names)
        members.append(np.where(g.racks.member < 0, -1, g.racks.member.astype(np.int64) + racks))
        sets_here = g.racks.replicas.astype(np.int64)
        replicas.append(np.where(sets_here < 0, -1, sets_here + sets))
        if names:
            held, rack = np.divmod(g.racks.holds, names)
            entries.append((held + sets) * width + rack + racks)
        racks, sets = racks + names, sets + int(sets_here.max(initial=-1)) + 1
    return _joined(members), _joined(replicas), _joined(entries), width
