"""Claims: what members hold after a rebalance, and so say that they own at the next one."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from compare.scenarios.changes import StageDocument
    from groups import Assignment, Group
    from groups.documents.assay_group import JsonObject

# Partition numbers by topic.
Held = dict[str, list[int]]
# What each member claims.
State = dict[str, "JsonObject"]


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


def parted(group: Group, state: State | None) -> frozenset[int]:
    """Return the partitions of those who held some and are no members any more."""
    left = {m: said["owned"] for m, said in (state or {}).items() if m not in group.members}
    return frozenset(partitions_of(group, left))


def partitions_of(group: Group, held: Mapping[str, Held | None]) -> set[int]:
    """Return the partitions that exist of those that some hold, by topic and number."""
    at = {t: (int(group.first[i]), int(group.partitions[i])) for i, t in enumerate(group.topics)}
    return {
        at[topic][0] + number
        for of_one in held.values()
        for topic, numbers in (of_one or {}).items()
        if topic in at
        for number in numbers
        if number < at[topic][1]
    }
