"""The optimum as an assignor of kafka-python's consumers.

Name the class in the list ``partition_assignment_strategy`` of each consumer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from kafka.coordinator.assignors.abstract import AbstractPartitionAssignor, RebalanceProtocol
from kafka.protocol.consumer.metadata import (
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
)

from groups.errors import BadInput
from live.assignor.lag import LagSettings, Settings
from live.assignor.planned import Memory, warm_up
from live.assignor.rebalance import Joined

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from kafka.cluster import ClusterMetadata
    from kafka.protocol.consumer.group import JoinGroupResponse

PROTOCOLS = {
    "cooperative": RebalanceProtocol.COOPERATIVE,
    "eager": RebalanceProtocol.EAGER,
}


class OptimalAssignor(Settings):
    """Loads as balanced as can be and, of these assignments, one with the fewest moves.

    The leader of the group solves it exactly and checks the plan. If there is no plan within the
    time limit, a sticky and balanced one is used, and a warning is logged. Plans depend on the
    members' claims and the cluster's metadata, not on who leads.

    Attributes
    ----------
    protocol : ``cooperative`` or ``eager``. All assignors of one consumer must have the same
        protocol: use ``eager`` beside the client's range, roundrobin or sticky
    """

    protocol: ClassVar[Literal["cooperative", "eager"]] = "cooperative"
    settable: ClassVar[tuple[str, ...]] = ("protocol", "time_limit")

    def __init__(self) -> None:
        self._memory = Memory()

    @classmethod
    def check_settings(cls) -> None:
        """Raise BadInput if a setting has a bad value."""
        super().check_settings()
        if cls.protocol not in [*PROTOCOLS]:
            known = " or ".join(PROTOCOLS)
            raise BadInput(f"{cls.__name__}: protocol: {cls.protocol!r}, expected {known}")

    def supported_protocols(self) -> list[RebalanceProtocol]:
        """Return the one protocol that the consumer follows."""
        return [PROTOCOLS[self.protocol]]

    def metadata(self, topics: Collection[str]) -> ConsumerProtocolSubscription:
        """Return the metadata with which the consumer joins."""
        self.require_settings()
        warm_up(self.loaded)
        user_data = self._memory.user_data(topics, holds=self.protocol == "cooperative")
        return ConsumerProtocolSubscription(0, sorted(topics), user_data)

    def assign(
        self,
        cluster: ClusterMetadata,
        members: Sequence[JoinGroupResponse.JoinGroupResponseMember],
    ) -> dict[str, ConsumerProtocolAssignment]:
        """Return each member's assignment."""
        joined = {
            member.member_id: Joined.of(member.metadata.topics, member.metadata.user_data)
            for member in members
        }
        given = self._memory.lead(
            joined, cluster.partitions_for_topic, self.solver(), time_limit=self.time_limit
        )
        return {
            member: ConsumerProtocolAssignment(0, partitions, user_data)
            for member, (partitions, user_data) in given.items()
        }

    def on_assignment(self, assignment: ConsumerProtocolAssignment, generation: int) -> None:
        """Remember the consumer's assignment."""
        partitions = ((one.topic, one.partitions) for one in assignment.assigned_partitions)
        self._memory.remember(partitions, assignment.user_data)


class LagAwareAssignor(LagSettings, OptimalAssignor):
    """Balanced loads; of these the least lag on the busiest member; of these the fewest moves.

    The leader reads offsets with a client of its own. If that fails, it assigns like
    `OptimalAssignor`, and a warning is logged.
    """

    settable: ClassVar[tuple[str, ...]] = ("protocol", *LagSettings.settable)


AbstractPartitionAssignor.register(OptimalAssignor)
