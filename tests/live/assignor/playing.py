"""Groups played without a broker: the clients' own classes, and what travels as bytes.

Each member does what its client does around an assignor: what it sends, what it gives up and
when, and whether it joins again.
"""

from __future__ import annotations

from contextvars import Context
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from aiokafka.coordinator.protocol import ConsumerProtocol
from kafka.protocol.consumer.group import JoinGroupResponse
from kafka.protocol.consumer.metadata import (
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
)

import heuristics.shipped.python_client
import live.aiokafka
import live.kafka_python
from groups import Group

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Partition = tuple[str, int]
EAGER = live.kafka_python.OptimalAssignor.with_(protocol="eager")
MOST_ROUNDS = 10


@dataclass
class Member:
    """A consumer with kafka-python, cooperative or eager."""

    topics: Iterable[str]
    kind: Any = live.kafka_python.OptimalAssignor
    held: set[Partition] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.assignor = self.kind()

    @property
    def is_cooperative(self) -> bool:
        return self.kind.protocol == "cooperative"

    def join(self) -> bytes:
        if not self.is_cooperative:
            self.held = set()
        return bytes(self.assignor.metadata({*self.topics}).encode())

    def lead(self, topics: Mapping[str, int], joined: Mapping[str, bytes]) -> dict[str, bytes]:
        members = [
            JoinGroupResponse.JoinGroupResponseMember(
                member_id=member,
                group_instance_id=None,
                metadata=ConsumerProtocolSubscription.decode(sent),
            )
            for member, sent in joined.items()
        ]
        known = heuristics.shipped.python_client.kafka_python_cluster(topics.items())
        made = self.assignor.assign(known, members)
        return {member: bytes(given.encode()) for member, given in made.items()}

    def sync(self, sent: bytes) -> bool:
        """Take an assignment; say whether the client joins again for it."""
        given = ConsumerProtocolAssignment.decode(sent)
        self.assignor.on_assignment(given, 1)
        before, self.held = self.held, {(p.topic, p.partition) for p in given.partitions()}
        return self.is_cooperative and bool(before - self.held)


@dataclass
class AsyncMember:
    """A consumer with aiokafka, whose calls come from one task."""

    topics: Iterable[str]
    assignor: Any = live.aiokafka.OptimalAssignor
    held: set[Partition] = field(default_factory=set)
    is_cooperative = False

    def __post_init__(self) -> None:
        self.task = Context()

    def join(self) -> bytes:
        self.held = set()
        return self.task.run(self.assignor.metadata, {*self.topics}).encode()

    def lead(self, topics: Mapping[str, int], joined: Mapping[str, bytes]) -> dict[str, bytes]:
        members = {m: ConsumerProtocol.METADATA.decode(sent) for m, sent in joined.items()}
        known = heuristics.shipped.python_client.aiokafka_cluster(topics.items())
        made = self.task.run(self.assignor.assign, known, members)
        return {member: given.encode() for member, given in made.items()}

    def sync(self, sent: bytes) -> bool:
        given = ConsumerProtocol.ASSIGNMENT.decode(sent)
        self.task.run(self.assignor.on_assignment, given)
        self.held = {(p.topic, p.partition) for p in given.partitions()}
        return False


Party = dict[str, Member | AsyncMember]


def one_round(party: Party, topics: Mapping[str, int], leader: str | None = None) -> bool:
    """Let everybody join and sync; say whether somebody joins again.

    Whoever must be told first that a partition is not its own any more has given it up before
    another member gets it.
    """
    joined = {member: one.join() for member, one in party.items()}
    sent = party[leader or min(party)].lead(topics, joined)
    assert sent.keys() == party.keys()
    before = {p: member for member, one in party.items() for p in one.held}
    again = [one.sync(sent[member]) for member, one in party.items()]
    for member, one in party.items():
        assert {before.get(p, member) for p in one.held} <= {member}, "held by two at once"
    return any(again)


def settle(party: Party, topics: Mapping[str, int], leader: str | None = None) -> int:
    """Rebalance until nobody joins again; return how many rounds that took."""
    for rounds in range(1, MOST_ROUNDS):
        if not one_round(party, topics, leader):
            return rounds
    raise AssertionError(f"still rebalancing after {MOST_ROUNDS} rounds")


def group_of(
    party: Party, topics: Mapping[str, int], owned: Mapping[str, set[Partition]]
) -> Group:
    """Return the group whose members own what they held before."""
    members = {}
    for member, one in party.items():
        held: dict[str, list[int]] = {}
        for topic, number in sorted(owned.get(member, ())):
            held.setdefault(topic, []).append(number)
        members[member] = {"subscription": sorted({*one.topics} & topics.keys()), "owned": held}
    return Group.from_dict(
        {"format": "assay-group/1", "group": "g", "topics": dict(topics), "members": members}
    )


def holdings(party: Party) -> dict[str, set[Partition]]:
    return {member: set(one.held) for member, one in party.items()}
