"""KIP-726: which assignor a group of mixed members ends up with, and by which protocol."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING

from groups import Refused

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from groups import Group


class Protocol(IntEnum):
    """How members rebalance; the higher one is preferred.

    EAGER: every member gives up all it holds before it joins.
    COOPERATIVE: it holds on, and revokes only what it is not assigned again.
    """

    EAGER = 0
    COOPERATIVE = 1

    def __str__(self) -> str:
        return self.name.lower()


DEFAULT_ASSIGNORS: tuple[str, ...] = ("cooperative-sticky", "range")

SUPPORTED: Mapping[str, tuple[Protocol, ...]] = {
    "range": (Protocol.EAGER,),
    "roundrobin": (Protocol.EAGER,),
    "sticky": (Protocol.EAGER,),
    "cooperative-sticky": (Protocol.EAGER, Protocol.COOPERATIVE),
}

AS_WRITTEN: Mapping[str, str] = {
    "range": "range",
    "roundrobin": "roundrobin",
    "sticky": "kip-54-sticky",
    "cooperative-sticky": "kip-429-cooperative",
}


@dataclass(frozen=True)
class Choice:
    """The assignor of one rebalance, and the protocol that follows from it.

    Attributes
    ----------
    assignor : as members list it: "range", "cooperative-sticky", ...
    protocol : the highest that this assignor supports
    votes : how many members voted for each assignor that all support, most votes first
    """

    assignor: str
    protocol: Protocol
    votes: Mapping[str, int]


def supported_protocols(assignor: str) -> tuple[Protocol, ...]:
    """Return the protocols of an assignor; one that is not Kafka's own is taken as eager.

    Source: KIP-726, first table; ``ConsumerPartitionAssignor.supportedProtocols`` for others.
    """
    return SUPPORTED.get(assignor, (Protocol.EAGER,))


def choose(preferences: Mapping[str, Sequence[str]]) -> Choice:
    """Choose the assignor that all members support and most prefer.

    Every member votes for the first in its list that all the others have too. The KIP leaves
    ties to the broker; here the first by name wins.

    Source: KIP-726, "Proposed Changes".

    Parameters
    ----------
    preferences : for each member the assignors it supports, the most preferred first

    Raises
    ------
    Refused
        Where there is no member, or no assignor that all of them support.
    """
    if not preferences:
        raise Refused("no member, so no assignor is chosen")
    common = set.intersection(*(set(listed) for listed in preferences.values()))
    if not common:
        lists = "; ".join(f"{m}: {', '.join(preferences[m])}" for m in sorted(preferences))
        raise Refused(f"no assignor is supported by all members ({lists})")
    votes = Counter(
        next(name for name in listed if name in common) for listed in preferences.values()
    )
    ranked = sorted(common, key=lambda name: (-votes[name], name))
    protocol = max(supported_protocols(ranked[0]))
    return Choice(ranked[0], protocol, {name: votes[name] for name in ranked})


def choose_for(group: Group) -> Choice:
    """Choose for a group; a member that lists no assignors has the default list.

    Raises
    ------
    Refused
        Where there is no member, or no assignor that all of them support.
    """
    listed = dict.fromkeys(group.members, DEFAULT_ASSIGNORS)
    for member, details in zip(group.members, group.details, strict=False):
        listed[member] = details.assignors or DEFAULT_ASSIGNORS
    return choose(listed)


def static_protocol(assignors: Sequence[str]) -> Protocol:
    """Return a member's protocol by the rule that KIP-726 replaces, fixed when it starts.

    It is the highest that all the assignors in its list support, whichever is chosen later: this
    is why an upgrade took two rolling bounces, the second to drop the last eager assignor.

    Source: KIP-726, "Public Interfaces".
    """
    common = set.intersection({*Protocol}, *(set(supported_protocols(a)) for a in assignors))
    return max(common, default=Protocol.EAGER)


def loses_partitions(before: Protocol, chosen: Protocol) -> bool:
    """Return whether a member must call onPartitionsLost for all it holds.

    That is one that held on to its partitions, being cooperative, and now sees an eager assignor
    chosen: somebody else may have them already. Until it has joined again it must not commit.

    Source: KIP-726, "Proposed Changes".
    """
    return before is Protocol.COOPERATIVE and chosen is Protocol.EAGER
