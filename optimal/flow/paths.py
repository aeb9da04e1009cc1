"""Paths: the ways from a pool to a member, and how many partitions take each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from groups.arrays import NOBODY, among, numbered, order_by, ranks, starts
from groups.columns.subscriptions import entries
from groups.tiers import cost_of, racks_of

if TYPE_CHECKING:
    from groups.arrays import Bools, Int32, Int64
    from groups.group import Group
    from optimal.flow.flows import Stages
    from optimal.flow.levels import Blocks
    from optimal.flow.pools import Pools


@dataclass(frozen=True, eq=False)
class Owned:
    """Sets of partitions of one pool and one owner, and of one weight if a tier depends on it.

    There are none if no tier charges moves.

    Attributes
    ----------
    of_partition : (partitions,) int64, index of the set of each partition, -1 if it is in none
    pool, owner, sample, count : (owned,) int64, in ascending order of pool, owner and weight;
        `sample` is one of the partitions, `count` their number
    far : (owned,) bool, whether the owner's rack holds no replica
    """

    of_partition: Int64
    pool: Int64
    owner: Int64
    sample: Int64
    count: Int64
    far: Bools


@dataclass(frozen=True, eq=False)
class Paths:
    """The ways to a member: stay with the owner, or go from the pool through a class of readers.

    If a tier counts parts of what a member has (topics, or what keeps state), each pair of a part
    and a reader of it is a class of its own.

    Attributes
    ----------
    has_parts : whether a class is one reader of one part
    owned : the partitions that may stay
    enters : (owned,) int64, where they enter: with parts the class of the owner in the part,
        otherwise the owner
    read_pool, read_by : (reads,) int64, a pool and a class of its block that reads it
    far : (reads,) bool, whether the rack of the class holds no replica of the pool
    join_class, join_member : (joins,) int64, a class and a member of it, by ascending class
    part : (classes,) int64, the part of each class, 0 without parts
    member_block : (members,) int64, block of each member
    """

    has_parts: bool
    owned: Owned
    enters: Int64
    read_pool: Int64
    read_by: Int64
    far: Bools
    join_class: Int64
    join_member: Int64
    part: Int64
    member_block: Int64

    @staticmethod
    def of(group: Group, pools: Pools, blocks: Blocks, stages: Stages) -> Paths:
        """Return the paths inside the blocks."""
        inside = blocks.of_pool[pools.read_pool] == blocks.of_class[pools.read_by]
        read_pool, read_by = pools.read_pool[inside], pools.read_by[inside]
        far = pools.far[inside]
        owned = _owned(group, pools, inside, stages)
        members = order_by(pools.member_class)
        enters, part = owned.owner, np.zeros(len(pools.class_size), np.int64)
        join_class, join_member = pools.member_class[members], members
        if stages.has_parts:
            read, member = entries(starts(pools.class_size), members, read_by)
            read_pool, far = read_pool[read], far[read]
            # Keys ascend by part, then by member.
            keys, number = np.unique(
                pools.part[read_pool] * len(group.members) + member, return_inverse=True
            )
            read_by, join_class = number.astype(np.int64), np.arange(len(keys))
            part, join_member = np.divmod(keys, max(len(group.members), 1))
            enters = np.searchsorted(
                keys, pools.part[owned.pool] * len(group.members) + owned.owner
            )
        return Paths(
            has_parts=stages.has_parts,
            owned=owned,
            enters=enters,
            read_pool=read_pool,
            read_by=read_by,
            far=far,
            join_class=join_class,
            join_member=join_member,
            part=part,
            member_block=blocks.of_class[pools.member_class],
        )

    @property
    def classes(self) -> int:
        """The number of classes."""
        return len(self.part)


@dataclass(frozen=True, eq=False)
class Counts:
    """How many partitions take each path.

    Attributes
    ----------
    stay : (owned,) int64; read : (reads,) int64; join : (joins,) int64
    """

    stay: Int64
    read: Int64
    join: Int64

    @staticmethod
    def none(paths: Paths) -> Counts:
        """Return 0 for every path."""
        sizes = map(len, (paths.owned.pool, paths.read_pool, paths.join_member))
        return Counts(*(np.zeros(size, np.int64) for size in sizes))

    def __add__(self, other: Counts) -> Counts:
        return Counts(self.stay + other.stay, self.read + other.read, self.join + other.join)


def _owned(group: Group, pools: Pools, inside: Bools, stages: Stages) -> Owned:
    """Return the partitions that may stay: those whose owner is in the block of their pool.

    Parameters
    ----------
    inside : (reads,) bool, whether a pool and a class that reads it are in one block
    """
    of_partition = np.full(group.n_partitions, -1, np.int64)
    costs = [cost_of(tier) for tier in stages.flows]
    if not any(cost.leaving for cost in costs):
        nothing = np.empty(0, np.int64)
        return Owned(of_partition, nothing, nothing, nothing, nothing, np.empty(0, bool))
    held = np.flatnonzero((pools.pool >= 0) & (group.owner >= 0))
    pool, owner = pools.pool[held], group.owner[held].astype(np.int64)
    classes, members = len(pools.class_size), len(group.members)
    reads = np.sort((pools.read_pool * classes + pools.read_by)[inside])
    allowed = among(reads, pool * classes + pools.member_class[owner], len(pools.counts) * classes)
    if not allowed.all():
        held, pool, owner = held[allowed], pool[allowed], owner[allowed]
    key, width = pool * members + owner, len(pools.counts) * members
    for cost in costs:
        if cost.weight is not None:
            weights, rank = np.unique(cost.of_leaving(group, held), return_inverse=True)
            key, width = key * len(weights) + rank, width * max(len(weights), 1)
    distinct, number = numbered(key, width)
    of_partition[held] = number
    sample = np.empty(len(distinct), np.int64)
    sample[number] = held
    owner = group.owner[sample].astype(np.int64)
    far = np.zeros(len(sample), bool)
    racks = racks_of(group, stages.tiers)
    if racks is not None:
        far = racks.misses(owner, sample)
    count = np.bincount(number, minlength=len(distinct))
    return Owned(of_partition, pools.pool[sample], owner, sample, count, far)


def hand_out(group: Group, pools: Pools, paths: Paths, counts: Counts) -> Int32:
    """Return the member that gets each partition, (partitions,) int32, -1 where nobody reads it.

    Partitions are handed out in ascending order, so that the same group gets the same answer: of
    those that a member owns of a pool, the first stay; the others of the pool go to its classes in
    order, and those of a class to its members in order.
    """
    owned = paths.owned
    owner = np.where(pools.kept, group.owner, NOBODY)
    all_stay = np.append(counts.stay == owned.count, False)[owned.of_partition]
    owner[all_stay] = group.owner[all_stay]
    some_stay = (counts.stay > 0) & (counts.stay < owned.count)
    held = np.flatnonzero(np.append(some_stay, False)[owned.of_partition])
    held = held[order_by(owned.of_partition[held])]
    first = held[ranks(owned.count[some_stay]) < counts.stay[owned.of_partition[held]]]
    owner[first] = group.owner[first]
    left = np.flatnonzero((pools.pool >= 0) & (owner < 0))
    left = left[order_by(pools.pool[left])]
    by_pool = np.lexsort((paths.read_by, paths.read_pool))
    taker = np.repeat(paths.read_by[by_pool], counts.read[by_pool])
    if paths.has_parts:
        owner[left] = paths.join_member[taker]
    else:
        owner[left[order_by(taker)]] = np.repeat(paths.join_member, counts.join)
    return owner.astype(np.int32)
