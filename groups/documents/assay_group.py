"""The document ``assay-group/1`` as types, which decode and check it.

The JSON Schema is made from these types, too. Rules that types cannot express (lists as long as
a topic has partitions, names without repeats) are checked when a document becomes columns
(`snapshots`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, TypeVar

from msgspec import UNSET, Meta, Struct, UnsetType, to_builtins

from groups.arrays import GREATEST, MOST_PARTITIONS, NO_GENERATION
from groups.columns.offsets import RESETS
from groups.documents.decoding import Format

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

T = TypeVar("T")
# A document in JSON; the types below define its keys.
JsonObject = dict[str, Any]
FORMAT: Final = "assay-group/1"
_UNIQUE = Meta(extra_json_schema={"uniqueItems": True})
Name = Annotated[str, Meta(min_length=1)]
Reset = Annotated[str, Meta(extra_json_schema={"pattern": RESETS})]
Names = Annotated[list[Name], _UNIQUE]
Count = Annotated[int, Meta(ge=0, le=MOST_PARTITIONS)]
Natural = Annotated[int, Meta(ge=0, le=GREATEST)]
Generation = Annotated[int, Meta(ge=NO_GENERATION, le=GREATEST)]
Rate = Annotated[int, Meta(ge=1, le=GREATEST)]
Partitions = dict[Name, Annotated[list[Natural], _UNIQUE]]


class Log(Struct, forbid_unknown_fields=True, gc=False):
    """The log of a partition: where it begins and ends, what is committed."""

    beginning: Natural | UnsetType | None = UNSET
    end: Natural | UnsetType | None = UNSET
    committed: Natural | UnsetType | None = UNSET


class Topic(Struct, forbid_unknown_fields=True):
    """A topic of which more is known than its partition count; a list holds its partitions."""

    partitions: Count
    lag: list[Natural | None] | UnsetType = UNSET
    offsets: list[Log] | UnsetType = UNSET
    weight: list[Natural] | UnsetType = UNSET
    racks: list[Names] | UnsetType = UNSET


class Member(Struct, forbid_unknown_fields=True):
    """A member: what it reads and holds, and what else a source says of it."""

    subscription: Names | UnsetType | None = UNSET
    owned: Partitions | UnsetType = UNSET
    generation: Generation | UnsetType | None = UNSET
    rack: Name | UnsetType | None = UNSET
    instance_id: Name | UnsetType | None = UNSET
    client_id: Name | UnsetType | None = UNSET
    host: Name | UnsetType | None = UNSET
    assignors: Names | UnsetType | None = UNSET
    capacity: Rate | UnsetType | None = UNSET
    epoch: Generation | UnsetType | None = UNSET
    target: Partitions | UnsetType | None = UNSET
    subscription_regex: Name | UnsetType | None = UNSET


class Document(Struct, forbid_unknown_fields=True, kw_only=True):
    """A snapshot of one Kafka consumer group."""

    format: Literal["assay-group/1"]
    group: Name
    captured_at: Name | UnsetType | None = UNSET
    auto_offset_reset: Reset | UnsetType | None = UNSET
    assumed: list[Name] | UnsetType = UNSET
    topics: dict[Name, Count | Topic]
    members: dict[Name, Member]


_FORMAT = Format(FORMAT, Document)
of_text = _FORMAT.of_text
of_mapping = _FORMAT.of_mapping


def as_json(document: Struct) -> JsonObject:
    """Return a document as dicts and lists; unset fields have no key."""
    found: JsonObject = to_builtins(document)
    return found


def pairs(held: Mapping[str, Iterable[int]]) -> list[tuple[str, int]]:
    """Return the (topic, partition number) pairs of ``{topic: [partition, ...]}``."""
    return [(topic, number) for topic, numbers in held.items() for number in numbers]


def or_none(value: T | UnsetType | None) -> T | None:
    """Return the value of a document's field, None if it is unset."""
    return None if value is UNSET else value


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of the format."""
    found = _FORMAT.json_schema()
    found["$defs"]["Topic"]["not"] = {"required": ["lag", "offsets"]}
    return found
