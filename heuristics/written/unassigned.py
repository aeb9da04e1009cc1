"""What KIP-54 does with partitions that nobody has."""

from __future__ import annotations

from heapq import heapify, heapreplace
from typing import TYPE_CHECKING

import numpy as np

from groups.arrays import NOBODY

if TYPE_CHECKING:
    from groups import Group
    from groups.arrays import Int32


def rarest_first(group: Group) -> list[int]:
    """Return the topics that somebody reads, those with the fewest subscribers first.

    Topics with equally many go by name. As all partitions of a topic have the same potential
    consumers, this with ascending numbers is the order of KIP-54's ``sortedAllPartitions``; how
    it orders partitions with equally many potential consumers, the KIP does not say.
    """
    order = np.argsort(group.readers, kind="stable")
    return [int(topic) for topic in order if group.readers[topic]]


def subscribers(group: Group) -> list[list[int]]:
    """Return for each topic the members that read it, ascending."""
    return [group.subscribers(topic).tolist() for topic in range(len(group.topics))]


def hand_out(group: Group, owner: Int32) -> Int32:
    """Give each unassigned partition to the potential consumer that holds fewest.

    Step 2 of KIP-54. Partitions go in the order of :func:`rarest_first`; among members that hold
    equally few the smallest id wins.

    Parameters
    ----------
    owner : (all partitions,) int32, -1 where nobody; stays as it is

    Returns
    -------
    (all partitions,) int32: the same, with nobody only where nobody reads the topic
    """
    filled = owner.copy()
    loads = np.bincount(owner[owner != NOBODY], minlength=len(group.members)).tolist()
    readers = subscribers(group)
    for topic in rarest_first(group):
        start, end = group.first[topic], group.first[topic + 1]
        open_partitions = np.flatnonzero(filled[start:end] == NOBODY) + start
        if not len(open_partitions):
            continue
        queue = [(loads[member], member) for member in readers[topic]]
        heapify(queue)
        for partition in open_partitions:
            load, member = queue[0]
            filled[partition] = member
            loads[member] = load + 1
            heapreplace(queue, (load + 1, member))
    return filled
