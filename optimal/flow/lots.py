"""Lots: the partitions of one topic or, where a tier looks at racks, with one set of replicas."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from groups.arrays import Bools, Int64
    from groups.columns.racks import Racks
    from groups.group import Group


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
