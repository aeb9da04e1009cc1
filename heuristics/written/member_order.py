"""The order in which the older assignors go through the members."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from groups import Group


def in_member_order(group: Group) -> list[int]:
    """Return the members: those with an instance id first, by it; then the others by member id.

    Member ids compare by their place in ``group.members``, which is their sorted order unless
    the group was built from arrays.

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
