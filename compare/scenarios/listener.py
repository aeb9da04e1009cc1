"""Listener: what a rebalance makes a member's listener clean up and build."""

from __future__ import annotations

from compare.score import OPTIMUM
from groups import Assignment, Group
from heuristics.protocol import AS_WRITTEN, Protocol, supported_protocols


def protocol_of(assignor: str) -> Protocol:
    """Return how members rebalance under an assignor of ours, or of the optimum.

    The optimum is taken as cooperative, as are the broker's assignors (KIP-848); a client's own
    follow ``ConsumerPartitionAssignor.supportedProtocols``.
    """
    if assignor == OPTIMUM or assignor.startswith(("kafka-broker/", "kip-848")):
        return Protocol.COOPERATIVE
    names = {written: name for name, written in AS_WRITTEN.items()}
    client = assignor.rpartition("/")[2].partition("@")[0]
    return max(supported_protocols(names.get(assignor, client)))


def listener(group: Group, made: Assignment | None, protocol: Protocol) -> dict[str, int]:
    """Return the partitions lost, gained and needlessly built again, over all members.

    As in :class:`compare.scenarios.journey.JourneyStep`; all 0 where no assignment was made.
    """
    if made is None:
        return {"lost": 0, "gained": 0, "needless": 0}
    before, after = _pairs(Assignment.current(group)), _pairs(made)
    kept = len(before & after)
    return {
        "lost": len(before - after),
        "gained": len(after - before),
        "needless": kept if protocol is Protocol.EAGER else 0,
    }


def _pairs(assignment: Assignment) -> set[tuple[str, str, int]]:
    return {
        (member, topic, number)
        for member, topics in assignment.to_dict().items()
        for topic, numbers in topics.items()
        for number in numbers
    }
