"""Shapes: the keys of an ``assay-group/1`` document and the types of their values."""

from __future__ import annotations

from typing import NotRequired, Required, TypedDict


class OffsetsDocument(TypedDict, total=False):
    """A partition's log: where it begins and ends, what is committed; None is unknown."""

    beginning: int | None
    end: int | None
    committed: int | None


class TopicDocument(TypedDict):
    """A topic of which more is known than its partition count; a list holds its partitions."""

    partitions: int
    lag: NotRequired[list[int | None]]
    offsets: NotRequired[list[OffsetsDocument]]
    weight: NotRequired[list[int]]
    racks: NotRequired[list[list[str]]]


class MemberDocument(TypedDict, total=False):
    """A member: what it reads and holds, and what else a source says of it."""

    subscription: list[str] | None
    owned: dict[str, list[int]]
    generation: int
    rack: str | None
    instance_id: str | None
    client_id: str | None
    host: str | None
    assignors: list[str] | None
    target: dict[str, list[int]] | None
    epoch: int | None
    subscription_regex: str | None
    capacity: int | None


class CaptureDocument(TypedDict, total=False):
    """What is said of a capture as a whole."""

    captured_at: str | None
    auto_offset_reset: str | None
    assumed: list[str]


class GroupDocument(CaptureDocument):
    """A whole snapshot, as :meth:`groups.Group.to_dict` returns it."""

    format: Required[str]
    group: Required[str]
    topics: Required[dict[str, int | TopicDocument]]
    members: Required[dict[str, MemberDocument]]
