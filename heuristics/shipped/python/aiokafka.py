"""aiokafka: the assignors of the asyncio client of that name.

The client's assignors keep their state on the class (`class_state`). The client never tells its
assignors a generation: all claims go out with -1. Instance ids and racks do not reach its
assignors.
"""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, Any

from heuristics.shipped.python import class_state
from heuristics.shipped.python.python_client import PythonClient

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from heuristics.shipped.joining import Joining


def joined(assignor: Any, members: Sequence[Joining]) -> tuple[Any, dict[str, object]]:
    """Return the leader's assignor, and by member what it decodes of what that member sends."""
    from aiokafka.coordinator.protocol import ConsumerProtocol

    return class_state.joined(assignor, members, ConsumerProtocol, generations=False)


def cluster(topics: Iterable[tuple[str, int]]) -> object:
    """Return the cluster's metadata, as it comes of a Metadata response."""
    from aiokafka.cluster import ClusterMetadata
    from aiokafka.protocol.metadata import MetadataResponse_v1

    return class_state.cluster(ClusterMetadata, MetadataResponse_v1, topics)


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
