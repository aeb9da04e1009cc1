"""Subscription: what members say when they join, and what the leader's plan says, as bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from groups import Failed
from heuristics.shipped.probe.claims import user_data
from heuristics.shipped.probe.wire import reason, types

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from heuristics.shipped.joining import Joining
    from heuristics.shipped.probe.claims import UserData

# The highest version of a subscription that there is.
NEWEST = 3

# Member index, topic, partition number.
Held = tuple[int, str, int]


def encode(
    said: Joining,
    *,
    version: int,
    cooperative: bool,
    kind: UserData,
    names: Mapping[str, str],
) -> bytes:
    """Return a member's subscription as ConsumerProtocolSubscription.

    Parameters
    ----------
    version : 1 and later hold the owned partitions, 2 the generation, 3 the rack
    cooperative : whether the member sends owned partitions; an eager one has given up everything
        before it joins, but tells its generation too
    kind : of the user data, unless the member comes anew
    names : of all topics, on the wire
    """
    owned = [(names[topic], numbers) for topic, numbers in said.owned.items()]
    subscription = types().ConsumerProtocolSubscription(
        version=version,
        topics=[names[topic] for topic in said.subscription],
        user_data=user_data(owned, said.generation, kind),
        owned_partitions=[
            types().ConsumerProtocolSubscription.TopicPartition(topic=topic, partitions=numbers)
            for topic, numbers in owned * cooperative
        ],
        generation_id=said.generation,
        rack_id=said.rack,
    )
    return bytes(subscription.encode())


def version_like(own: bytes) -> int:
    """Return the version in which members that run the client say what they read.

    Not every client reads a later one than its own: sarama before 1.41 refuses bytes left over.
    """
    if len(own) < 2:
        return NEWEST
    return min(max(int.from_bytes(own[:2], "big", signed=True), 0), NEWEST)


def topics_read(own: bytes) -> list[str]:
    """Return the topics of a client's own subscription; none where it cannot be read."""
    try:
        found = types().ConsumerProtocolSubscription.decode(own).topics
    except Exception:
        return []
    return [str(topic) for topic in found or ()]


def decode_plan(assignments: Iterable[Any], index: Mapping[str, int]) -> list[Held]:
    """Return (member index, topic, partition number) for all that a SyncGroup request hands out.

    The topics are called as they are on the wire.

    Raises
    ------
    Failed
        Where an assignment cannot be read, or is for somebody who is no member.
    """
    held: list[Held] = []
    for one in assignments:
        if one.member_id not in index:
            raise Failed(f"the plan is for {one.member_id!r}, who is no member of the group")
        member = index[one.member_id]
        if not one.assignment:
            continue
        try:
            assigned = types().ConsumerProtocolAssignment.decode(bytes(one.assignment))
            topics = [(str(t.topic), list(t.partitions)) for t in assigned.assigned_partitions]
        except Exception as error:
            cause = reason(error)
            raise Failed(f"the plan for {one.member_id!r} cannot be read: {cause}") from None
        for topic, numbers in topics:
            held += [(member, topic, number) for number in numbers]
    return held
