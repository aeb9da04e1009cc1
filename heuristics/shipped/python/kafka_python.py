"""kafka-python: the assignors of the Python client of that name, in this process.

Members and leader do what they do in the client: each member's own assignor object is told what
it was given last and of which generation, says what goes into JoinGroup, and that travels as
bytes; the leader decodes it and assigns by the cluster's metadata, made of a Metadata response.
Only the topics that somebody subscribes to are in there, as a leader asks for no others.

The client lists a member's topics in the order of a Python set, which is another one in every
process; here they are listed ascending. It knows of no racks.
"""

from __future__ import annotations

from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Any

from groups import Assignment, Failed
from heuristics.assignor import Plan
from heuristics.rounds import to_quiescence
from heuristics.shipped.client import Client, tiny
from heuristics.shipped.joining import joining
from heuristics.shipped.python import python_package

if TYPE_CHECKING:
    from groups import Group
    from heuristics.shipped.joining import Joining

PACKAGE = "kafka-python"
TRIED = "3.0.12"


def versions() -> tuple[str, ...]:
    """Return the version that is installed, or else one that is known to work."""
    return (python_package.installed(PACKAGE) or TRIED,)


def plan(group: Group, name: str, version: str) -> Plan:
    """Return what the client's assignor makes of the group.

    Cooperative: round by round, until nobody must revoke.

    Raises
    ------
    Failed
        Where the client raises an exception, with its class and message.
    """
    python_package.require(PACKAGE, version)
    assign = partial(_assigned, name)
    with python_package.silenced("kafka"):
        if name == "cooperative-sticky":
            return to_quiescence(group, assign, withhold=False)
        return assign(group)


def missing(name: str, version: str) -> str | None:
    """Say why the assignor cannot be called here; None where it can."""
    return python_package.missing(PACKAGE, version)


def prepare(name: str, version: str) -> None:
    """Load the client and let it assign a tiny group."""
    plan(tiny(), name, version)


def fetch(version: str) -> None:
    """Raise BadInput where that version is not the one installed."""
    python_package.require(PACKAGE, version)


CLIENT = Client(
    "kafka-python",
    "kafka-python, its assignor classes called in this process",
    ("range", "roundrobin", "sticky", "cooperative-sticky"),
    versions,
    plan,
    missing,
    prepare,
    fetch,
)


def _assigned(name: str, group: Group) -> Plan:
    leader, members = _assignor(name), [_member(name, said) for said in joining(group)]
    cluster = _cluster(group)
    started = perf_counter()
    try:
        made = leader.assign(cluster, members)
    except Exception as error:
        raise Failed(python_package.one_line(error)) from error
    seconds = perf_counter() - started
    index = {member: m for m, member in enumerate(group.members)}
    held = [
        (index[member], topic, int(number))
        for member, given in made.items()
        for topic, numbers in given.assigned_partitions
        for number in numbers
    ]
    return Plan(Assignment.from_holdings(group, sorted(held)), seconds=seconds)


def _assignor(name: str) -> Any:
    """Return an assignor object of the client: every member has its own."""
    if name == "range":
        from kafka.coordinator.assignors.range import RangePartitionAssignor as Assignor
    elif name == "roundrobin":
        from kafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor as Assignor
    elif name == "sticky":
        from kafka.coordinator.assignors.sticky.sticky_assignor import (
            StickyPartitionAssignor as Assignor,
        )
    else:
        from kafka.coordinator.assignors.cooperative_sticky import (
            CooperativeStickyAssignor as Assignor,
        )
    return Assignor()


def _member(name: str, said: Joining) -> Any:
    """Return a member as the leader finds it in the JoinGroup response, metadata decoded."""
    from kafka.protocol.consumer.group import JoinGroupResponse
    from kafka.protocol.consumer.metadata import (
        ConsumerProtocolAssignment,
        ConsumerProtocolSubscription,
    )

    assignor = _assignor(name)
    if said.owned or said.generation >= 0:
        given = ConsumerProtocolAssignment(0, list(said.owned.items()), b"")
        assignor.on_assignment(given, said.generation)
    metadata = bytes(assignor.metadata(said.subscription).encode())
    return JoinGroupResponse.JoinGroupResponseMember(
        member_id=said.member_id,
        group_instance_id=said.instance_id,
        metadata=ConsumerProtocolSubscription.decode(metadata),
    )


def _cluster(group: Group) -> Any:
    """Return the cluster's metadata: every topic that exists and that somebody subscribes to."""
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
            for topic, count, readers in zip(
                group.topics, group.partitions.tolist(), group.readers.tolist(), strict=True
            )
            if readers
        ],
    )
    cluster = ClusterMetadata()
    received = MetadataResponse.decode(bytes(response.encode(version=8)), version=8)
    cluster.update_metadata(received)
    return cluster
