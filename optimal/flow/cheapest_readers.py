"""Cheapest readers: what the tiers before balance leave to each lot of partitions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from groups.columns.subscriptions import entries
from groups.errors import BadInput
from groups.tiers import SAFE_TOTAL, cost_of

if TYPE_CHECKING:
    from groups.arrays import Bools, Int64
    from groups.columns.racks import Racks
    from groups.group import Group
    from groups.tiers import Objective


@dataclass(frozen=True, eq=False)
class Lots:
    """Partitions that the same members may read and that stand in the same racks.

    Attributes
    ----------
    group : the group they are of
    of_partition : (partitions,) int64, lot of each, -1 where nobody reads it; None where a lot
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
        """Sort the partitions of useful topics, (topics,) bool; `racks` only where asked for."""
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

    def spread(self, column: Int64) -> Int64:
        """Return what a column, (lots,) int64, says of each partition; -1 where it is in none."""
        if self.of_partition is not None:
            return np.append(column, -1)[self.of_partition]
        of_topic = np.full(len(self.group.topics), -1, np.int64)
        of_topic[self.topic] = column
        return np.repeat(of_topic, self.group.partitions)


def cheapest_readers(
    group: Group, before: Objective, lots: Lots, racks: Racks | None
) -> tuple[Bools, Bools]:
    """Return which partitions stay with their owner, and which lots go to near readers only.

    Staying costs a partition at most its distance from the owner's rack, leaving what it weighs
    and its distance from the nearest reader. What costs the same stays open for later tiers.

    Parameters
    ----------
    before : the tiers before balance, each of which costs a partition by itself

    Returns
    -------
    (partitions,) and (lots,) bool

    Raises
    ------
    BadInput
        Where the costs of the tiers together would leave 64 bits.
    """
    kept, near_only = np.zeros(group.n_partitions, bool), np.zeros(len(lots.topic), bool)
    if not before:
        return kept, near_only
    moving, distance = _costs(group, before)
    lot = lots.spread(np.arange(len(lots.topic)))
    held = np.flatnonzero((group.owner >= 0) & (lot >= 0))
    far_owner = np.zeros(len(held), bool)
    if distance and racks is not None:
        near_only = _has_near_reader(group, lots, racks)
        far_owner = racks.misses(group.owner[held], held)
    staying = distance * far_owner
    leaving = moving[held] + distance * ~near_only[lot[held]]
    kept[held[staying < leaving]] = True
    return kept, near_only


def _costs(group: Group, before: Objective) -> tuple[Int64, int]:
    """(what it costs each partition to move, what it costs to be in a rack without a replica).

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


def _has_near_reader(group: Group, lots: Lots, racks: Racks) -> Bools:
    """(lots,) bool: whether some reader's rack holds a replica."""
    member, topic = group.subscription_pairs
    readers = np.argsort(topic, kind="stable")
    starts = np.searchsorted(topic[readers], np.arange(len(group.topics) + 1))
    lot, reader = entries(starts, member[readers], lots.topic)
    near = ~racks.lack(lots.replicas[lot], racks.member[reader])
    found = np.zeros(len(lots.topic), bool)
    found[lot[near]] = True
    return found
