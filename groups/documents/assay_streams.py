"""The document ``assay-streams/1``: a snapshot of a Kafka Streams group, decoded by its types.

Source: KIP-1071, the response of StreamsGroupDescribe.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Annotated, Final, Literal

from msgspec import UNSET, Meta, Struct, UnsetType
from msgspec.structs import replace

from groups.columns.places import host_of_client
from groups.columns.racks import Racks
from groups.documents import assay_group
from groups.documents.assay_group import (
    Count,
    Document,
    Generation,
    Member,
    Name,
    Names,
    Natural,
    Partitions,
    Topic,
    or_none,
    pairs,
)
from groups.documents.decoding import Format
from groups.documents.fields import refuse
from groups.wording import CLASSIC_STREAMS, counted, listed

FORMAT: Final = "assay-streams/1"
Tags = dict[Name, Name]


class Subtopology(Struct, forbid_unknown_fields=True):
    """A part of a topology: a task for each partition of its widest source topic.

    Attributes
    ----------
    tasks : how many tasks it has, numbered from 0
    stateful : whether its tasks keep state; None: not known
    lag : records that each task is behind, over all its source topics
    """

    tasks: Count
    stateful: bool | None = None
    source_topics: Names | UnsetType = UNSET
    repartition_source_topics: Names | UnsetType = UNSET
    state_changelog_topics: Names | UnsetType = UNSET
    lag: list[Natural | None] | UnsetType = UNSET


class Tasks(Struct, forbid_unknown_fields=True):
    """Tasks of a member, each a list of task numbers by subtopology."""

    active: Partitions = {}
    standby: Partitions = {}
    warmup: Partitions = {}


class StreamsMember(Struct, forbid_unknown_fields=True, kw_only=True):
    """A member: one thread of a process; threads of a process share its state directory."""

    process: Name
    tasks: Tasks
    target: Tasks | UnsetType | None = UNSET
    epoch: Generation | UnsetType | None = UNSET
    topology_epoch: Generation | UnsetType | None = UNSET
    instance_id: Name | UnsetType | None = UNSET
    rack: Name | UnsetType | None = UNSET
    client_id: Name | UnsetType | None = UNSET
    host: Name | UnsetType | None = UNSET
    tags: Tags | UnsetType = UNSET


def held(member: StreamsMember) -> Tasks:
    """Return the tasks from which the broker's assignor starts: the target, if it is known."""
    return member.target if isinstance(member.target, Tasks) else member.tasks


class StreamsDocument(Struct, forbid_unknown_fields=True, kw_only=True):
    """A snapshot of a Kafka Streams group.

    Attributes
    ----------
    standby_replicas : ``num.standby.replicas`` of the group; None: not known
    rack_aware_tags : the tags over which standbys are spread
    """

    format: Literal["assay-streams/1"]
    group: Name
    captured_at: Name | UnsetType | None = UNSET
    assumed: list[Name] | UnsetType = UNSET
    epoch: Generation | UnsetType | None = UNSET
    standby_replicas: Natural | None = None
    rack_aware_tags: Annotated[list[Name], Meta(extra_json_schema={"uniqueItems": True})] = []
    subtopologies: dict[Name, Subtopology]
    members: dict[Name, StreamsMember]

    def consumer_group(self) -> Document:
        """Return the active tasks as a consumer group, so that they can be judged as one.

        A subtopology becomes a topic that every member reads, a task a partition, and a process
        a host.

        Raises
        ------
        BadInput
            If a member has a task that does not exist, or has one twice.
        """
        self._require_tasks()
        return Document(
            format=assay_group.FORMAT,
            group=self.group,
            captured_at=self.captured_at,
            assumed=self.assumed,
            topics={
                name: one.tasks if one.lag is UNSET else Topic(one.tasks, lag=one.lag)
                for name, one in self.subtopologies.items()
            },
            members={
                name: Member(
                    subscription=list(self.subtopologies),
                    owned=one.tasks.active,
                    target=one.target.active if isinstance(one.target, Tasks) else UNSET,
                    host=one.process,
                    instance_id=one.instance_id,
                    rack=one.rack,
                    client_id=one.client_id,
                    epoch=one.epoch,
                )
                for name, one in self.members.items()
            },
        )

    def with_state(
        self, stateful: Collection[str] | None, standby_replicas: int | None
    ) -> StreamsDocument:
        """Return the group in which exactly these subtopologies keep state; None: as before.

        Raises
        ------
        BadInput
            If there is no such subtopology.
        """
        for name in stateful or ():
            if name not in self.subtopologies:
                refuse(
                    self.group, f"no subtopology {name!r}, it has {listed([*self.subtopologies])}"
                )
        kept = {
            name: one if stateful is None else replace(one, stateful=name in stateful)
            for name, one in self.subtopologies.items()
        }
        replicas = self.standby_replicas if standby_replicas is None else standby_replicas
        return replace(self, subtopologies=kept, standby_replicas=replicas)

    def copies(self) -> Racks | None:
        """Return the processes that have a copy of each task's state, none for stateless tasks.

        An active, standby or warm-up task is a copy. Members and subtopologies are in ascending
        order of their names. None if it is not known which subtopologies are stateful.
        """
        holders: dict[tuple[str, int], set[str]] = {}
        for member in self.members.values():
            for role in member.tasks.__struct_fields__:
                for task in pairs(getattr(member.tasks, role)):
                    holders.setdefault(task, set()).add(member.process)
        if any(one.stateful is None for one in self.subtopologies.values()):
            return None
        copies = [
            sorted(holders.get((name, number), ())) if one.stateful else None
            for name, one in sorted(self.subtopologies.items())
            for number in range(one.tasks)
        ]
        return Racks.of([one.process for _, one in sorted(self.members.items())], copies)

    def _require_tasks(self) -> None:
        for name, one in self.subtopologies.items():
            if one.lag is not UNSET and len(one.lag) != one.tasks:
                has = f"{name} has {counted(one.tasks, 'task')}"
                refuse(f"subtopologies.{name}.lag", f"{counted(len(one.lag), 'value')}, but {has}")
        for name, member in self.members.items():
            for key, tasks in (
                ("tasks", member.tasks),
                ("target", or_none(member.target) or Tasks()),
            ):
                for role in tasks.__struct_fields__:
                    place = f"members.{name}.{key}.{role}"
                    for topology, numbers in getattr(tasks, role).items():
                        if topology not in self.subtopologies:
                            refuse(place, f"there is no subtopology {topology!r}")
                        count = self.subtopologies[topology].tasks
                        if beyond := [number for number in numbers if number >= count]:
                            has = f"{topology} has {counted(count, 'task')}"
                            refuse(f"{place}.{topology}", f"task {beyond[0]}, but {has}")
                        if len(set(numbers)) < len(numbers):
                            refuse(f"{place}.{topology}", "a task appears twice")


_FORMAT = Format(FORMAT, StreamsDocument)
_SAYS_FORMAT = re.compile(rb'"format"\s*:\s*"assay-(streams|group)/')
json_schema = _FORMAT.json_schema


def of_text(text: str | bytes) -> Document | StreamsDocument:
    """Return the document of a JSON text in either format of snapshots.

    Raises
    ------
    BadInput
        If the text is not JSON, or a rule of its format is broken; the message names the place.
    """
    found = _SAYS_FORMAT.search(text if isinstance(text, bytes) else text.encode(errors="replace"))
    streams = found is not None and found[1] == b"streams"
    return _FORMAT.of_text(text) if streams else assay_group.of_text(text)


def of_mapping(document: object) -> Document | StreamsDocument:
    """Return the document of nested dicts and lists in either format of snapshots.

    Raises
    ------
    BadInput
        If a rule of its format is broken; the message names the place.
    """
    streams = isinstance(document, Mapping) and document.get("format") == FORMAT
    return _FORMAT.of_mapping(document) if streams else assay_group.of_mapping(document)


def with_processes(document: Document) -> Document:
    """Return a document in which the hosts of a classic Kafka Streams application are processes.

    Its members are threads, as their client ids show: ``app-StreamThread-1-consumer``. `assumed`
    says what is unknown, since it is only in the user data of their subscriptions.
    """
    called = {name: or_none(one.client_id) or name for name, one in document.members.items()}
    listed = [or_none(one.assignors) for one in document.members.values()]
    threads = any("-StreamThread-" in client_id for client_id in called.values())
    if not threads and ["stream"] not in listed:
        return document
    line = (
        f"{CLASSIC_STREAMS}: hosts are its processes, by client id; which partitions make a task, "
        "standbys, and which tasks keep state are not known"
    )
    members = {
        name: replace(one, host=host_of_client(called[name]))
        for name, one in document.members.items()
    }
    return replace(document, members=members, assumed=[*(or_none(document.assumed) or ()), line])
