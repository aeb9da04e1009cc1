"""PythonClient: a client library in Python, whose assignor classes are called in this process.

Members and leader do what they do in the client. Each member's assignor gets its last assignment
and makes the metadata of JoinGroup, which is encoded as bytes. The leader decodes it and assigns
with the cluster's metadata, made from a Metadata response. That holds only topics that somebody
subscribes to, as a leader asks for no others.

The clients list a member's topics in the order of a Python set, which differs between processes;
here they are listed ascending.
"""

from __future__ import annotations

import logging
import warnings
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from operator import attrgetter
from time import perf_counter
from typing import TYPE_CHECKING, Any, ClassVar

from groups import Assignment, BadInput, Failed
from groups.errors import in_one_line
from groups.extras import command_for
from heuristics.assignor import Plan
from heuristics.shipped.client import joining

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from groups import Group
    from heuristics.shipped.client import Joining


@dataclass(frozen=True)
class PythonClient:
    """A :class:`~heuristics.shipped.client.Client` that is a Python package.

    A process can load one version of a package: the one that is installed.

    Attributes
    ----------
    name : name of the package, as users write it
    source : one line that says what is called, and how
    assignors : the client's class as "module:class", by the name that members list
    logger : the parent of all the client's loggers
    tried : a version that is known to work, listed if none is installed
    joined : takes an assignor's class and the joining members; returns the leader's assignor and
        the members in the form that its ``assign`` takes
    cluster : returns the client's cluster metadata for (topic, partition count) pairs
    given : returns the topics of a member's assignment, each with its partition numbers
    """

    keeps_time: ClassVar[bool] = False
    language: ClassVar[str] = "python"
    name: str
    source: str
    assignors: Mapping[str, str]
    logger: str
    tried: str
    joined: Callable[[Any, Sequence[Joining]], tuple[Any, object]]
    cluster: Callable[[Iterable[tuple[str, int]]], object]
    given: Callable[[Any], Iterable[tuple[str, Iterable[int]]]]
    repeatable: bool = True

    def versions(self) -> tuple[str, ...]:
        """Return the version that is installed, or else one that is known to work."""
        return (installed(self.name) or self.tried,)

    def missing(self, assignor: str, version: str) -> str | None:
        """Return why the assignor cannot be called here; None if it can."""
        return missing(self.name, version)

    def fetch(self, version: str) -> None:
        """Raise BadInput unless that version is installed; nothing is fetched."""
        reason = missing(self.name, version)
        if reason is not None:
            raise BadInput(reason)

    def one_round(self, group: Group, assignor: str, version: str) -> Plan:
        """Call the client's assignor once, as the leader of the group does.

        Raises
        ------
        BadInput
            If another version is installed, or none.
        Failed
            If the client raises an exception, with its class and message.
        """
        self.fetch(version)
        module, _, name = self.assignors[assignor].partition(":")
        with _silenced(self.logger):
            leader, members = self.joined(getattr(import_module(module), name), joining(group))
            cluster = self.cluster(_read_topics(group))
            started = perf_counter()
            try:
                made = leader.assign(cluster, members)
            except Exception as error:
                raise Failed(in_one_line(error)) from error
            seconds = perf_counter() - started
        index = {member: m for m, member in enumerate(group.members)}
        held = [
            (index[member], topic, int(number))
            for member, assignment in made.items()
            for topic, numbers in self.given(assignment)
            for number in numbers
        ]
        return Plan(Assignment.from_holdings(group, sorted(held)), seconds=seconds)


def installed(package: str) -> str | None:
    """Return the version of a package that is installed, None if it is not."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(package)
    except PackageNotFoundError:
        return None


def missing(package: str, asked: str) -> str | None:
    """Return why that version of a package cannot be called here; None if it can."""
    here = installed(package)
    if here is None:
        return f"{package} is not installed: {command_for('clients')}"
    if here != asked:
        return f"{package} {here} is installed, not {asked}: pip install {package}=={asked}"
    return None


def _read_topics(group: Group) -> Iterator[tuple[str, int]]:
    """Return the name and partition count of each topic that exists and that somebody reads."""
    columns = (group.topics, group.partitions.tolist(), group.readers.tolist())
    for topic, count, readers in zip(*columns, strict=True):
        if readers:
            yield topic, count


@contextmanager
def _silenced(logger: str) -> Iterator[None]:
    """Suppress the log messages and warnings of a package."""
    top = logging.getLogger(logger)
    level = top.level
    top.setLevel(logging.CRITICAL + 1)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        top.setLevel(level)


def joined_by_class(
    assignor: Any, members: Sequence[Joining], protocol: Any, *, generations: bool
) -> tuple[Any, dict[str, object]]:
    """Return the leader's assignor, and each member's metadata as the leader decodes it.

    For clients whose assignors keep their state on the class: aiokafka, and kafka-python before
    3.0. In the client, each process has one member, so that works. Here each member gets a
    subclass of its own, so that members do not share state.

    Parameters
    ----------
    assignor : the client's class
    protocol : the client's class of the consumer protocol, with METADATA and ASSIGNMENT
    generations : whether the client tells a sticky assignor the generation of its claims
    """
    sent = {
        said.member_id: _metadata(_of_one_member(assignor), said, protocol, generations)
        for said in members
    }
    return _of_one_member(assignor), sent


def cluster_of(metadata: Any, response: Any, topics: Iterable[tuple[str, int]]) -> object:
    """Return the client's cluster metadata, made from a Metadata response.

    Parameters
    ----------
    metadata, response : the client's classes ``ClusterMetadata`` and ``MetadataResponse_v1``
    """
    listed = [
        (0, topic, False, [(0, number, 1, [1], [1]) for number in range(count)])
        for topic, count in topics
    ]
    made = metadata()
    made.update_metadata(response([(1, "localhost", 9092, None)], 1, listed))
    return made


def _of_one_member(assignor: Any) -> Any:
    """Return a subclass of the client's assignor that has its own state."""
    return type(assignor.__name__, (assignor,), {})


def _metadata(assignor: Any, said: Joining, protocol: Any, generations: bool) -> object:
    if said.owned or said.generation >= 0:
        assignor.on_assignment(protocol.ASSIGNMENT(0, list(said.owned.items()), b""))
        if generations and assignor.name == "sticky":
            assignor.on_generation_assignment(said.generation)
    # Before 3.0, kafka-python holds what is encoded by a weak reference, so it needs a variable.
    metadata = assignor.metadata(said.subscription)
    return protocol.METADATA.decode(metadata.encode())


def _kafka_python_joined(assignor: Any, members: Sequence[Joining]) -> tuple[Any, object]:
    """Return the leader's assignor, and the decoded members of its JoinGroup response."""
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


def kafka_python_cluster(topics: Iterable[tuple[str, int]]) -> object:
    """Return kafka-python's cluster metadata, made from a Metadata response."""
    from kafka.cluster import ClusterMetadata

    if _before_3():
        from kafka.protocol.metadata import MetadataResponse_v1

        return cluster_of(ClusterMetadata, MetadataResponse_v1, topics)
    from kafka.protocol.metadata import MetadataResponse

    topic_type = MetadataResponse.MetadataResponseTopic
    partition_type = topic_type.MetadataResponsePartition
    one = {"leader_id": 1, "replica_nodes": [1], "isr_nodes": [1]}
    response = MetadataResponse(
        version=8,
        brokers=[MetadataResponse.MetadataResponseBroker(1, "localhost", 9092, None)],
        controller_id=1,
        topics=[
            topic_type(
                name=topic,
                partitions=[partition_type(partition_index=n, **one) for n in range(count)],
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
    leader, decoded = joined_by_class(
        assignor, members, said[0] if versioned else said, generations=True
    )
    if not versioned:
        return leader, decoded
    # Since 2.3, the leader's assignor gets each member's metadata with its instance id.
    from kafka.coordinator.subscription import Subscription

    instances = {member.member_id: member.instance_id for member in members}
    return leader, {m: Subscription(one, instances[m]) for m, one in decoded.items()}


def _assigned(assignment: Any) -> Iterable[tuple[str, Iterable[int]]]:
    """Return the topics of a member's assignment, each with its partition numbers."""
    found = assignment.assignment if _before_3() else assignment.assigned_partitions
    return [(topic, numbers) for topic, numbers in found]


# Each member has an assignor object of its own, which gets the member's last assignment and its
# generation. Before release 3.0 the assignors kept these on the class. The client has no racks.
KAFKA_PYTHON = PythonClient(
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
    joined=_kafka_python_joined,
    cluster=kafka_python_cluster,
    given=_assigned,
)


def _aiokafka_joined(assignor: Any, members: Sequence[Joining]) -> tuple[Any, dict[str, object]]:
    """Return the leader's assignor, and each member's metadata as the leader decodes it."""
    from aiokafka.coordinator.protocol import ConsumerProtocol

    return joined_by_class(assignor, members, ConsumerProtocol, generations=False)


def aiokafka_cluster(topics: Iterable[tuple[str, int]]) -> object:
    """Return aiokafka's cluster metadata, made from a Metadata response."""
    from aiokafka.cluster import ClusterMetadata
    from aiokafka.protocol.metadata import MetadataResponse_v1

    return cluster_of(ClusterMetadata, MetadataResponse_v1, topics)


# The client's assignors keep their state on the class. They never get a generation, so all claims
# are sent with -1, and they get no instance ids or racks.
AIOKAFKA = PythonClient(
    name="aiokafka",
    source="aiokafka, its assignor classes called in this process",
    assignors={
        "range": "aiokafka.coordinator.assignors.range:RangePartitionAssignor",
        "roundrobin": "aiokafka.coordinator.assignors.roundrobin:RoundRobinPartitionAssignor",
        "sticky": "aiokafka.coordinator.assignors.sticky.sticky_assignor:StickyPartitionAssignor",
    },
    logger="aiokafka",
    tried="0.14.0",
    joined=_aiokafka_joined,
    cluster=aiokafka_cluster,
    given=attrgetter("assignment"),
)
