"""Active tasks: the consumer group that those of a Kafka Streams group are."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from groups.columns.racks import Racks
from groups.documents import assay_group
from groups.documents.fields import refuse
from groups.group import Group

if TYPE_CHECKING:
    from groups.documents.assay_streams import StreamsDocument


def group_of(document: StreamsDocument) -> Group:
    """Return the consumer group of the active tasks: a subtopology is a topic, a task a partition.

    Every member reads all, its host is its process, and it owns its active tasks. Copies of the
    state of a task lie where somebody has it as an active, standby or warm-up task.

    Raises
    ------
    BadInput
        Where a member has a task that does not exist; the message names the place.
    """
    holders = _holders(document)
    topics = {name: one.tasks for name, one in document.subtopologies.items()}
    members = {
        name: assay_group.Member(
            subscription=[*topics],
            owned=member.tasks.active,
            host=member.process,
            rack=member.rack,
            client_id=member.client_id,
            instance_id=member.instance_id,
            epoch=member.epoch,
        )
        for name, member in document.members.items()
    }
    plain = assay_group.Document(
        format=assay_group.FORMAT,
        group=document.group,
        captured_at=document.captured_at,
        topics={**topics},
        members=members,
    )
    group = Group.of_document(plain)
    stateful = {name: one.stateful for name, one in document.subtopologies.items()}
    if None in stateful.values():
        return group
    copies = [
        sorted(holders.get((topic, number), ())) if stateful[topic] else None
        for topic, count in zip(group.topics, group.partitions.tolist(), strict=True)
        for number in range(count)
    ]
    return replace(group, copies=Racks.of([one.host for one in group.details], copies))


def _holders(document: StreamsDocument) -> dict[tuple[str, int], set[str]]:
    """Return the processes that have a copy of each task, by subtopology and number."""
    found: dict[tuple[str, int], set[str]] = {}
    for name, member in document.members.items():
        for kind in ("active", "standby", "warmup"):
            for subtopology, numbers in getattr(member.tasks, kind).items():
                place = f"members.{name}.tasks.{kind}.{subtopology}"
                if subtopology not in document.subtopologies:
                    refuse(place, "no such subtopology")
                tasks = document.subtopologies[subtopology].tasks
                for number in numbers:
                    if number >= tasks:
                        refuse(place, f"task {number}, but {subtopology} has {tasks}")
                    found.setdefault((subtopology, number), set()).add(member.process)
    return found
