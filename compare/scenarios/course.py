"""Course: what members hold after a rebalance, and what it took until then."""

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

# What is counted in each rebalance.
COUNTS = (
    "rounds", "revoked", "stopped", "ownerless", "change_hands", "cleaned", "built", "needless",
)  # fmt: skip
# What stands in place of an event at the beginning.
NOW, START = "now", "start"

# Partition numbers by topic.
Held = dict[str, list[int]]
# What each member claims.
State = dict[str, "JsonObject"]


def held_now(group: Group) -> Assignment | None:
    """Return what the members hold now; None where that is nothing, or not valid."""
    now = Assignment.current(group)
    return now if len(now.holdings[0]) and now.is_valid else None


def owning(document: StageDocument, state: State | None) -> StageDocument:
    """Return the document with what each member claims; None: as it is."""
    if state is None:
        return document
    members: dict[str, JsonObject] = {
        m: {**said, **state.get(m, {})} for m, said in document["members"].items()
    }
    return {**document, "members": members}


def taken(made: Assignment, assignor: str) -> dict[str, Held | None]:
    """Return what each member takes of its assignment; None where it refuses it.

    A partition that two members are given both take; one that a member is given twice it takes
    once; one that does not exist it takes, too. A member that is given a topic that it does not
    read refuses all, and joins again; KafkaJS leaves out that topic.

    Source: ``ConsumerCoordinator.onJoinComplete`` of Apache Kafka 4.4.0, and kafka-python 3.0.12
    alike; ``consumerGroup.js`` of KafkaJS 2.2.4.

    Parameters
    ----------
    assignor : its name, which tells the client of the members
    """
    given = {
        member: {topic: sorted(set(numbers)) for topic, numbers in held.items()}
        for member, held in made.to_dict().items()
    }
    if made.is_valid:
        return {**given}
    found: dict[str, Held | None] = {}
    for member, said in made.group.to_dict()["members"].items():
        reads = set(said["subscription"] or ())
        rest = {topic: numbers for topic, numbers in given[member].items() if topic in reads}
        refused = len(rest) < len(given[member]) and not assignor.startswith("kafkajs/")
        found[member] = None if refused else rest
    return found


def after(group: Group, took: Mapping[str, Held | None]) -> State:
    """Return what each member claims after a rebalance: what it took, at the next generation.

    A member that took nothing, and one that is not there, claims what it claimed before.
    """
    generation = group.next_generation
    found: State = {}
    for member, said in group.to_dict()["members"].items():
        held = took.get(member)
        if held is not None:
            found[member] = {"owned": held, "generation": generation}
            continue
        found[member] = {"owned": said["owned"]}
        if "generation" in said:
            found[member]["generation"] = said["generation"]
    return found


def parted(group: Group, state: State | None) -> dict[str, Held]:
    """Return what those held that are no members any more."""
    return {m: said["owned"] for m, said in (state or {}).items() if m not in group.members}


def partitions_of(group: Group, held: Mapping[str, Held | None]) -> set[int]:
    """Return the partitions that exist of those that some hold, by topic and number."""
    at = {t: (int(group.first[i]), int(group.partitions[i])) for i, t in enumerate(group.topics)}
    return {
        at[topic][0] + number
        for of_one in held.values()
        for topic, number in pairs(of_one or {})
        if topic in at and number < at[topic][1]
    }


@dataclass(frozen=True)
class Course:
    """What a rebalance took.

    Attributes
    ----------
    rounds : rebalances until nobody has to join again; 0 where no assignment was made
    revoked : partitions that members gave up in an orderly way, once a round: under the eager
        protocol all that they hold, under the cooperative one what goes to others, and all that
        a member holds that leaves
    stopped : partition-rounds in which a partition was given up before the group joined, and so
        stood still whoever got it
    ownerless : partition-rounds without an owner: each partition that a member reads counts once
        for each round that leaves it with nobody, or with one that refuses its assignment
    handed_over : partitions that somebody held and another member holds now, also those of
        members that have left
    cleaned, built : partitions that a member held and holds no more, or holds anew
    needless : partitions whose state a listener that cannot assume stickiness cleans up and
        builds again although they stay where they were: under the eager protocol everything is
        revoked, so these are all that a member gets back; under the cooperative one none
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
        """How many partitions are handed over."""
        return sum(move.count for move in self.handed_over)


def protocol_of(assignor: str) -> Protocol:
    """Return how members rebalance under an assignor of ours, or of the optimum.

    The optimum is taken as cooperative, as are the broker's assignors (KIP-848); a client's own
    follow ``ConsumerPartitionAssignor.supportedProtocols``.
    """
    if _has_one_target(assignor):
        return Protocol.COOPERATIVE
    names = {written: name for name, written in AS_WRITTEN.items()}
    client = assignor.rpartition("/")[2].partition("@")[0]
    return max(supported_protocols(names.get(assignor, client)))


def _has_one_target(assignor: str) -> bool:
    """Whether it makes one assignment, and what moves is revoked before it is given."""
    return assignor == OPTIMUM or assignor.startswith(
        ("kafka-broker/", "java-optimal/", "kip-848")
    )


def course(
    group: Group,
    plan: Plan | None,
    assignor: str,
    *,
    took: Mapping[str, Held | None],
    parted: Mapping[str, Held],
) -> Course:
    """Return what a rebalance took: of an eager assignor, a cooperative one, or one target.

    Towards the optimum and the broker's targets a partition that moves is revoked in one round
    and given in the next, as KIP-429 has it. Rounds count partitions that exist; a listener
    cleans up those that are gone, too.

    Parameters
    ----------
    plan : what came of it; None where no assignment was made
    took : what each member took of it, as `compare.scenarios.course.taken` has it
    parted : what members held that have left since the last one
    """
    given_back = partitions_of(group, parted)
    left = len(given_back)
    if plan is None:
        return Course(revoked=left, stopped=left)
    before, made = Assignment.current(group), plan.assignment
    claimed = before.to_dict()
    held, now = _named(claimed), _named(took)
    cleaned, built = len(held - now), len(now - held)
    had = {
        pair: member
        for member, topics in (*parted.items(), *claimed.items())
        for pair in pairs(topics)
    }
    handed_over = by_pair(
        (had[topic, number], member, topic, number)
        for member, topic, number in sorted(now - held)
        if (topic, number) in had
    )
    with_somebody = partitions_of(group, took)
    if protocol_of(assignor) is Protocol.EAGER:
        read = np.flatnonzero(group.readers[group.topic] > 0)
        owned = np.unique(np.stack(before.holdings), axis=1)
        return Course(
            rounds=1,
            revoked=owned.shape[1] + left,
            stopped=len(given_back | set(owned[1].tolist())),
            ownerless=len(set(read.tolist()) - with_somebody),
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
        ownerless=plan.ownerless + len(set(made.holdings[1].tolist()) - with_somebody),
        handed_over=handed_over,
        cleaned=cleaned,
        built=built,
    )


def _named(of_members: Mapping[str, Held | None]) -> set[tuple[str, str, int]]:
    return {
        (member, topic, number)
        for member, held in of_members.items()
        for topic, number in pairs(held or {})
    }
