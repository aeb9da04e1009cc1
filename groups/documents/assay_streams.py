"""The document ``assay-streams/1``: a snapshot of a Kafka Streams group, decoded by its types.

Source: KIP-1071, the response of StreamsGroupDescribe.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from groups.documents.assay_group import Count, Generation, Name, Names, Natural, Partitions

FORMAT: Final = "assay-streams/1"
Tags = dict[Name, Name]


class Subtopology(Struct, forbid_unknown_fields=True):
    """A part of a topology: a task for each partition of its widest source topic.

    Attributes
    ----------
    tasks : how many tasks it has, numbered from 0
    stateful : whether its tasks keep state; None: not known
    """

    tasks: Count
    stateful: bool | None = None
    source_topics: Names | UnsetType = UNSET
    repartition_source_topics: Names | UnsetType = UNSET
    state_changelog_topics: Names | UnsetType = UNSET


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
    epoch: Generation | UnsetType | None = UNSET
    standby_replicas: Natural | None = None
    rack_aware_tags: Annotated[list[Name], Meta(extra_json_schema={"uniqueItems": True})] = []
    subtopologies: dict[Name, Subtopology]
    members: dict[Name, StreamsMember]
