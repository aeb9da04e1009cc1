"""Answers of brokers, typed: what captures read of each, under the names of Kafka's protocol."""

from __future__ import annotations

from typing import TypeVar

import msgspec

T = TypeVar("T")


class ListedGroup(msgspec.Struct, frozen=True):
    """A group in a list; brokers before 3.7 tell no type."""

    group_id: str
    protocol_type: str
    group_type: str = ""


class ListGroups(msgspec.Struct, frozen=True):
    """The groups that a broker coordinates."""

    error_code: int
    groups: list[ListedGroup]


class ClassicMember(msgspec.Struct, frozen=True):
    """A member of a classic group; metadata and assignment are what clients wrote."""

    member_id: str
    client_id: str
    client_host: str
    member_metadata: bytes
    member_assignment: bytes
    group_instance_id: str | None = None


class ClassicGroup(msgspec.Struct, frozen=True):
    """A classic group; `protocol_data` is the assignor that its members agreed on."""

    error_code: int
    group_id: str
    group_state: str
    protocol_type: str
    protocol_data: str
    members: list[ClassicMember]


class DescribeGroups(msgspec.Struct, frozen=True):
    """Classic groups, described."""

    groups: list[ClassicGroup]


class TopicPartitions(msgspec.Struct, frozen=True):
    """Partitions of one topic, by number."""

    topic_name: str
    partitions: list[int]


class Assigned(msgspec.Struct, frozen=True):
    """What a member of a KIP-848 group holds, or is to hold."""

    topic_partitions: list[TopicPartitions]


class ConsumerMember(msgspec.Struct, frozen=True):
    """A member of a KIP-848 group, whichever protocol it speaks itself."""

    member_id: str
    instance_id: str | None
    rack_id: str | None
    member_epoch: int
    client_id: str
    client_host: str
    subscribed_topic_names: list[str]
    subscribed_topic_regex: str | None
    assignment: Assigned
    target_assignment: Assigned


class ConsumerGroup(msgspec.Struct, frozen=True):
    """A KIP-848 group; `assignor_name` is the broker's assignor."""

    error_code: int
    group_id: str
    group_state: str
    group_epoch: int
    assignment_epoch: int
    assignor_name: str
    members: list[ConsumerMember]


class ConsumerGroupDescribe(msgspec.Struct, frozen=True):
    """KIP-848 groups, described."""

    groups: list[ConsumerGroup]


class Broker(msgspec.Struct, frozen=True):
    """A broker that is up."""

    node_id: int
    rack: str | None = None


class Partition(msgspec.Struct, frozen=True):
    """A partition: its leader, -1 without one, and the brokers of its replicas."""

    partition_index: int
    leader_id: int
    replica_nodes: list[int]


class Topic(msgspec.Struct, frozen=True):
    """A topic, or why nothing is said of it."""

    error_code: int
    name: str | None
    partitions: list[Partition]


class Metadata(msgspec.Struct, frozen=True):
    """Brokers and topics."""

    brokers: list[Broker]
    topics: list[Topic]


class CommittedPartition(msgspec.Struct, frozen=True):
    """What a group has committed of a partition, -1 where nothing."""

    partition_index: int
    committed_offset: int
    error_code: int


class CommittedTopic(msgspec.Struct, frozen=True):
    """What a group has committed of a topic."""

    name: str
    partitions: list[CommittedPartition]


class CommittedGroup(msgspec.Struct, frozen=True):
    """What a group has committed, of all topics that may be told."""

    error_code: int
    topics: list[CommittedTopic]
    group_id: str = ""


class OffsetFetch(msgspec.Struct, frozen=True):
    """What groups have committed; brokers before 3.0 answer for one group at a time."""

    groups: list[CommittedGroup]


class ListedPartition(msgspec.Struct, frozen=True):
    """Where the log of a partition begins or ends, by the question; -1 where nothing."""

    partition_index: int
    error_code: int
    offset: int


class ListedTopic(msgspec.Struct, frozen=True):
    """Where the logs of a topic begin or end."""

    name: str
    partitions: list[ListedPartition]


class ListOffsets(msgspec.Struct, frozen=True):
    """Where logs begin or end."""

    topics: list[ListedTopic]


def read(answer: object, kind: type[T]) -> T:
    """Return what captures read of an answer that kafka-python decoded.

    Raises
    ------
    msgspec.ValidationError
        Where it is not what the protocol says.
    """
    return msgspec.convert(answer, kind, from_attributes=True)
