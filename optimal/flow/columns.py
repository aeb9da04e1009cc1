"""Columns: a group's arrays as the network code wants them, 64 bits wide."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from groups.group import contains

if TYPE_CHECKING:
    from groups.group import Bools, Group, Int32, Int64, Ints


@dataclass(frozen=True, eq=False)
class Columns:
    """The arrays of a group.

    Attributes
    ----------
    indptr, topics_read : CSR of the topic lists that members read, int64 and int32
    row : (members,) int32, which list each member reads; row_first : (rows,) int64, its first
        member
    counts, readers : (topics,) int64, how many partitions and readers each topic has
    given : (partitions,) int32, valid owner; owned : (members,) int64, how many each owns
    weight : (partitions,) int64, -1 unknown, or None
    rack : (members,) int64, -1 none; replicas : (partitions,) int64, -1 unknown
    rack_entries : int64 ascending, ``replicas * racks + rack``
    """

    members: int
    indptr: Int64
    topics_read: Int32
    row: Int32
    row_first: Int64
    counts: Int64
    readers: Int64
    given: Int32
    owned: Int64
    weight: Int64 | None
    rack: Int64
    replicas: Int64
    rack_entries: Int64
    racks: int

    @staticmethod
    def of(group: Group, *, with_racks: bool) -> Columns:
        """Take the arrays of a group; its racks only where a tier asks for them."""
        racks = group.racks if with_racks else None
        nothing = np.empty(0, np.int64)
        # A group in which nobody reads anything needs no racks to be asked about them.
        members, partitions = (len(group.members), group.n_partitions) if with_racks else (0, 0)
        return Columns(
            members=len(group.members),
            indptr=group.subscription_indptr,
            topics_read=group.subscription_topics,
            row=group.subscription_row,
            row_first=group.row_first,
            counts=group.partitions,
            readers=group.readers,
            given=group.owner,
            owned=group.owned,
            weight=group.weight,
            rack=np.full(members, -1) if racks is None else racks.member.astype(np.int64),
            replicas=(
                np.full(partitions, -1) if racks is None else racks.replicas.astype(np.int64)
            ),
            rack_entries=nothing if racks is None else racks.holds,
            racks=0 if racks is None else len(racks.names),
        )

    @cached_property
    def topic(self) -> Int32:
        """(partitions,) int32: topic of each partition."""
        return np.repeat(np.arange(len(self.counts), dtype=np.int32), self.counts)

    @cached_property
    def owner(self) -> Int64:
        """(partitions,) int64: `given`, wide enough for sums and products."""
        return self.given.astype(np.int64)

    @property
    def partitions(self) -> int:
        """Number of all partitions."""
        return len(self.given)

    def misses(self, rack: Ints, replicas: Ints) -> Bools:
        """Say for each pair whether the rack, -1 for none, holds no replica."""
        asked = np.asarray(replicas, np.int64) * self.racks + rack
        return np.asarray((rack < 0) | ~contains(self.rack_entries, asked), bool)
