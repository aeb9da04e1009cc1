"""Claims: what members hold after a rebalance, and so say that they own at the next one."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

    from compare.scenarios.changes import StageDocument
    from groups import Assignment, Group
    from groups.documents.shapes import MemberDocument

# What each member claims.
State = dict[str, "MemberDocument"]


def owning(document: StageDocument, state: State | None) -> StageDocument:
    """Return the document with what each member claims; None: as it is."""
    if state is None:
        return document
    members: dict[str, MemberDocument] = {
        m: {**said, **state.get(m, {})} for m, said in document["members"].items()
    }
    return {**document, "members": members}


def after(group: Group, made: Assignment | None) -> State:
    """Return what each member claims after a rebalance; without an assignment, what it claimed.

    An assignment that is not valid is carried out as members do. A partition that two are given
    is read and claimed by both; one that a member is given twice it claims once; one that does
    not exist is claimed, and nothing is read. A member that is given a topic that it does not
    read takes nothing of the assignment, keeps its claims of before and joins again: the next
    rebalance of the scenario is that one.

    Source: ``ConsumerCoordinator.onJoinComplete`` of Apache Kafka 4.4.0, and kafka-python's
    ``ConsumerCoordinator`` alike. KafkaJS takes the rest of such an assignment; aiokafka
    takes all of it.
    """
    document = group.to_dict()
    held = {} if made is None else made.to_dict()
    generation = int(group.generation.max(initial=-1)) + 1
    found: State = {}
    for member, said in document["members"].items():
        if member not in held or refuses(said["subscription"], held[member]):
            found[member] = {"owned": said["owned"]}
            if "generation" in said:
                found[member]["generation"] = said["generation"]
            continue
        owned = {topic: sorted(set(numbers)) for topic, numbers in held[member].items()}
        found[member] = {"owned": owned, "generation": generation}
    return found


def refuses(reads: Collection[str] | None, given: Collection[str]) -> bool:
    """Say whether a member that reads these topics refuses an assignment with those."""
    return reads is not None and not set(given) <= set(reads)


def parted(group: Group, state: State | None) -> frozenset[int]:
    """Return the partitions of those who held some and are no members any more."""
    index = {topic: i for i, topic in enumerate(group.topics)}
    return frozenset(
        int(group.first[index[topic]]) + number
        for member, said in (state or {}).items()
        if member not in group.members
        for topic, numbers in said["owned"].items()
        if topic in index
        for number in numbers
        if number < group.partitions[index[topic]]
    )
