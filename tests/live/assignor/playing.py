"""Groups that rebalance without a broker: the clients' own classes exchange encoded messages.

Each member does what its client does around an assignor: it encodes its subscription, revokes
partitions at the same points, and joins again in the same cases.
"""

from __future__ import annotations

from contextvars import Context
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest
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
from heuristics.shipped.java.java_client import KAFKA_JAVA
from heuristics.shipped.java.jvm import loader
from tests.optimal.small_groups import document

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Partition = tuple[str, int]
EAGER = live.kafka_python.OptimalAssignor.with_(protocol="eager")
MOST_ROUNDS = 10


@dataclass
class Member:
    """A kafka-python consumer, cooperative or eager."""

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
        """Take an assignment; return whether the client then joins again."""
        given = ConsumerProtocolAssignment.decode(sent)
        self.assignor.on_assignment(given, 1)
        before, self.held = self.held, {(p.topic, p.partition) for p in given.partitions()}
        return self.is_cooperative and bool(before - self.held)


@dataclass
class AsyncMember:
    """An aiokafka consumer, whose calls all come from one task."""

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


@dataclass
class JavaMember:
    """A Java consumer, cooperative or eager."""

    topics: Iterable[str]
    assignor: str = "CooperativeOptimalAssignor"
    release: str = KAFKA_JAVA.listed[0]
    held: set[Partition] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.java = Java(self.release)
        self.instance = self.java("assay.consumer." + self.assignor)()
        cooperative = self.java(f"{INTERFACE}$RebalanceProtocol").COOPERATIVE
        self.is_cooperative = bool(self.instance.supportedProtocols().contains(cooperative))

    def join(self, user_data: bytes | None = None) -> bytes:
        if not self.is_cooperative:
            self.held = set()
        topics = self.java.list(sorted({*self.topics}))
        data = self.instance.subscriptionUserData(self.java("java.util.HashSet")(topics))
        if user_data is not None:
            data = self.java.buffer(user_data)
        owned = self.java.list(self.java.partition(*held) for held in sorted(self.held))
        subscription = self.java(f"{INTERFACE}$Subscription")(topics, data, owned)
        return self.java.bytes_in(self.java.protocol.serializeSubscription(subscription))

    def lead(self, topics: Mapping[str, int], joined: Mapping[str, bytes]) -> dict[str, bytes]:
        members = self.java("java.util.HashMap")()
        for member, sent in joined.items():
            subscription = self.java.protocol.deserializeSubscription(self.java.buffer(sent))
            members.put(member, subscription)
        group = self.java(f"{INTERFACE}$GroupSubscription")(members)
        made = self.instance.assign(self.java.cluster(topics), group).groupAssignment()
        if self.is_cooperative:
            self.require_revocation_first(members, made)
        made = {str(each.getKey()): each.getValue() for each in made.entrySet()}
        serialize = self.java.protocol.serializeAssignment
        return {member: self.java.bytes_in(serialize(made[member])) for member in made}

    @staticmethod
    def require_revocation_first(members: Any, made: Any) -> None:
        """Require that no partition is revoked and given in one round; the client throws then."""
        lost, added = set(), set()
        for member in members:
            before = {str(p) for p in members.get(member).ownedPartitions()}
            after = {str(p) for p in made.get(member).partitions()}
            lost |= before - after
            added |= after - before
        assert not lost & added

    def sync(self, sent: bytes) -> bool:
        given = self.java.protocol.deserializeAssignment(self.java.buffer(sent))
        group = self.java("org.apache.kafka.clients.consumer.ConsumerGroupMetadata")("g")
        self.instance.onAssignment(given, group)
        before = self.held
        self.held = {(str(p.topic()), int(p.partition())) for p in given.partitions()}
        return self.is_cooperative and bool(before - self.held)


INTERFACE = "org.apache.kafka.clients.consumer.ConsumerPartitionAssignor"


class Java:
    """The Java classes of Kafka's consumer of a release, and this project's assignors."""

    def __init__(self, release: str) -> None:
        reason = KAFKA_JAVA.missing("sticky", release)
        if reason is not None:
            pytest.skip(reason)
        self._loader = loader("kafka-clients", release, "ClientGroup")
        self.protocol = self("org.apache.kafka.clients.consumer.internals.ConsumerProtocol")

    def __call__(self, name: str) -> Any:
        import jpype

        return jpype.JClass(name, loader=self._loader)

    def buffer(self, sent: bytes) -> Any:
        import jpype

        return self("java.nio.ByteBuffer").wrap(jpype.JArray(jpype.JByte)(sent))

    def bytes_in(self, buffer: Any) -> bytes:
        import jpype

        copied = jpype.JArray(jpype.JByte)(int(buffer.remaining()))
        buffer.get(copied)
        return bytes(memoryview(copied))

    def list(self, items: Iterable[object]) -> Any:
        array = self("java.util.ArrayList")()
        for item in items:
            array.add(item)
        return array

    def partition(self, topic: str, number: int) -> Any:
        return self("org.apache.kafka.common.TopicPartition")(topic, number)

    def cluster(self, topics: Mapping[str, int]) -> Any:
        info = self("org.apache.kafka.common.PartitionInfo")
        known = [info(t, n, None, None, None) for t in topics for n in range(topics[t])]
        none = self("java.util.HashSet")()
        cluster = self("org.apache.kafka.common.Cluster")
        return cluster("c", none, self.list(known), none, none)


Party = dict[str, Member | AsyncMember | JavaMember]


def one_round(party: Party, topics: Mapping[str, int], leader: str | None = None) -> bool:
    """Let all members join and sync; return whether any joins again.

    No member may get a partition that another member still held when it was assigned.
    """
    joined = {member: one.join() for member, one in party.items()}
    sent = party[leader or min(party)].lead(topics, joined)
    assert sent.keys() == party.keys()
    before = {p: member for member, one in party.items() for p in one.held}
    rejoins = [one.sync(sent[member]) for member, one in party.items()]
    for member, one in party.items():
        assert {before.get(p, member) for p in one.held} <= {member}, "held by two at once"
    return any(rejoins)


def settle(party: Party, topics: Mapping[str, int], leader: str | None = None) -> int:
    """Rebalance until no member joins again; return the number of rounds."""
    for rounds in range(1, MOST_ROUNDS):
        if not one_round(party, topics, leader):
            return rounds
    raise AssertionError(f"still rebalancing after {MOST_ROUNDS} rounds")


def group_of(
    party: Party, topics: Mapping[str, int], owned: Mapping[str, set[Partition]]
) -> Group:
    """Return the group in which the members own these partitions, none if not given."""
    members = {}
    for member, one in party.items():
        held: dict[str, list[int]] = {}
        for topic, number in sorted(owned.get(member, ())):
            held.setdefault(topic, []).append(number)
        members[member] = {"subscription": sorted({*one.topics} & topics.keys()), "owned": held}
    return Group.from_dict(document(dict(topics), members))


def holdings(party: Party) -> dict[str, set[Partition]]:
    return {member: set(one.held) for member, one in party.items()}
