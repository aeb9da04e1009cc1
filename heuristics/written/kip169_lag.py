"""KIP-169: partitions dealt out by lag, topic by topic."""

from __future__ import annotations

from heapq import heapify, heapreplace
from typing import TYPE_CHECKING

import numpy as np

from groups import Assignment, Refused
from groups.arrays import NOBODY
from heuristics.assignor import Plan
from heuristics.written.kip54 import subscribers

if TYPE_CHECKING:
    from groups import Group


def plan(group: Group) -> Plan:
    """Deal each topic's partitions, most lag first, to the subscriber with the fewest of them.

    It is not sticky: previous owners do not matter. How the KIP was read:

    - Lag is end minus committed offset, in records. The KIP subtracts the other way round, which
      would make every lag negative and "decreasing lag" the wrong way; it is taken as meant.
    - Without a commit the group's ``auto_offset_reset`` decides: the lag is 0 where that is
      "latest", as where it is not given, and end minus beginning where it is "earliest". With any
      other value the lag is unknown; the KIP takes end minus beginning.
    - A commit beyond the end would make a lag negative, of which the KIP says nothing: it counts
      as 0.
    - If several subscribers have the fewest partitions of the topic, the one with the least lag of
      the topic gets the next, then the smallest id. The KIP covers only the case that all have
      equally many; its prototype did it this way.
    - Totals of partitions and of lag start anew with each topic.
    - Among partitions of equal lag the lower number goes first; the KIP is silent.

    Source: KIP-169, "Algorithm".

    Raises
    ------
    Refused
        If the lag of a partition that somebody reads is unknown.
    """
    lag = _known_lag(group)
    owner = np.full(group.n_partitions, NOBODY, np.int32)
    for topic, members in enumerate(subscribers(group)):
        if not members:
            continue
        start, end = int(group.first[topic]), int(group.first[topic + 1])
        queue = [(0, 0, member) for member in members]
        heapify(queue)
        for partition in sorted(range(start, end), key=lambda p: (-lag[p], p)):
            count, total, member = queue[0]
            owner[partition] = member
            heapreplace(queue, (count + 1, total + lag[partition], member))
    return Plan(Assignment(group, owner))


def _known_lag(group: Group) -> list[int]:
    read = group.readers[group.topic] > 0
    lag = group.lag_records
    unknown = np.flatnonzero(read if lag is None else read & (lag < 0))
    if len(unknown):
        at = unknown[0]
        raise Refused(
            f"the lag of {group.topics[group.topic[at]]}-{group.number[at]} is unknown"
            f"{f' (and of {len(unknown) - 1} more)' if len(unknown) > 1 else ''}"
        )
    return [] if lag is None else lag.tolist()
