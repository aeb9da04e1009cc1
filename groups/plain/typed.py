"""Typed documents: what most snapshots look like, decoded and checked in one pass.

A snapshot that is anything else is None here. It is then read key by key (`snapshot`), which finds
words for what is wrong with it.
"""

from __future__ import annotations

import marshal
from typing import TYPE_CHECKING, Annotated, Any, Literal

from msgspec import UNSET, Meta, MsgspecError, Struct, UnsetType, convert
from msgspec.json import Decoder
from msgspec.structs import astuple

from groups.arrays import GREATEST, MOST_PARTITIONS, NO_GENERATION

if TYPE_CHECKING:
    from collections.abc import Mapping

Name = Annotated[str, Meta(min_length=1)]
Count = Annotated[int, Meta(ge=0, le=MOST_PARTITIONS)]
Natural = Annotated[int, Meta(ge=0, le=GREATEST)]
Born = Annotated[int, Meta(ge=NO_GENERATION, le=GREATEST)]
Rate = Annotated[int, Meta(ge=1, le=GREATEST)]
_PLAIN = {list, tuple, type(None)}


class Unusual(Exception):
    """A snapshot is not plain: whether it is good, and what is wrong, has to be found out."""


class TypedOffsets(Struct, forbid_unknown_fields=True, gc=False):
    """The log of a partition."""

    beginning: Natural | UnsetType | None = UNSET
    end: Natural | UnsetType | None = UNSET
    committed: Natural | UnsetType | None = UNSET


class TypedTopic(Struct, forbid_unknown_fields=True):
    """A topic of which more is known than its partition count."""

    partitions: Count
    lag: list[Natural | None] | UnsetType = UNSET
    weight: list[Natural] | UnsetType = UNSET
    offsets: list[TypedOffsets] | UnsetType = UNSET


class TypedMember(Struct, forbid_unknown_fields=True):
    """A member: what it reads and holds, and what else a source says of it."""

    subscription: list[Name] | UnsetType | None = UNSET
    owned: dict[Name, list[Natural]] | UnsetType = UNSET
    generation: Born | UnsetType | None = UNSET
    instance_id: Name | UnsetType | None = UNSET
    client_id: Name | UnsetType | None = UNSET
    host: Name | UnsetType | None = UNSET
    assignors: list[Name] | UnsetType | None = UNSET
    capacity: Rate | UnsetType | None = UNSET
    epoch: Born | UnsetType | None = UNSET
    subscription_regex: Name | UnsetType | None = UNSET


class TypedDocument(Struct, forbid_unknown_fields=True):
    """A snapshot whose keys are known and whose values are of the right kinds."""

    format: Literal["assay-group/1"]
    group: Name
    topics: dict[Name, Count | TypedTopic]
    members: dict[Name, TypedMember]
    captured_at: Name | UnsetType | None = UNSET
    auto_offset_reset: Name | UnsetType | None = UNSET
    assumed: list[Name] | UnsetType = UNSET


_DECODER = Decoder(TypedDocument)
_MEMBER_KEYS = len(TypedMember.__struct_fields__)


def typed(text: str | bytes) -> TypedDocument | None:
    """Return the snapshot of a JSON text, None where anything is unusual about it.

    Of a key that appears twice the decoder keeps one without a word. So the strings of the text
    are counted, by their quotes, and those that were kept: each key is one.
    """
    try:
        document = _DECODER.decode(text)
    except (MsgspecError, UnicodeError, RecursionError):
        return None
    quotes = _quotes(text) if isinstance(text, bytes) else _quotes(text.encode())
    return document if quotes == 2 * _strings(document) else None


def of_mapping(document: Mapping[str, object]) -> TypedDocument | None:
    """Return the snapshot of a document in Python, None where anything is unusual about it."""
    try:
        found = convert(document, TypedDocument)
        # It refuses all but the plain types themselves: a subclass may be more than it seems.
        marshal.dumps(document)  # type: ignore[arg-type]
    except (MsgspecError, UnicodeError, RecursionError, ValueError):
        return None
    return found if _only_lists(document) else None


def _quotes(text: bytes) -> int:
    """Count the quotes around strings; -1 where that takes more than counting."""
    if b"\\" not in text:
        return text.count(b'"')
    if b"\\\\" in text:
        return -1
    return text.count(b'"') - text.count(b'\\"')


def _strings(document: TypedDocument) -> int:
    """Count the strings that a document keeps, keys and values."""
    # The keys "format", "group", "topics" and "members", and the values of two of them.
    found = 6 + len(document.topics) + len(document.members)
    for time in (document.captured_at, document.auto_offset_reset):
        found += 0 if time is UNSET else 1 if time is None else 2
    if document.assumed is not UNSET:
        found += 1 + len(document.assumed)
    for topic in document.topics.values():
        if type(topic) is TypedTopic:
            found += 4 - astuple(topic).count(UNSET)
            if topic.offsets is not UNSET:
                found += sum(3 - astuple(one).count(UNSET) for one in topic.offsets)
    for member in document.members.values():
        values = astuple(member)
        subscription, owned, _, instance_id, client_id, host, assignors, _, _, regex = values
        found += _MEMBER_KEYS - values.count(UNSET)
        if subscription:
            found += len(subscription)
        if owned:
            found += len(owned)
        if assignors:
            found += len(assignors)
        found += type(instance_id) is str
        found += type(client_id) is str
        found += type(host) is str
        found += type(regex) is str
    return found


def _only_lists(document: Any) -> bool:
    """Say whether whatever was converted to a list was one, or a tuple, and no set."""
    given: list[object] = [document.get("assumed")]
    for topic in document["topics"].values():
        if type(topic) is dict:
            given += (topic[key] for key in topic if key != "partitions")
    for member in document["members"].values():
        given.append(member.get("subscription"))
        given.append(member.get("assignors"))
        given += member.get("owned", {}).values()
    return _PLAIN.issuperset(map(type, given))
