"""Pools and classes: partitions and members that no tier of the objective can tell apart.

Topics with the same readers are one pool, members with the same subscription one class. Where a
tier looks inside topics or at racks, a pool is a topic, or a topic and its replica racks, and
members of one class stand in one rack. Hosts and copies of state are as racks and replicas are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from groups.arrays import order_by
from groups.columns.subscriptions import entries
from groups.tiers import racks_of
from optimal.flow.cheapest_readers import Lots, cheapest_readers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from groups.arrays import Bools, Int64, Ints
    from groups.group import Group
    from optimal.flow.stages import Stages


@dataclass(frozen=True, eq=False)
class Pools:
    """A group with the partitions and members that are alike put together.

    Attributes
    ----------
    pool : (partitions,) int64, pool of each partition; -1 where nobody reads it or it is kept
    some_unread : whether some partition may be in no pool
    kept : (partitions,) bool, whether the tiers before balance leave it only its owner
    counts, part : (pools,) int64, partitions, and which part of what members have they are in
    member_class : (members,) int64; class_size, class_kept : (classes,) int64, members of the
        class and how many partitions each of them keeps
    read_pool, read_by : (reads,) int64, a pool and a class that may read it, by ascending pool
    far : (reads,) bool, whether the rack of the class holds no replica of the pool
    """

    pool: Int64
    some_unread: bool
    kept: Bools
    counts: Int64
    part: Int64
    member_class: Int64
    class_size: Int64
    class_kept: Int64
    read_pool: Int64
    read_by: Int64
    far: Bools


def pools_of(group: Group, stages: Stages) -> Pools:
    """Put alike partitions and members together.

    Raises
    ------
    BadInput
        Where the costs of the tiers before balance together would leave 64 bits.
    """
    useful = (group.readers > 0) & (group.partitions > 0)
    # A group in which nobody reads anything has no racks even where a tier asks about them.
    racks = racks_of(group, stages.tiers)
    lots = Lots.of(group, useful, racks)
    kept, near_only = cheapest_readers(group, stages.before, lots, racks)
    kept_by = np.zeros(len(group.members), np.int64)
    if stages.before:
        kept_by = np.bincount(group.owner[kept], minlength=len(group.members))
    told_apart: tuple[Ints, ...] = (kept_by,) if racks is None else (kept_by, racks.member)
    member_class, sample = _classes(group, useful, told_apart)
    class_starts, readers = _readers(group, sample)
    if stages.apart or racks is not None:
        pool_of_lot = first_lot = np.arange(len(lots.topic))
    else:
        pool_of_lot, first_lot = _pools(lots, class_starts, readers, len(sample))
    pool_topic = lots.topic[first_lot]
    pool = lots.spread(pool_of_lot)
    part = np.zeros(len(first_lot), np.int64)
    if stages.apart:
        part[pool[pool >= 0]] = stages.parts(group)[pool >= 0]
    counts = np.bincount(pool_of_lot, lots.count, len(first_lot)).astype(np.int64)
    if stages.before:
        counts -= np.bincount(pool[kept], minlength=len(counts))
        pool = np.where(kept, -1, pool)
    read_pool, read_by = entries(class_starts, readers, pool_topic)
    far = np.zeros(len(read_pool), bool)
    if racks is not None:
        far = racks.lack(lots.replicas[read_pool], racks.member[sample][read_by])
        chosen = ~far | ~near_only[read_pool]
        read_pool, read_by, far = read_pool[chosen], read_by[chosen], far[chosen]
    return Pools(
        pool=pool,
        some_unread=bool(stages.before) or not useful[group.partitions > 0].all(),
        kept=kept,
        counts=counts,
        part=part,
        member_class=member_class,
        class_size=np.bincount(member_class, minlength=len(sample)),
        class_kept=kept_by[sample],
        read_pool=read_pool,
        read_by=read_by,
        far=far,
    )


def _classes(group: Group, useful: Bools, told_apart: tuple[Ints, ...]) -> tuple[Int64, Int64]:
    """Return (class of each member, first member of each class).

    Rows of the group that are equal, or that differ only in topics without partitions, are one
    class.

    Parameters
    ----------
    told_apart : what else tells members apart, (members,) each
    """
    indptr, topics = group.subscription_indptr, group.subscription_topics
    if not useful.all():
        chosen = useful[topics]
        indptr, topics = np.concatenate(([0], np.cumsum(chosen)))[indptr], topics[chosen]
    number, first_row = alike(indptr, topics, len(useful))
    of_member = number[group.subscription_row]
    if not any((column != column[:1]).any() for column in told_apart):
        # Written last to first, so that the first member stays.
        first = np.full(len(first_row), -1)
        first[of_member[::-1]] = np.arange(len(of_member))[::-1]
        if (first >= 0).all():
            return of_member, first
    nothing = np.zeros(len(of_member) + 1, np.int64)
    return alike(nothing, nothing[:0], 0, (of_member, *told_apart))


def _readers(group: Group, sample: Int64) -> tuple[Int64, Int64]:
    """Return the classes that read each topic as a CSR; `sample`: a member of each class."""
    rows = group.subscription_row[sample]
    reader, topic = entries(group.subscription_indptr, group.subscription_topics, rows)
    order = order_by(topic)
    starts = np.searchsorted(topic[order], np.arange(len(group.topics) + 1))
    return starts, reader[order]


def _pools(lots: Lots, class_starts: Int64, readers: Int64, classes: int) -> tuple[Int64, Int64]:
    """Return (pool of each lot, first lot of each pool); lots with the same readers are one."""
    _, listed = entries(class_starts, readers, lots.topic)
    starts = np.concatenate(([0], np.cumsum(np.diff(class_starts)[lots.topic])))
    return alike(starts, listed, classes)


ODD = np.uint64(0x9E3779B97F4A7C15)


def alike(
    indptr: Int64, entries: Ints, width: int, told_apart: Sequence[Ints] = ()
) -> tuple[Int64, Int64]:
    """Return (number of each row, first row of each number) where equal rows share a number.

    A random 64-bit word per entry, summed, finds the candidates; they are then compared.

    Parameters
    ----------
    indptr, entries : CSR, entries below `width`
    told_apart : (rows,) each; rows are equal only where these are, too

    Returns
    -------
    (rows,) and (numbers,) int64; numbers ascend with their first rows
    """
    length = np.diff(indptr)
    if _all_alike(length, entries, told_apart):
        return np.zeros(len(length), np.int64), np.zeros(1, np.int64)
    rows = np.repeat(np.arange(len(length)), length)
    within = np.arange(len(entries)) - indptr[rows]
    seed = 0
    while True:
        words = words_of(seed, width)
        sums = np.concatenate(([np.uint64(0)], np.cumsum(words[entries], dtype=np.uint64)))
        key = sums[indptr[1:]] - sums[indptr[:-1]]
        for which, column in enumerate(told_apart):
            key = (key ^ (key >> np.uint64(29))) * ODD + column.astype(np.uint64) * words[which]
        _, first, number = np.unique(key, return_index=True, return_inverse=True)
        sample = first[number]
        same = (length == length[sample]).all() and all(
            (column == column[sample]).all() for column in told_apart
        )
        if same and (entries == entries[indptr[sample[rows]] + within]).all():
            break
        seed += 1
    order = np.argsort(first)
    rank = np.empty(len(first), np.int64)
    rank[order] = np.arange(len(first))
    return rank[number], first[order]


def _all_alike(length: Int64, entries: Ints, told_apart: Sequence[Ints]) -> bool:
    if not len(length) or (length != length[0]).any():
        return False
    if any((column != column[0]).any() for column in told_apart):
        return False
    if len(length) == 1:
        return True
    rows = entries.reshape(len(length), -1)
    return bool((rows == rows[0]).all())


def words_of(seed: int, width: int) -> npt.NDArray[np.uint64]:
    """(width + 8,) uint64: words that look random (splitmix64: Steele, Lea & Flood 2014)."""
    word = (np.arange(width + 8, dtype=np.uint64) + np.uint64(seed * 2**32 + 1)) * ODD
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return word ^ (word >> np.uint64(31))
