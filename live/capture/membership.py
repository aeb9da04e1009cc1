"""Membership: described groups as members with what they read and hold."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kafka.protocol.consumer.metadata import (
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
)

from groups.importers.lines import Misread, NotToBeHad
from groups.importers.seen import BETWEEN, require_consumers
from live.capture.obstacles import Obstacle, obstacle_of

if TYPE_CHECKING:
    from live.capture.messages import Assigned, ClassicGroup, ConsumerGroup

Held = dict[str, tuple[int, ...]]
_RECONCILING = "reconciling"
# What kafka-python raises on bytes that it cannot decode.
_UNREADABLE = (struct.error, ValueError, TypeError, IndexError, AttributeError, OverflowError)


@dataclass(frozen=True)
class Member:
    """A member as the broker describes it.

    Attributes
    ----------
    subscription : topics by name; None if the member's metadata cannot be read
    regex : RE2 pattern of further topics that a KIP-848 member reads
    held : what it holds now
    target : what the broker wants it to hold; None in a classic group
    """

    name: str
    subscription: tuple[str, ...] | None
    held: Held
    client_id: str
    host: str
    instance_id: str | None = None
    rack: str | None = None
    assignor: str | None = None
    regex: str | None = None
    target: Held | None = None
    epoch: int | None = None

    @property
    def is_away(self) -> bool:
        """Whether it is a static member of a KIP-848 group that has left, and may return.

        The broker then gives -2 in place of its epoch, and keeps its partitions for it until its
        session ends.
        """
        return self.epoch is not None and self.epoch < 0


@dataclass(frozen=True)
class Described:
    """A described group of consumers.

    Two descriptions of one group are equal if it did not change in between: epochs, members,
    subscriptions and assignments are the same.

    Attributes
    ----------
    epochs : of the group and of its target assignment; None in a classic group
    """

    group: str
    members: tuple[Member, ...]
    epochs: tuple[int, int] | None = None

    @property
    def moving(self) -> int:
        """Number of members that do not hold their target assignment yet."""
        return sum(one.target is not None and one.held != one.target for one in self.members)


def subscribed(metadata: bytes) -> tuple[tuple[str, ...], str | None] | None:
    """Return the topics and the rack in the metadata of a classic member, or None.

    None means that it cannot be read: it is a ConsumerProtocolSubscription of version 0 to 3, and
    later ones are read as version 3. Its owned partitions and generation are those of the last
    join, which may be stale, and ignored.
    """
    try:
        said = ConsumerProtocolSubscription.decode(metadata)
        topics, rack = said.topics, said.rack_id
    except _UNREADABLE:
        return None
    if topics is None or not all(isinstance(topic, str) for topic in topics):
        return None
    return tuple(sorted({topic for topic in topics if topic})), rack or None


def held(assignment: bytes) -> Held | None:
    """Return the decoded assignment of a classic member; None if it cannot be read."""
    if not assignment:
        return {}
    try:
        said = ConsumerProtocolAssignment.decode(assignment)
        listed = [(topic.topic, topic.partitions) for topic in said.assigned_partitions]
        return _together(listed)
    except _UNREADABLE:
        return None


def classic(answer: ClassicGroup) -> Described | Obstacle:
    """Return a classic group, or why it cannot be captured."""
    group = answer.group_id
    found = obstacle_of(group, answer.error_code) or _not_of_consumers(
        group, answer.group_state, answer.protocol_type, answer.protocol_data
    )
    if found is not None:
        return found
    members = []
    for member in answer.members:
        owned = held(member.member_assignment)
        if owned is None:
            return Obstacle(
                f"group {group!r}: the assignment of member {member.member_id!r} cannot be read"
            )
        topics, rack = subscribed(member.member_metadata) or (None, None)
        members.append(
            Member(
                name=member.member_id,
                subscription=topics,
                held=owned,
                client_id=member.client_id,
                host=member.client_host,
                instance_id=member.group_instance_id,
                rack=rack,
                assignor=answer.protocol_data or None,
            )
        )
    return Described(group, _sorted(members))


def consumer(answer: ConsumerGroup) -> Described | Obstacle:
    """Return a KIP-848 group, or why it cannot be captured.

    A group whose members have not reached their target is returned too, as both their present and
    their target assignments are known.
    """
    group = answer.group_id
    state = answer.group_state.lower()
    found = obstacle_of(group, answer.error_code) or _not_of_consumers(
        group, "Stable" if state == _RECONCILING else answer.group_state, "consumer", ""
    )
    if found is not None:
        return found
    members = [
        Member(
            name=member.member_id,
            subscription=tuple(sorted({name for name in member.subscribed_topic_names if name})),
            held=_assigned(member.assignment),
            client_id=member.client_id,
            host=member.client_host,
            instance_id=member.instance_id,
            rack=member.rack_id or None,
            assignor=answer.assignor_name or None,
            regex=member.subscribed_topic_regex or None,
            target=_assigned(member.target_assignment),
            epoch=member.member_epoch,
        )
        for member in answer.members
    ]
    return Described(
        group,
        _sorted(members),
        epochs=(answer.group_epoch, answer.assignment_epoch),
    )


def _not_of_consumers(
    group: str, state: str, protocol_type: str, protocol: str
) -> Obstacle | None:
    if protocol_type not in ("consumer", ""):
        reason = f"group {group!r} is no group of consumers: its members speak {protocol_type!r}"
        return Obstacle(reason, not_to_be_had=True)
    try:
        require_consumers("", group, state, protocol)
    except Misread as found:
        passing = state.lower() in BETWEEN
        return Obstacle(found.reason, passing, not_to_be_had=isinstance(found, NotToBeHad))
    return None


def _assigned(answer: Assigned) -> Held:
    return _together([(one.topic_name, one.partitions) for one in answer.topic_partitions])


def _together(listed: list[tuple[str, list[int]]]) -> Held:
    numbers: dict[str, set[int]] = {}
    for topic, partitions in listed:
        numbers.setdefault(topic, set()).update(partitions)
    return {topic: tuple(sorted(found)) for topic, found in sorted(numbers.items()) if found}


def _sorted(members: list[Member]) -> tuple[Member, ...]:
    return tuple(sorted(members, key=lambda member: member.name))
