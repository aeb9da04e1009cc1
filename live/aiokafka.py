"""The optimum as an assignor of aiokafka's consumers.

Name the class in the list ``partition_assignment_strategy`` of each consumer.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import TYPE_CHECKING

from aiokafka.coordinator.assignors.abstract import AbstractPartitionAssignor
from aiokafka.coordinator.protocol import (
    ConsumerProtocolMemberAssignment,
    ConsumerProtocolMemberMetadata,
)

from live.assignor.lag import LagSettings, Settings
from live.assignor.planned import Memory, warm_up
from live.assignor.rebalance import Joined

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from aiokafka.cluster import ClusterMetadata

# The client calls methods of the class, for every consumer, but each consumer in a task of its
# own. So the memory of a consumer is in the context of its task.
_MEMORY: ContextVar[Memory] = ContextVar("_MEMORY")


class OptimalAssignor(Settings):
    """Loads as balanced as can be and, of these assignments, one with the fewest moves.

    Like `live.kafka_python.OptimalAssignor`, and both work in one group. This client is always
    eager: it gives up all partitions before it joins.
    """

    @classmethod
    def metadata(cls, topics: Collection[str]) -> ConsumerProtocolMemberMetadata:
        """Return the metadata with which the consumer joins."""
        cls.require_settings()
        warm_up(cls.loaded)
        user_data = _memory().user_data(topics, holds=False)
        return ConsumerProtocolMemberMetadata(0, sorted(topics), user_data)

    @classmethod
    def assign(
        cls, cluster: ClusterMetadata, members: Mapping[str, ConsumerProtocolMemberMetadata]
    ) -> dict[str, ConsumerProtocolMemberAssignment]:
        """Return each member's assignment."""
        joined = {
            member: Joined.of(said.subscription, said.user_data)
            for member, said in members.items()
        }
        given = _memory().lead(
            joined, cluster.partitions_for_topic, cls.solver(), time_limit=cls.time_limit
        )
        return {
            member: ConsumerProtocolMemberAssignment(0, partitions, user_data)
            for member, (partitions, user_data) in given.items()
        }

    @classmethod
    def on_assignment(cls, assignment: ConsumerProtocolMemberAssignment) -> None:
        """Remember the consumer's assignment."""
        _memory().remember(assignment.assignment, assignment.user_data)


class LagAwareAssignor(LagSettings, OptimalAssignor):
    """Balanced loads; of these the least lag on the busiest member; of these the fewest moves.

    The leader reads offsets with a client of its own. If that fails, it assigns like
    `OptimalAssignor`, and a warning is logged.
    """


def _memory() -> Memory:
    """Return the memory of the consumer that runs in this task."""
    found = _MEMORY.get(None)
    if found is None:
        found = Memory()
        _MEMORY.set(found)
    return found


AbstractPartitionAssignor.register(OptimalAssignor)
