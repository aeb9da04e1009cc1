"""kafka-python: the assignors of the Python client of that name.

Each member has an assignor object of its own, which is told what the member was given last and of
which generation. Before release 3.0 the assignors kept that on the class (`class_state`). The
client knows of no racks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from heuristics.shipped.python import class_state
from heuristics.shipped.python.python_client import PythonClient, installed

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from heuristics.shipped.joining import Joining


def joined(assignor: Any, members: Sequence[Joining]) -> tuple[Any, object]:
    """Return the leader's assignor and the members of its JoinGroup response, decoded."""
    if _before_3():
        return _joined_before_3(assignor, members)
    return assignor(), [_member(assignor(), said) for said in members]


def _member(assignor: Any, said: Joining) -> object:
    from kafka.protocol.consumer.group import JoinGroupResponse
    from kafka.protocol.consumer.metadata import (
        ConsumerProtocolAssignment,
        ConsumerProtocolSubscription,
    )

    if said.owned or said.generation >= 0:
        given = ConsumerProtocolAssignment(0, list(said.owned.items()), b"")
        assignor.on_assignment(given, said.generation)
    metadata = bytes(assignor.metadata(said.subscription).encode())
    return JoinGroupResponse.JoinGroupResponseMember(
        member_id=said.member_id,
        group_instance_id=said.instance_id,
        metadata=ConsumerProtocolSubscription.decode(metadata),
    )


def cluster(topics: Iterable[tuple[str, int]]) -> object:
    """Return the cluster's metadata, as it comes of a Metadata response."""
    from kafka.cluster import ClusterMetadata

    if _before_3():
        from kafka.protocol.metadata import MetadataResponse_v1

        return class_state.cluster(ClusterMetadata, MetadataResponse_v1, topics)
    from kafka.protocol.metadata import MetadataResponse

    topic_type = MetadataResponse.MetadataResponseTopic
    partition_type = topic_type.MetadataResponsePartition
    response = MetadataResponse(
        version=8,
        brokers=[MetadataResponse.MetadataResponseBroker(1, "localhost", 9092, None)],
        cluster_id="one",
        controller_id=1,
        topics=[
            topic_type(
                error_code=0,
                name=topic,
                is_internal=False,
                partitions=[
                    partition_type(
                        error_code=0,
                        partition_index=number,
                        leader_id=1,
                        leader_epoch=0,
                        replica_nodes=[1],
                        isr_nodes=[1],
                        offline_replicas=[],
                    )
                    for number in range(count)
                ],
            )
            for topic, count in topics
        ],
    )
    made = ClusterMetadata()
    made.update_metadata(MetadataResponse.decode(bytes(response.encode(version=8)), version=8))
    return made


def _before_3() -> bool:
    return int((installed("kafka-python") or "3").partition(".")[0]) < 3


def _joined_before_3(assignor: Any, members: Sequence[Joining]) -> tuple[Any, object]:
    from kafka.coordinator import protocol

    said = protocol.ConsumerProtocol
    versioned = isinstance(said, list)
    leader, decoded = class_state.joined(
        assignor, members, said[0] if versioned else said, generations=True
    )
    if not versioned:
        return leader, decoded
    # Since 2.3 a leader's assignor gets each member's metadata with its instance id.
    from kafka.coordinator.subscription import Subscription

    instances = {member.member_id: member.instance_id for member in members}
    return leader, {m: Subscription(one, instances[m]) for m, one in decoded.items()}


def _assigned(assignment: Any) -> Iterable[tuple[str, Iterable[int]]]:
    """Return the topics that a member is given, each with its partition numbers."""
    found = assignment.assignment if _before_3() else assignment.assigned_partitions
    return [(topic, numbers) for topic, numbers in found]


CLIENT = PythonClient(
    name="kafka-python",
    source="kafka-python, its assignor classes called in this process",
    assignors={
        "range": "kafka.coordinator.assignors.range:RangePartitionAssignor",
        "roundrobin": "kafka.coordinator.assignors.roundrobin:RoundRobinPartitionAssignor",
        "sticky": "kafka.coordinator.assignors.sticky.sticky_assignor:StickyPartitionAssignor",
        "cooperative-sticky": (
            "kafka.coordinator.assignors.cooperative_sticky:CooperativeStickyAssignor"
        ),
    },
    logger="kafka",
    tried="3.0.12",
    joined=joined,
    cluster=cluster,
    given=_assigned,
)
