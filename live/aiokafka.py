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

# The client calls methods of the class, whichever consumer it is about, in a task that each
# consumer has of its own. What one consumer remembers is in the context of that task.
_MEMORY: ContextVar[Memory] = ContextVar("_MEMORY")


class OptimalAssignor(Settings):
    """Loads as balanced as can be and, of these assignments, one with the fewest moves.

    As `live.kafka_python.OptimalAssignor`, with which it works in one group. This client gives
    up all that it has before it joins: it knows no cooperative rebalance.
    """

    @classmethod
    def metadata(cls, topics: Collection[str]) -> ConsumerProtocolMemberMetadata:
        """Return what the consumer joins with."""
        cls.require_settings()
        warm_up(cls.loaded)
        said = _memory().said(topics, holds=False)
        return ConsumerProtocolMemberMetadata(0, sorted(topics), said)

    @classmethod
    def assign(
        cls, cluster: ClusterMetadata, members: Mapping[str, ConsumerProtocolMemberMetadata]
    ) -> dict[str, ConsumerProtocolMemberAssignment]:
        """Return what each member gets."""
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
        """Remember what the consumer was given."""
        _memory().given(assignment.assignment, assignment.user_data)


class LagAwareAssignor(LagSettings, OptimalAssignor):
    """Balanced loads; of these the least lag on the busiest member; of these the fewest moves.

    The leader asks for offsets with a client of its own. Where it cannot have them, it does what
    `OptimalAssignor` does, and a warning says so.
    """


def _memory() -> Memory:
    """Return what the consumer whose task this is remembers."""
    found = _MEMORY.get(None)
    if found is None:
        found = Memory()
        _MEMORY.set(found)
    return found


AbstractPartitionAssignor.register(OptimalAssignor)
