"""Course: what members hold after a rebalance, and how many rounds and partitions that costs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from compare.moves import Move, by_pair
from compare.scores import OPTIMUM
from groups import Assignment
from groups.documents.assay_group import pairs
from heuristics import Plan
from heuristics.protocol import AS_WRITTEN, Protocol, supported_protocols, to_quiescence

if TYPE_CHECKING:
    from collections.abc import Mapping

    from compare.scenarios.events import StageDocument
    from groups import Group
    from groups.documents.assay_group import JsonObject

# The counts of each rebalance.
COUNTS = (
    "rounds", "revoked", "stopped", "ownerless", "change_hands", "cleaned", "built", "needless",
)  # fmt: skip
# The event of the first stage: members begin with what they hold now, or with nothing.
NOW, START = "now", "start"

# Partition numbers by topic.
Held = dict[str, list[int]]
# What each member claims.
State = dict[str, "JsonObject"]


def held_now(group: Group) -> Assignment | None:
    """Return the current assignment; None if members hold nothing, or it is not valid."""
    now = Assignment.current(group)
    return now if len(now.holdings[0]) and now.is_valid else None


def with_claims(document: StageDocument, state: State | None) -> StageDocument:
    """Return the document with the members' claims; with None, the document itself."""
    if state is None:
        return document
    members: dict[str, JsonObject] = {
        m: {**member, **state.get(m, {})} for m, member in document["members"].items()
    }
    return {**document, "members": members}


def accept(made: Assignment, assignor: str) -> dict[str, Held | None]:
    """Return what each member accepts of its assignment; None if it refuses it.

    If two members get the same partition, both accept it. A member that gets a partition twice
    accepts it once, and it also accepts a partition that does not exist. A member that gets a
    topic that it does not read refuses everything and joins again; KafkaJS only leaves out that
    topic.

    Source: ``ConsumerCoordinator.onJoinComplete`` of Apache Kafka 4.4.0, and kafka-python 3.0.12
    alike; ``consumerGroup.js`` of KafkaJS 2.2.4.

    Parameters
    ----------
    assignor : its name, which contains the members' client
    """
    given = {
        member: {topic: sorted(set(numbers)) for topic, numbers in held.items()}
        for member, held in made.to_dict().items()
    }
    if made.is_valid:
        return {**given}
    found: dict[str, Held | None] = {}
    for member, details in made.group.to_dict()["members"].items():
        reads = set(details["subscription"] or ())
        rest = {topic: numbers for topic, numbers in given[member].items() if topic in reads}
        refused = len(rest) < len(given[member]) and not assignor.startswith("kafkajs/")
        found[member] = None if refused else rest
    return found


def claims_after(group: Group, accepted: Mapping[str, Held | None]) -> State:
    """Return what each member claims after a rebalance: what it accepted, at the next generation.

    A member that refused its assignment, or got none, claims what it claimed before.
    """
    generation = group.next_generation
    found: State = {}
    for member, before in group.to_dict()["members"].items():
        held = accepted.get(member)
        claims = before if held is None else {"owned": held, "generation": generation}
        found[member] = {key: claims[key] for key in ("owned", "generation") if key in claims}
    return found


def partitions_of(group: Group, held: Mapping[str, Held | None]) -> set[int]:
    """Return the held partitions that exist, as indices of the group's partitions."""
    at = {t: (int(group.first[i]), int(group.partitions[i])) for i, t in enumerate(group.topics)}
    return {
        at[topic][0] + number
        for of_one in held.values()
        for topic, number in pairs(of_one or {})
        if topic in at and number < at[topic][1]
    }


@dataclass(frozen=True)
class Course:
    """The course of a rebalance, in rounds and partitions.

    Attributes
    ----------
    rounds : rebalances until no member has to join again; 0 if no assignment was made
    revoked : partitions that members gave up in an orderly way, counted once a round: under the
        eager protocol all that they hold, under the cooperative one those that go to others, and
        all that a leaving member holds
    stopped : partition-rounds in which a partition was given up before the group joined, and so
        was not read, whoever got it
    ownerless : partition-rounds without an owner: each partition that a member reads counts once
        for each round in which it has no owner, or one that refuses its assignment
    handed_over : moves of partitions from one member to another, also from members that have left
    cleaned, built : partitions that a member held and no longer holds, and that it newly holds
    needless : partitions whose state a listener that cannot assume stickiness cleans up and
        rebuilds although they stay: under the eager protocol all that a member gets back, as
        everything is revoked; under the cooperative one none
    """

    rounds: int = 0
    revoked: int = 0
    stopped: int = 0
    ownerless: int = 0
    handed_over: tuple[Move, ...] = ()
    cleaned: int = 0
    built: int = 0
    needless: int = 0

    @property
    def change_hands(self) -> int:
        """Number of partitions that are handed over."""
        return sum(move.count for move in self.handed_over)


def protocol_of(assignor: str) -> Protocol:
    """Return the protocol by which members rebalance under an assignor, or under the optimum.

    The optimum counts as cooperative, as do the broker's assignors (KIP-848). A client's own
    assignors follow ``ConsumerPartitionAssignor.supportedProtocols``.
    """
    if _has_one_target(assignor):
        return Protocol.COOPERATIVE
    names = {written: name for name, written in AS_WRITTEN.items()}
    client = assignor.rpartition("/")[2].partition("@")[0]
    return max(supported_protocols(names.get(assignor, client)))


def _has_one_target(assignor: str) -> bool:
    """Return whether an assignor makes one target, and partitions are revoked before they move."""
    return assignor == OPTIMUM or assignor.startswith(
        ("kafka-broker/", "java-optimal/", "kip-848")
    )


def course(
    group: Group,
    plan: Plan | None,
    assignor: str,
    *,
    accepted: Mapping[str, Held | None],
    departed: Mapping[str, Held],
) -> Course:
    """Return the course of a rebalance under an eager, a cooperative, or a target assignor.

    Towards the optimum and the broker's targets, a partition that moves is revoked in one round
    and assigned in the next, as in KIP-429. Rounds only count partitions that exist, but a
    listener also cleans up partitions that no longer do.

    Parameters
    ----------
    plan : the assignor's plan; None if it made none
    accepted : what each member accepts of it, as from `compare.scenarios.course.accept`
    departed : what each member held that has left since the last rebalance
    """
    given_back = partitions_of(group, departed)
    left = len(given_back)
    if plan is None:
        return Course(revoked=left, stopped=left)
    before, made = Assignment.current(group), plan.assignment
    claimed = before.to_dict()
    held, now = _triples(claimed), _triples(accepted)
    cleaned, built = len(held - now), len(now - held)
    had = {
        pair: member
        for member, topics in (*departed.items(), *claimed.items())
        for pair in pairs(topics)
    }
    handed_over = by_pair(
        (had[topic, number], member, topic, number)
        for member, topic, number in sorted(now - held)
        if (topic, number) in had
    )
    with_an_owner = partitions_of(group, accepted)
    if protocol_of(assignor) is Protocol.EAGER:
        read = np.flatnonzero(group.readers[group.topic] > 0)
        owned = np.unique(np.stack(before.holdings), axis=1)
        return Course(
            rounds=1,
            revoked=owned.shape[1] + left,
            stopped=len(given_back | set(owned[1].tolist())),
            ownerless=len(set(read.tolist()) - with_an_owner),
            handed_over=handed_over,
            cleaned=cleaned,
            built=built,
            needless=len(held & now),
        )
    if _has_one_target(assignor):
        plan = to_quiescence(
            group,
            lambda now: Plan(Assignment(now, made.owner, made.strays)),
            withhold=True,
        )
    return Course(
        rounds=plan.rounds,
        revoked=plan.revoked + left,
        stopped=left,
        ownerless=plan.ownerless + len(set(made.holdings[1].tolist()) - with_an_owner),
        handed_over=handed_over,
        cleaned=cleaned,
        built=built,
    )


def _triples(of_members: Mapping[str, Held | None]) -> set[tuple[str, str, int]]:
    return {
        (member, topic, number)
        for member, held in of_members.items()
        for topic, number in pairs(held or {})
    }
