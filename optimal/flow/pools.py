"""Pools and classes: partitions and members that no tier of the objective can tell apart.

Topics with the same readers are one pool, members with the same subscription one class. If a tier
depends on topics or racks, a pool is one topic, or one topic and set of replica racks, and the
members of a class are in one rack. Hosts and copies of state are handled as racks and replicas.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from groups.arrays import order_by, starts
from groups.columns.subscriptions import distinct, entries
from groups.errors import BadInput
from groups.tiers import SAFE_TOTAL, cost_of, racks_of

if TYPE_CHECKING:
    from groups.arrays import Bools, Int64, Ints
    from groups.columns.racks import Racks
    from groups.group import Group
    from groups.tiers import Objective
    from optimal.flow.flows import Stages


@dataclass(frozen=True, eq=False)
class Pools:
    """The partitions of a group in pools, and its members in classes.

    Attributes
    ----------
    pool : (partitions,) int64, pool of each partition; -1 where nobody reads it or it is kept
    some_unread : whether some partition may be in no pool
    kept : (partitions,) bool, whether the tiers before balance leave it only its owner
    counts, part : (pools,) int64, the number of partitions, and their part as in `Stages.parts`
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
    """Return the pools and classes of a group.

    Raises
    ------
    BadInput
        If the costs of the tiers before balance together would leave 64 bits.
    """
    useful = (group.readers > 0) & (group.partitions > 0)
    # A group in which nobody reads anything may have no racks although a tier needs them.
    racks = racks_of(group, stages.tiers)
    lots = Lots.of(group, useful, racks)
    kept, near_only = cheapest_readers(group, stages.before, lots, racks)
    kept_by = np.zeros(len(group.members), np.int64)
    if stages.before:
        kept_by = np.bincount(group.owner[kept], minlength=len(group.members))
    distinguishing: tuple[Ints, ...] = (kept_by,) if racks is None else (kept_by, racks.member)
    member_class, sample = _classes(group, useful, distinguishing)
    class_starts, readers = _readers(group, sample)
    pool_of_lot: Ints = np.arange(len(lots.topic))
    read_pool, read_by = entries(class_starts, readers, lots.topic)
    if not stages.has_parts and racks is None:
        ends = starts(np.bincount(read_pool, minlength=len(lots.topic)))
        ends, read_by, pool_of_lot = distinct(ends, read_by)
        read_pool = np.repeat(np.arange(len(ends) - 1), np.diff(ends))
    pool, pools = lots.spread(pool_of_lot), int(pool_of_lot.max(initial=-1)) + 1
    part = np.zeros(pools, np.int64)
    if stages.has_parts:
        part[pool[pool >= 0]] = stages.parts(group)[pool >= 0]
    counts = np.bincount(pool_of_lot, lots.count, pools).astype(np.int64)
    if stages.before:
        counts -= np.bincount(pool[kept], minlength=len(counts))
        pool = np.where(kept, -1, pool)
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


def _classes(group: Group, useful: Bools, distinguishing: tuple[Ints, ...]) -> tuple[Int64, Int64]:
    """Return (class of each member, first member of each class), by ascending first member.

    Members whose rows differ only in topics without partitions are one class.

    Parameters
    ----------
    distinguishing : other columns that tell members apart, (members,) each
    """
    ends, listed = group.subscription_indptr, group.subscription_topics
    if not useful.all():
        chosen = useful[listed]
        ends, listed = starts(chosen)[ends], listed[chosen]
    # Rows may be equal even if no topic was left out.
    row = distinct(ends, listed)[2][group.subscription_row]
    if any((column != column[:1]).any() for column in distinguishing):
        each = np.stack((row, *distinguishing), axis=1)
        row = distinct(np.arange(len(row) + 1) * each.shape[1], each.ravel())[2]
    # Written from last to first, so that the first member of each class is what stays.
    first = np.empty(int(row.max(initial=-1)) + 1, np.int64)
    first[row[::-1]] = np.arange(len(row))[::-1]
    return row.astype(np.int64), first


def _readers(group: Group, sample: Int64) -> tuple[Int64, Int64]:
    """Return the classes that read each topic as a CSR; `sample`: a member of each class."""
    rows = group.subscription_row[sample]
    reader, topic = entries(group.subscription_indptr, group.subscription_topics, rows)
    order = order_by(topic)
    return np.searchsorted(topic[order], np.arange(len(group.topics) + 1)), reader[order]


@dataclass(frozen=True, eq=False)
class Lots:
    """Partitions of one topic with replicas in the same racks, or whole topics.

    Attributes
    ----------
    of_partition : (partitions,) int64, lot of each, -1 where nobody reads it; None if a lot
        is a whole topic
    topic : (lots,) int64, ascending; replicas : (lots,) int64, -1 where nothing is known or
        asked; count : (lots,) int64, partitions
    """

    group: Group
    of_partition: Int64 | None
    topic: Int64
    replicas: Int64
    count: Int64

    @staticmethod
    def of(group: Group, useful: Bools, racks: Racks | None) -> Lots:
        """Return the lots of useful topics, (topics,) bool; `racks` None if no tier needs them."""
        if racks is None:
            topic = np.flatnonzero(useful)
            return Lots(group, None, topic, np.full(len(topic), -1), group.partitions[topic])
        width = int(racks.replicas.max(initial=-1)) + 2
        read = np.flatnonzero(useful[group.topic])
        keys, number = np.unique(
            group.topic[read].astype(np.int64) * width + racks.replicas[read] + 1,
            return_inverse=True,
        )
        of_partition = np.full(group.n_partitions, -1, np.int64)
        of_partition[read] = number
        count = np.bincount(number, minlength=len(keys))
        return Lots(group, of_partition, keys // width, keys % width - 1, count)

    def spread(self, column: Ints) -> Int64:
        """Return a column, (lots,) int64, per partition instead; -1 for partitions in no lot."""
        if self.of_partition is not None:
            return np.append(column, -1)[self.of_partition]
        of_topic = np.full(len(self.group.topics), -1, np.int64)
        of_topic[self.topic] = column
        return np.repeat(of_topic, self.group.partitions)


def cheapest_readers(
    group: Group, before: Objective, lots: Lots, racks: Racks | None
) -> tuple[Bools, Bools]:
    """Return which partitions stay with their owner, and which lots go to near readers only.

    A partition that stays costs 1 in racks if its owner is far; one that leaves costs 1 move or
    its weight, and 1 in racks if no reader is near. Ties stay open for later tiers.

    Parameters
    ----------
    before : the tiers before balance; what a partition costs in them depends on its member only

    Returns
    -------
    (partitions,) and (lots,) bool

    Raises
    ------
    BadInput
        If the costs of the tiers together would leave 64 bits.
    """
    kept, near_only = np.zeros(group.n_partitions, bool), np.zeros(len(lots.topic), bool)
    if not before:
        return kept, near_only
    moving, distance = _costs(group, before)
    lot = lots.spread(np.arange(len(lots.topic)))
    held = np.flatnonzero((group.owner >= 0) & (lot >= 0))
    far_owner = np.zeros(len(held), bool)
    if distance and racks is not None:
        of, reader = entries(*group.subscriptions.by_topic, lots.topic)
        near_only[of[~racks.lack(lots.replicas[of], racks.member[reader])]] = True
        far_owner = racks.misses(group.owner[held], held)
    staying = distance * far_owner
    leaving = moving[held] + distance * ~near_only[lot[held]]
    kept[held[staying < leaving]] = True
    return kept, near_only


def _costs(group: Group, before: Objective) -> tuple[Int64, int]:
    """(cost of a move of each partition, cost of a member in a rack without a replica).

    (partitions,) int64 and an integer; one unit of a tier is more than all later tiers cost.
    """
    every = np.arange(group.n_partitions)
    moving, distance, rest = np.zeros(len(every), np.int64), 0, 0
    for tier in reversed(before):
        unit, cost = rest + 1, cost_of(tier)
        rest += unit * cost.greatest(group)
        if rest >= SAFE_TOTAL:
            raise BadInput(f"objective: the costs of {' > '.join(before)} leave 64 bits")
        moving += unit * cost.of_leaving(group, every)
        distance += unit * cost.far
    return moving, distance
