"""aiokafka: the assignors of the asyncio client of that name, in this process.

Members and leader do what they do in the client: each member is told what it was given last, says
what goes into JoinGroup, and that travels as bytes; the leader decodes it and assigns by the
cluster's metadata, made of a Metadata response with the topics that somebody subscribes to.

The client's assignors keep their state on the class, as each process has one member. Here each
member has a class of its own that inherits from the client's, so that nothing travels from one
to the other. The client never tells its assignors a generation: all claims go out with -1. It
lists a member's topics in the order of a Python set, which is another one in every process; here
they are listed ascending. Instance ids and racks do not reach its assignors.
"""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING, Any

from groups import Assignment, Failed
from heuristics.assignor import Plan
from heuristics.shipped.client import Client, tiny
from heuristics.shipped.joining import joining
from heuristics.shipped.python import python_package

if TYPE_CHECKING:
    from groups import Group
    from heuristics.shipped.joining import Joining

PACKAGE = "aiokafka"
TRIED = "0.14.0"


def versions() -> tuple[str, ...]:
    """Return the version that is installed, or else one that is known to work."""
    return (python_package.installed(PACKAGE) or TRIED,)


def plan(group: Group, name: str, version: str) -> Plan:
    """Return what the client's assignor makes of the group.

    Raises
    ------
    Failed
        Where the client raises an exception, with its class and message.
    """
    python_package.require(PACKAGE, version)
    with python_package.silenced("aiokafka"):
        return _assigned(name, group)


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
    "aiokafka",
    "aiokafka, its assignor classes called in this process",
    ("range", "roundrobin", "sticky"),
    versions,
    plan,
    missing,
    prepare,
    fetch,
)


def _assigned(name: str, group: Group) -> Plan:
    assignor, cluster = _assignor(name), _cluster(group)
    members = {said.member_id: _metadata(assignor, said) for said in joining(group)}
    leader = _of_one_member(assignor)
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
        for topic, numbers in given.assignment
        for number in numbers
    ]
    return Plan(Assignment.from_holdings(group, sorted(held)), seconds=seconds)


def _assignor(name: str) -> Any:
    """Return the client's assignor class of that name."""
    if name == "range":
        from aiokafka.coordinator.assignors.range import RangePartitionAssignor as Assignor
    elif name == "roundrobin":
        from aiokafka.coordinator.assignors.roundrobin import (
            RoundRobinPartitionAssignor as Assignor,
        )
    else:
        from aiokafka.coordinator.assignors.sticky.sticky_assignor import (
            StickyPartitionAssignor as Assignor,
        )
    return Assignor


def _of_one_member(assignor: Any) -> Any:
    """Return a class that takes everything from the client's and keeps its state to itself."""
    return type(assignor.__name__, (assignor,), {})


def _metadata(assignor: Any, said: Joining) -> Any:
    """Return what the leader decodes of what a member sends."""
    from aiokafka.coordinator.protocol import ConsumerProtocol

    own = _of_one_member(assignor)
    if said.owned or said.generation >= 0:
        own.on_assignment(ConsumerProtocol.ASSIGNMENT(0, list(said.owned.items()), b""))
    return ConsumerProtocol.METADATA.decode(own.metadata(said.subscription).encode())


def _cluster(group: Group) -> Any:
    """Return the cluster's metadata: every topic that exists and that somebody subscribes to."""
    from aiokafka.cluster import ClusterMetadata
    from aiokafka.protocol.metadata import MetadataResponse_v1

    topics = [
        (0, topic, False, [(0, number, 1, [1], [1]) for number in range(count)])
        for topic, count, readers in zip(
            group.topics, group.partitions.tolist(), group.readers.tolist(), strict=True
        )
        if readers
    ]
    cluster = ClusterMetadata()
    cluster.update_metadata(MetadataResponse_v1([(1, "localhost", 9092, None)], 1, topics))
    return cluster
