"""Range: each topic by itself, in contiguous runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from groups import Assignment
from groups.arrays import NOBODY
from heuristics.assignor import Plan

if TYPE_CHECKING:
    from groups import Group


def plan(group: Group) -> Plan:
    """Cut each topic into contiguous runs, one for each subscriber in member order.

    With q = partitions div subscribers, the first (partitions mod subscribers) members get q + 1
    partitions, the others q. Claims, lags and racks do not matter. Topics with equally many
    partitions and the same subscribers are assigned alike.

    Source: ``RangeAssignor`` of Apache Kafka, as documented; racks (KIP-881) left out.
    """
    order = in_member_order(group)
    owner = np.full(group.n_partitions, NOBODY, np.int32)
    members = np.array(order, np.int32)
    for topic, places in enumerate(readers_by_topic(group, order)):
        if not places:
            continue
        quota, extra = divmod(int(group.partitions[topic]), len(places))
        sizes = np.full(len(places), quota)
        sizes[:extra] += 1
        owner[group.first[topic] : group.first[topic + 1]] = np.repeat(members[places], sizes)
    return Plan(Assignment(group, owner))


def in_member_order(group: Group) -> list[int]:
    """Return the members: first those with an instance id, sorted by it; then the others by id.

    Ids are compared by their place in ``group.members``, which is sorted unless the group was
    built from arrays.

    Source: ``AbstractPartitionAssignor.MemberInfo`` of Apache Kafka (KIP-345, static members).
    """
    static = sorted(
        (details.instance_id, member)
        for member, details in enumerate(group.details)
        if details.instance_id is not None
    )
    first = [member for _, member in static]
    known = set(first)
    return first + [member for member in range(len(group.members)) if member not in known]


def readers_by_topic(group: Group, order: list[int]) -> list[list[int]]:
    """Return for each topic its subscribers as ascending places in `order`."""
    found: list[list[int]] = [[] for _ in group.topics]
    for place, member in enumerate(order):
        for topic in group.subscription(member).tolist():
            found[topic].append(place)
    return found
