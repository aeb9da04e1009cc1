"""Round robin: all partitions in one row, dealt out in turn."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

import numpy as np

from groups import Assignment
from groups.arrays import NOBODY
from heuristics.assignor import Plan
from heuristics.written.range import in_member_order, readers_by_topic

if TYPE_CHECKING:
    from groups import Group


def plan(group: Group) -> Plan:
    """Deal the partitions, topics by name and numbers ascending, to the members in turn.

    One circular iterator goes through the members in member order and is never reset; members
    that do not subscribe to the topic are skipped and lose their turn. Claims, lags and racks do
    not matter.

    Kafka walks over the skipped members one by one; here a binary search finds the next
    subscriber, which is the same member.

    Source: ``RoundRobinAssignor`` of Apache Kafka, as documented.
    """
    order = in_member_order(group)
    owner = np.full(group.n_partitions, NOBODY, np.int32)
    turn = 0
    for topic, places in enumerate(readers_by_topic(group, order)):
        if not places:
            continue
        at = bisect_left(places, turn)
        dealt = (np.arange(group.partitions[topic]) + at) % len(places)
        if len(dealt):
            turn = places[dealt[-1]] + 1
            owner[group.first[topic] : group.first[topic + 1]] = np.array(order)[places][dealt]
    return Plan(Assignment(group, owner))
