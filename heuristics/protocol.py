"""Protocol: which assignor a group of different members chooses, and the rounds of KIP-429."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING

import numpy as np

from groups import Assignment, Failed, Refused
from heuristics.assignor import Plan

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from groups import Group
    from groups.arrays import Int64


class Protocol(IntEnum):
    """How members rebalance; the higher value is preferred.

    EAGER: every member gives up all its partitions before it joins.
    COOPERATIVE: it keeps them, and revokes only those that it is not assigned again.
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
        If there is no member, or no assignor that all of them support.
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


def assigned_by(group: Group) -> str | None:
    """Return the assignor that a group ends up with; None if a member's list is unknown."""
    listed = {
        member: details.assignors
        for member, details in zip(group.members, group.details, strict=False)
        if details.assignors
    }
    if len(listed) < len(group.members):
        return None
    try:
        return choose(listed).assignor
    except Refused:
        return None


def by_broker(group: Group) -> bool:
    """Return whether the snapshot shows that the broker assigns consumers (KIP-848), no tasks."""
    return not group.of_streams and (group.is_kip_848 or assigned_by(group) == "uniform")


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

    A cooperative member kept its partitions; if an eager assignor is chosen now, another member
    may have them already. Until it has joined again it must not commit.

    Source: KIP-726, "Proposed Changes".
    """
    return before is Protocol.COOPERATIVE and chosen is Protocol.EAGER


FOR_EVER = "the rounds would go on for ever"


def to_quiescence(group: Group, over: Callable[[Group], Plan], *, withhold: bool) -> Plan:
    """Rebalance with an assignor until nobody must revoke.

    In a round, the assignor makes its assignment. A partition that another member still owns is
    taken out of the new owner's list. Each member keeps the owned partitions that it is assigned
    and revokes the others. If anybody revoked, all join again with what they now own and the next
    generation, and a new round begins.

    Every claim on a partition that exists counts as owning it, whatever its generation and even if
    the member no longer subscribes to the topic.

    Source: KIP-429, as KIP-615 sums it up: partitions that are transferring ownership stay out of
    the assignment until they have been safely revoked, and a followup rebalance assigns them.

    Parameters
    ----------
    over : the assignor whose result is reached cooperatively
    withhold : whether to take transferring partitions out; False if the assignor does that itself

    Returns
    -------
    Plan
        Its assignment is that of the last round, compared with the owners before the first;
        `rounds` includes the last; `seconds` are those of all rounds, None if one has none.

    Raises
    ------
    Failed
        If the owned partitions are those after an earlier round: it would go on for ever.
    Refused
        If the assignor does not cover the group.
    """
    width = group.n_partitions
    read = group.readers[group.topic] > 0
    owned = _pairs(Assignment.current(group))
    seen: dict[bytes, int] = {}
    current, rounds, revoked, ownerless = group, 0, 0, 0
    seconds: list[float | None] = []
    while True:
        rounds += 1
        made = over(current)
        seconds.append(made.seconds)
        target = _pairs(made.assignment)
        lost = np.setdiff1d(owned, target, assume_unique=True)
        if withhold:
            held_back = np.isin(target % width, lost % width) & ~np.isin(target, owned)
            target = target[~held_back]
        owned = target
        revoked += len(lost)
        ownerless += int(read.sum() - np.isin(np.flatnonzero(read), owned % width).sum())
        if not len(lost):
            total = None if None in seconds else sum(s for s in seconds if s is not None)
            # Nothing was held back in this round, so its assignment is final.
            final = Assignment(group, made.assignment.owner, made.assignment.strays)
            return Plan(final, rounds, revoked, ownerless, total)
        if owned.tobytes() in seen:
            raise Failed(
                f"round {rounds} ends with what the members owned after round "
                f"{seen[owned.tobytes()]}: {FOR_EVER}"
            )
        seen[owned.tobytes()] = rounds
        holder, held = np.divmod(owned, width)
        current = current.with_claims(holder, held, generation=current.next_generation)


def _pairs(assignment: Assignment) -> Int64:
    """(held,) int64: member x partitions + partition for each that a member holds or claims."""
    member, partition = assignment.holdings
    return np.unique(member.astype(np.int64) * assignment.group.n_partitions + partition)
