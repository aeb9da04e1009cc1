"""kafka-python: the assignors of the Python client of that name.

Each member has an assignor object of its own, which is told what the member was given last and of
which generation. The client knows of no racks.
"""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, Any

from heuristics.shipped.python.python_client import PythonClient

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from heuristics.shipped.joining import Joining


def joined(assignor: Any, members: Sequence[Joining]) -> tuple[Any, list[object]]:
    """Return the leader's assignor and the members of its JoinGroup response, decoded."""
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
    given=attrgetter("assigned_partitions"),
)
