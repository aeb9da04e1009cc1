"""Pools and classes: partitions and members that no tier of the objective can tell apart.

Topics with the same readers are one pool, members with the same subscription one class (DESIGN
section 4). Where a tier looks inside topics or at racks, a pool is a topic, or a topic and its
replica racks, and members of one class stand in one rack.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from groups.errors import BadInput
from groups.subscriptions import entries
from optimal.networks.order import order_by

if TYPE_CHECKING:
    from groups.group import Bools, Int64, Ints
    from groups.tiers import Objective
    from optimal.flow.columns import Columns
    from optimal.flow.stages import Stages

SAFE = 2**62
ODD = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True, eq=False)
class Pools:
    """A group with the partitions and members that are alike put together.

    Attributes
    ----------
    pool : (partitions,) int64, pool of each partition; -1 where nobody reads it or it is kept
    some_unread : whether some partition may be in no pool
    kept : (partitions,) bool, whether the tiers before balance leave it only its owner
    counts : (pools,) int64; pool_topic : (pools,) int64, a topic of each pool
    member_class : (members,) int64; class_size, class_kept : (classes,) int64, members of the
        class and how many partitions each of them keeps
    edge_pool, edge_class : (edges,) int64, who may read what, by ascending pool
    far : (edges,) bool, whether the rack of the class holds no replica of the pool
    """

    pool: Int64
    some_unread: bool
    kept: Bools
    counts: Int64
    pool_topic: Int64
    member_class: Int64
    class_size: Int64
    class_kept: Int64
    edge_pool: Int64
    edge_class: Int64
    far: Bools

    def among(self, keep: Bools) -> tuple[Int64, Int64, Bools]:
        """Return (pool, class, far) of some of the edges."""
        return self.edge_pool[keep], self.edge_class[keep], self.far[keep]


def pools_of(columns: Columns, stages: Stages) -> Pools:
    """Put alike partitions and members together.

    Raises
    ------
    BadInput
        Where the costs of the tiers before balance together would leave 64 bits.
    """
    before, apart, with_racks = stages.before, stages.apart, stages.with_racks
    useful = (columns.readers > 0) & (columns.counts > 0)
    if len(columns.row_first) == 1 and useful.any() and not (before or apart or with_racks):
        return _one_pool(columns, useful)
    place, place_topic, place_replicas = _places(columns, useful, before, with_racks=with_racks)
    kept, near_only = _kept(columns, before, place, place_topic, place_replicas)
    kept_by = np.zeros(columns.members, np.int64)
    told_apart = [columns.rack] if with_racks else []
    if before:
        kept_by = np.bincount(columns.owner[kept], minlength=columns.members)
        told_apart = [kept_by, *told_apart]
    indptr, rows = _only(columns, useful)
    member_class, sample = _classes(columns, indptr, rows, told_apart)
    edge_class, edge_topic = _entries(indptr, rows, columns.row[sample])
    order = order_by(edge_topic)
    edge_topic, edge_class = edge_topic[order], edge_class[order]
    topic_indptr = np.searchsorted(edge_topic, np.arange(len(columns.counts) + 1))
    if apart or with_racks:
        pool_of_place, pool_topic = np.arange(len(place_topic)), place_topic
    else:
        listed = _entries(topic_indptr, edge_class, place_topic)
        starts = np.concatenate(([0], np.cumsum(np.diff(topic_indptr)[place_topic])))
        pool_of_place, first = alike(starts, listed[1], len(sample), [])
        pool_topic = place_topic[first]
    by_topic = np.full(len(columns.counts), -1)
    if with_racks:
        pool = np.append(pool_of_place, -1)[place]
    else:
        by_topic[place_topic] = pool_of_place
        pool = np.repeat(by_topic, columns.counts)
    edge_pool, classes = _entries(topic_indptr, edge_class, pool_topic)
    far = np.zeros(len(edge_pool), bool)
    if with_racks:
        far = columns.misses(columns.rack[sample][classes], place_replicas[edge_pool])
        chosen = ~far | ~near_only[edge_pool]
        edge_pool, classes, far = edge_pool[chosen], classes[chosen], far[chosen]
    if before:
        pool = np.where(kept, -1, pool)
    if before or with_racks:
        counts = np.bincount(pool + 1, minlength=len(pool_topic) + 1)[1:]
    else:
        counts = np.bincount(by_topic + 1, columns.counts, len(pool_topic) + 1)[1:]
    return Pools(
        pool=pool,
        some_unread=bool(before) or not useful[columns.counts > 0].all(),
        kept=kept,
        counts=counts.astype(np.int64),
        pool_topic=pool_topic,
        member_class=member_class,
        class_size=np.bincount(member_class, minlength=len(sample)),
        class_kept=kept_by[sample],
        edge_pool=edge_pool,
        edge_class=classes,
        far=far,
    )


def _one_pool(columns: Columns, useful: Bools) -> Pools:
    """Return the one pool and the one class of members that all read the same."""
    one = np.zeros(1, np.int64)
    return Pools(
        pool=np.repeat(np.where(useful, 0, -1), columns.counts),
        some_unread=not useful[columns.counts > 0].all(),
        kept=np.zeros(columns.partitions, bool),
        counts=columns.counts[useful].sum(keepdims=True),
        pool_topic=np.flatnonzero(useful)[:1],
        member_class=np.zeros(columns.members, np.int64),
        class_size=np.array([columns.members]),
        class_kept=one,
        edge_pool=one,
        edge_class=one,
        far=np.zeros(1, bool),
    )


def alike(indptr: Ints, entries: Ints, width: int, told_apart: list[Int64]) -> tuple[Int64, Int64]:
    """Return (class of each row, first row of each class) of rows that are equal.

    Rows are CSR with entries below `width`, equal where `told_apart` is equal too. A random
    64-bit word per entry, summed, finds the candidates; they are then compared.
    """
    length = np.diff(indptr)
    if _all_alike(length, entries, told_apart):
        return np.zeros(len(length), np.int64), np.zeros(1, np.int64)
    rows = np.repeat(np.arange(len(length)), length)
    within = np.arange(len(entries)) - np.asarray(indptr)[rows]
    seed = 0
    while True:
        words = _words(seed, width)
        sums = np.concatenate(([np.uint64(0)], np.cumsum(words[entries], dtype=np.uint64)))
        key = sums[indptr[1:]] - sums[indptr[:-1]]
        for which, column in enumerate(told_apart):
            key = (key ^ (key >> np.uint64(29))) * ODD + column.astype(np.uint64) * words[which]
        _, first, found = np.unique(key, return_index=True, return_inverse=True)
        sample = first[found]
        same = (length == length[sample]).all() and all(
            (column == column[sample]).all() for column in told_apart
        )
        if same and (entries == entries[np.asarray(indptr)[sample[rows]] + within]).all():
            break
        seed += 1
    order = np.argsort(first)
    rank = np.empty(len(first), np.int64)
    rank[order] = np.arange(len(first))
    return rank[found], first[order]


def _words(seed: int, width: int) -> npt.NDArray[np.uint64]:
    """(width + 8,) uint64: words that look random (splitmix64: Steele, Lea & Flood 2014)."""
    word = (np.arange(width + 8, dtype=np.uint64) + np.uint64(seed * 2**32 + 1)) * ODD
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return word ^ (word >> np.uint64(31))


def _all_alike(length: Ints, entries: Ints, told_apart: list[Int64]) -> bool:
    if not len(length) or (length != length[0]).any():
        return False
    if any((column != column[0]).any() for column in told_apart):
        return False
    if len(length) == 1:
        return True
    rows = entries.reshape(len(length), -1)
    return bool((rows == rows[0]).all())


def _classes(
    columns: Columns, indptr: Int64, rows: Ints, told_apart: list[Int64]
) -> tuple[Int64, Int64]:
    """Return (class of each member, first member of each class).

    Parameters
    ----------
    indptr, rows : what each row of the group lists of what counts
    told_apart : what else tells members apart, (members,) int64 each
    """
    merged, first = alike(indptr, rows, len(columns.counts), [])
    member = merged[columns.row]
    if not any((column != column[0]).any() for column in told_apart if len(column)):
        return member, columns.row_first[first]
    nothing = np.zeros(columns.members + 1, np.int64)
    return alike(nothing, nothing[:0], 0, [member, *told_apart])


def _only(columns: Columns, useful: Bools) -> tuple[Int64, Ints]:
    """CSR of what each row lists without topics that have no partitions."""
    if useful.all():
        return columns.indptr, columns.topics_read
    chosen = useful[columns.topics_read]
    before = np.concatenate(([0], np.cumsum(chosen)))
    return before[columns.indptr], columns.topics_read[chosen]


def _entries(indptr: Ints, entries: Ints, rows: Ints) -> tuple[Int64, Int64]:
    """Return (index into `rows`, entry) for every entry of some rows of a CSR."""
    start = np.asarray(indptr)[rows]
    length = np.asarray(indptr)[np.asarray(rows) + 1] - start
    which = np.repeat(np.arange(len(rows)), length)
    within = np.arange(len(which)) - np.repeat(np.cumsum(length) - length, length)
    return which, entries[start[which] + within].astype(np.int64)


def _places(
    columns: Columns, useful: Bools, before: Objective, *, with_racks: bool
) -> tuple[Int64, Int64, Int64]:
    """(place of each partition or -1, topic of each place, replica set of each place).

    A place is a topic, or a topic and a replica set. Where neither racks nor tiers before
    balance ask for it, the first column is empty.
    """
    if not with_racks:
        topics = np.flatnonzero(useful)
        if not before:
            return topics[:0], topics, np.full(len(topics), -1, np.int64)
        index = np.full(len(useful) + 1, -1, np.int64)
        index[topics] = np.arange(len(topics))
        return np.repeat(index[:-1], columns.counts), topics, np.full(len(topics), -1, np.int64)
    width = int(columns.replicas.max(initial=-1)) + 2
    read = np.flatnonzero(useful[columns.topic])
    keys, inverse = np.unique(
        columns.topic[read].astype(np.int64) * width + columns.replicas[read] + 1,
        return_inverse=True,
    )
    place = np.full(columns.partitions, -1, np.int64)
    place[read] = inverse
    return place, keys // width, keys % width - 1


def _kept(
    columns: Columns, before: Objective, place: Int64, place_topic: Int64, place_replicas: Int64
) -> tuple[Bools, Bools]:
    """(whether a partition can only stay, whether a place admits near readers only)."""
    nothing = np.zeros(columns.partitions, bool), np.zeros(len(place_topic), bool)
    if not before:
        return nothing
    weight = np.zeros(columns.partitions, np.int64) if columns.weight is None else columns.weight
    heaviest = int(weight.max(initial=0))
    moving, distance, rest = np.zeros(columns.partitions, np.int64), 0, 0
    for tier in reversed(before):
        unit = rest + 1
        rest += unit * (heaviest if tier == "moved_weight" else 1)
        if rest >= SAFE:
            raise BadInput(f"objective: the costs of {' > '.join(before)} leave 64 bits")
        if tier == "racks":
            distance = unit
        else:
            moving += unit * (np.ones_like(weight) if tier == "stickiness" else weight)
    near_only = nothing[1]
    held = np.flatnonzero((columns.owner >= 0) & (place >= 0))
    far_owner = np.zeros(len(held), bool)
    if distance:
        near_only = _has_near(columns, place_topic, place_replicas)
        far_owner = columns.misses(columns.rack[columns.owner[held]], columns.replicas[held])
    staying = distance * far_owner
    leaving = moving[held] + distance * ~near_only[place[held]]
    kept = nothing[0]
    kept[held[staying < leaving]] = True
    return kept, near_only


def _has_near(columns: Columns, place_topic: Int64, place_replicas: Int64) -> Bools:
    """(places,) bool: whether some reader's rack holds a replica."""
    member, topic = entries(columns.indptr, columns.topics_read, columns.row)
    readers = np.argsort(topic, kind="stable")
    starts = np.searchsorted(topic[readers], np.arange(len(columns.counts) + 1))
    place, reader = _entries(starts, member[readers], place_topic)
    near = ~columns.misses(columns.rack[reader], place_replicas[place])
    found = np.zeros(len(place_topic), bool)
    found[place[near]] = True
    return found
