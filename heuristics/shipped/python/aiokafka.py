"""aiokafka: the assignors of the asyncio client of that name.

The client's assignors keep their state on the class, as each process has one member. Here each
member has a class of its own that inherits from the client's, so that nothing travels from one
to the other. The client never tells its assignors a generation: all claims go out with -1.
Instance ids and racks do not reach its assignors.
"""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, Any

from heuristics.shipped.python.python_client import PythonClient

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from heuristics.shipped.joining import Joining


def joined(assignor: Any, members: Sequence[Joining]) -> tuple[Any, dict[str, object]]:
    """Return the leader's assignor, and by member what it decodes of what that member sends."""
    sent = {said.member_id: _metadata(_of_one_member(assignor), said) for said in members}
    return _of_one_member(assignor), sent


def _of_one_member(assignor: Any) -> Any:
    """Return a class that takes everything from the client's and keeps its state to itself."""
    return type(assignor.__name__, (assignor,), {})


def _metadata(assignor: Any, said: Joining) -> object:
    from aiokafka.coordinator.protocol import ConsumerProtocol

    if said.owned or said.generation >= 0:
        assignor.on_assignment(ConsumerProtocol.ASSIGNMENT(0, list(said.owned.items()), b""))
    return ConsumerProtocol.METADATA.decode(assignor.metadata(said.subscription).encode())


def cluster(topics: Iterable[tuple[str, int]]) -> object:
    """Return the cluster's metadata, as it comes of a Metadata response."""
    from aiokafka.cluster import ClusterMetadata
    from aiokafka.protocol.metadata import MetadataResponse_v1

    listed = [
        (0, topic, False, [(0, number, 1, [1], [1]) for number in range(count)])
        for topic, count in topics
    ]
    made = ClusterMetadata()
    made.update_metadata(MetadataResponse_v1([(1, "localhost", 9092, None)], 1, listed))
    return made


CLIENT = PythonClient(
    name="aiokafka",
    source="aiokafka, its assignor classes called in this process",
    assignors={
        "range": "aiokafka.coordinator.assignors.range:RangePartitionAssignor",
        "roundrobin": "aiokafka.coordinator.assignors.roundrobin:RoundRobinPartitionAssignor",
        "sticky": "aiokafka.coordinator.assignors.sticky.sticky_assignor:StickyPartitionAssignor",
    },
    logger="aiokafka",
    tried="0.14.0",
    joined=joined,
    cluster=cluster,
    given=attrgetter("assignment"),
)
