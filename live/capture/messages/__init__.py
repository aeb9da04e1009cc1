"""Messages: the requests that captures send, which change nothing, and their typed answers.

kafka-python lacks KIP-848's ConsumerGroupDescribe and KIP-1071's StreamsGroupDescribe, so they are
defined here. The JSON files list the fields on the wire in the form of kafka-python's own messages
(API keys 69, whose version 1 adds the type of a member, KIP-1099; and 89).
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Generic, TypeVar

import msgspec
from kafka.protocol.admin import DescribeConfigsRequest, DescribeGroupsRequest, ListGroupsRequest
from kafka.protocol.api_message import ApiMessage
from kafka.protocol.consumer import IsolationLevel, ListOffsetsRequest, OffsetFetchRequest
from kafka.protocol.metadata import MetadataRequest

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


class ConsumerGroupDescribeRequest(ApiMessage, load_json=__name__):  # type: ignore[misc, call-arg]
    """Which groups to describe."""


class ConsumerGroupDescribeResponse(ApiMessage, load_json=__name__):  # type: ignore[misc, call-arg]
    """Their members, epochs, current and target assignments."""


class StreamsGroupDescribeRequest(ApiMessage, load_json=__name__):  # type: ignore[misc, call-arg]
    """Which groups to describe."""


class StreamsGroupDescribeResponse(ApiMessage, load_json=__name__):  # type: ignore[misc, call-arg]
    """Their topology, members and tasks."""


QUESTIONS = (
    ConsumerGroupDescribeRequest,
    DescribeConfigsRequest,
    DescribeGroupsRequest,
    ListGroupsRequest,
    ListOffsetsRequest,
    MetadataRequest,
    OffsetFetchRequest,
    StreamsGroupDescribeRequest,
)
STANDBYS = "streams.num.standby.replicas"
_GROUP = 32
BEGINNING = -2
END = -1
# Versions of Kafka's requests.
SEVERAL_GROUPS = 8
_FIRST_WITHOUT_CREATION = 4
_FIRST_OF_ALL_TOPICS = 2
_LAST_WITH_NAMES = 9


def groups() -> ApiMessage:
    """Ask a broker for the groups that it coordinates."""
    return ListGroupsRequest()


def classic_groups(names: Sequence[str]) -> ApiMessage:
    """Ask a coordinator for classic groups."""
    return DescribeGroupsRequest(groups=list(names))


def consumer_groups(names: Sequence[str]) -> ApiMessage:
    """Ask a coordinator for KIP-848 groups."""
    return ConsumerGroupDescribeRequest(group_ids=list(names))


def streams_groups(names: Sequence[str]) -> ApiMessage:
    """Ask a coordinator for Kafka Streams groups (KIP-1071)."""
    return StreamsGroupDescribeRequest(group_ids=list(names))


def group_settings(names: Sequence[str]) -> ApiMessage:
    """Ask a broker for the configured number of standbys of groups."""
    resource = DescribeConfigsRequest.DescribeConfigsResource
    return DescribeConfigsRequest(
        resources=[
            resource(resource_type=_GROUP, resource_name=name, configuration_keys=[STANDBYS])
            for name in names
        ]
    )


def topics(names: Iterable[str] | None) -> ApiMessage:
    """Ask for the brokers that are up and for topics (None: all); no topic is created."""
    named = MetadataRequest.MetadataRequestTopic
    return MetadataRequest(
        topics=None if names is None else [named(name=name) for name in names],
        allow_auto_topic_creation=False,
        min_version=_FIRST_WITHOUT_CREATION,
    )


def committed(names: Sequence[str]) -> ApiMessage:
    """Ask a coordinator for all committed offsets of groups."""
    group = OffsetFetchRequest.OffsetFetchRequestGroup
    return OffsetFetchRequest(
        groups=[group(group_id=name, topics=None) for name in names],
        min_version=SEVERAL_GROUPS,
        max_version=_LAST_WITH_NAMES,
    )


def committed_by_one(names: Sequence[str]) -> ApiMessage:
    """Ask a coordinator before Kafka 3.0 for all committed offsets of one group."""
    (name,) = names
    return OffsetFetchRequest(
        group_id=name,
        topics=None,
        min_version=_FIRST_OF_ALL_TOPICS,
        max_version=SEVERAL_GROUPS - 1,
    )


def logs(at: int, keys: Iterable[tuple[str, int]]) -> ApiMessage:
    """Ask a leader for the first (`BEGINNING`) or the end offset (`END`) of logs.

    The end is the high watermark, as in `kafka-consumer-groups` (read uncommitted): records of
    open transactions count as lag.
    """
    numbers_of: dict[str, list[int]] = defaultdict(list)
    for name, number in keys:
        numbers_of[name].append(number)
    topic = ListOffsetsRequest.ListOffsetsTopic
    return ListOffsetsRequest(
        replica_id=-1,
        isolation_level=int(IsolationLevel.READ_UNCOMMITTED),
        topics=[
            topic(
                name=name,
                partitions=[
                    topic.ListOffsetsPartition(partition_index=number, timestamp=at)
                    for number in numbers
                ],
            )
            for name, numbers in numbers_of.items()
        ],
        min_version=1,
        max_version=_LAST_WITH_NAMES,
    )


T = TypeVar("T")


class ListedGroup(msgspec.Struct, frozen=True):
    """A listed group; brokers before 3.7 give no type."""

    group_id: str
    protocol_type: str
    group_type: str = ""


class ListGroups(msgspec.Struct, frozen=True):
    """The groups that a broker coordinates."""

    error_code: int
    groups: list[ListedGroup]


class ClassicMember(msgspec.Struct, frozen=True):
    """A member of a classic group; metadata and assignment are bytes of the client."""

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


class TopicPartitions(msgspec.Struct, frozen=True):
    """Partitions of one topic, by number."""

    topic_name: str
    partitions: list[int]


class Assigned(msgspec.Struct, frozen=True):
    """The present or target assignment of a member of a KIP-848 group."""

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


class TopicInfo(msgspec.Struct, frozen=True):
    """An internal topic of a subtopology."""

    name: str


class SubtopologyTopics(msgspec.Struct, frozen=True):
    """A subtopology: the topics that it reads, and those that keep its state."""

    subtopology_id: str
    source_topics: list[str]
    state_changelog_topics: list[TopicInfo]
    repartition_source_topics: list[TopicInfo]


class Topology(msgspec.Struct, frozen=True):
    """The subtopologies; None while source topics are missing or do not match."""

    subtopologies: list[SubtopologyTopics] | None


class TaskIds(msgspec.Struct, frozen=True):
    """Tasks of one subtopology, by number."""

    subtopology_id: str
    partitions: list[int]


class TaskAssignment(msgspec.Struct, frozen=True):
    """The present or target tasks of a thread."""

    active_tasks: list[TaskIds]
    standby_tasks: list[TaskIds]
    warmup_tasks: list[TaskIds]


class ClientTag(msgspec.Struct, frozen=True):
    """A tag of a client, such as its zone."""

    key: str
    value: str


class StreamsThread(msgspec.Struct, frozen=True):
    """A member of a Kafka Streams group."""

    member_id: str
    member_epoch: int
    instance_id: str | None
    rack_id: str | None
    client_id: str
    client_host: str
    topology_epoch: int
    process_id: str
    client_tags: list[ClientTag]
    assignment: TaskAssignment
    target_assignment: TaskAssignment


class StreamsGroup(msgspec.Struct, frozen=True):
    """A Kafka Streams group (KIP-1071)."""

    error_code: int
    group_id: str
    group_state: str
    group_epoch: int
    assignment_epoch: int
    topology: Topology | None
    members: list[StreamsThread]


class Setting(msgspec.Struct, frozen=True):
    """A setting of a group."""

    name: str
    value: str | None


class SettingsOfGroup(msgspec.Struct, frozen=True):
    """The requested settings of a group."""

    error_code: int
    resource_name: str
    configs: list[Setting]


class DescribeConfigs(msgspec.Struct, frozen=True):
    """Settings of groups."""

    results: list[SettingsOfGroup]


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
    """A topic; with an error code, its partitions are not given."""

    error_code: int
    name: str | None
    partitions: list[Partition]


class Metadata(msgspec.Struct, frozen=True):
    """Brokers and topics."""

    brokers: list[Broker]
    topics: list[Topic]


class OfTopic(msgspec.Struct, Generic[T], frozen=True):
    """Something of each partition of a topic."""

    name: str
    partitions: list[T]


class CommittedPartition(msgspec.Struct, frozen=True):
    """The committed offset of a partition; -1 without a commit."""

    partition_index: int
    committed_offset: int
    error_code: int


class CommittedGroup(msgspec.Struct, frozen=True):
    """The committed offsets of a group, of all topics that the client may describe.

    Brokers before 3.0 answer for one group at a time, and do not name it.
    """

    error_code: int
    topics: list[OfTopic[CommittedPartition]]
    group_id: str = ""


class Groups(msgspec.Struct, Generic[T], frozen=True):
    """Groups, described, or their committed offsets."""

    groups: list[T]


class ListedPartition(msgspec.Struct, frozen=True):
    """The first or end offset of a partition's log, as requested; -1 if there is none."""

    partition_index: int
    error_code: int
    offset: int


class ListOffsets(msgspec.Struct, frozen=True):
    """First or end offsets of logs."""

    topics: list[OfTopic[ListedPartition]]


def read(answer: object, kind: type[T]) -> T:
    """Return the typed form of an answer that kafka-python decoded.

    Raises
    ------
    msgspec.ValidationError
        If a field is missing or has another type.
    """
    return msgspec.convert(answer, kind, from_attributes=True)
