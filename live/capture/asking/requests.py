"""Requests: the questions that captures ask, none of which changes anything."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafka.protocol.admin import DescribeGroupsRequest, ListGroupsRequest
from kafka.protocol.consumer import IsolationLevel, ListOffsetsRequest, OffsetFetchRequest
from kafka.protocol.metadata import MetadataRequest

from live.capture.asking.messages import ConsumerGroupDescribeRequest

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from kafka.protocol.api_message import ApiMessage

QUESTIONS = (
    ConsumerGroupDescribeRequest,
    DescribeGroupsRequest,
    ListGroupsRequest,
    ListOffsetsRequest,
    MetadataRequest,
    OffsetFetchRequest,
)
BEGINNING = -2
END = -1
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


def topics(names: Iterable[str] | None) -> ApiMessage:
    """Ask for the brokers that are up and for topics, None for all of them; none is created."""
    named = MetadataRequest.MetadataRequestTopic
    return MetadataRequest(
        topics=None if names is None else [named(name=name) for name in names],
        allow_auto_topic_creation=False,
        min_version=_FIRST_WITHOUT_CREATION,
    )


def committed(names: Sequence[str]) -> ApiMessage:
    """Ask a coordinator what groups have committed, of every topic."""
    group = OffsetFetchRequest.OffsetFetchRequestGroup
    return OffsetFetchRequest(
        groups=[group(group_id=name, topics=None) for name in names],
        min_version=SEVERAL_GROUPS,
        max_version=_LAST_WITH_NAMES,
    )


def committed_by_one(names: Sequence[str]) -> ApiMessage:
    """Ask a coordinator before Kafka 3.0 what the one group named has committed."""
    (name,) = names
    return OffsetFetchRequest(
        group_id=name,
        topics=None,
        min_version=_FIRST_OF_ALL_TOPICS,
        max_version=SEVERAL_GROUPS - 1,
    )


def logs(partitions: Mapping[str, Sequence[int]], at: int) -> ApiMessage:
    """Ask a leader where logs are at `BEGINNING` or at `END`.

    The end is the high watermark, as `kafka-consumer-groups` has it (read uncommitted): records
    of open transactions count as lag.
    """
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
            for name, numbers in partitions.items()
        ],
        min_version=1,
        max_version=_LAST_WITH_NAMES,
    )
