"""The document ``assay-group/1``: what it holds, decoded and checked by its types.

The JSON Schema is made of these types, too. What they cannot say (lists as long as a topic has
partitions, names without repeats) is checked where a document becomes columns (`snapshot`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final, Literal, TypeVar

from msgspec import (
    UNSET,
    Meta,
    MsgspecError,
    Struct,
    UnsetType,
    ValidationError,
    convert,
    to_builtins,
)
from msgspec import inspect as kinds
from msgspec.json import Decoder, encode, schema_components

from groups.arrays import GREATEST, MOST_PARTITIONS, NO_GENERATION
from groups.documents.fields import listed, name, refuse, shown
from groups.documents.json_files import RepeatedKeys, parse_json
from groups.errors import BadInput

T = TypeVar("T")
# What a document is in JSON; the types below say its keys.
JsonObject = dict[str, Any]
FORMAT: Final = "assay-group/1"
_UNIQUE = Meta(extra_json_schema={"uniqueItems": True})
Name = Annotated[str, Meta(min_length=1)]
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
    auto_offset_reset: Name | UnsetType | None = UNSET
    assumed: list[Name] | UnsetType = UNSET
    topics: dict[Name, Count | Topic]
    members: dict[Name, Member]


_DECODER = Decoder(Document)


def of_text(text: str | bytes) -> Document:
    """Return the document of a JSON text; bytes are UTF-8.

    Raises
    ------
    BadInput
        Where the text is not JSON, or a rule of the format is broken; the message names the place.
    """
    try:
        document = _DECODER.decode(text)
        # Of a key that appears twice the decoder keeps one without a word.
        if _quotes(text if isinstance(text, bytes) else text.encode()) == _quotes(
            encode(document)
        ):
            return document
    except (MsgspecError, UnicodeError, RecursionError):
        pass
    if isinstance(text, bytes):
        try:
            text = text.decode()
        except UnicodeDecodeError as error:
            raise BadInput(f"byte {error.start}: not UTF-8 text") from None
    return of_mapping(parse_json(text))


def of_mapping(document: object) -> Document:
    """Return the document that dicts and lists hold.

    Raises
    ------
    BadInput
        Where a rule of the format is broken; the message names the place.
    """
    try:
        found = convert(document, Document)
        _require_single_keys(document, "")
        encode(found)
    except ValidationError as error:
        _refuse(document)
        raise BadInput(str(error)) from None
    except (UnicodeEncodeError, TypeError):
        # Texts of a type of their own are not encoded, and may be good.
        _refuse(document)
    return found


def as_json(document: Document) -> JsonObject:
    """Return a document as dicts and lists; what it does not say has no key."""
    found: JsonObject = to_builtins(document)
    return found


def told(value: T | UnsetType | None) -> T | None:
    """Return what a document says, None where it says nothing."""
    return None if value is UNSET else value


def without_repeats(names: Sequence[str], place: str) -> Sequence[str]:
    """Return some names, of which none appears twice.

    Raises
    ------
    BadInput
        Where one does.
    """
    if len(set(names)) < len(names):
        refuse(place, f"{next(n for n in names if names.count(n) > 1)!r} appears twice")
    return names


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of the format."""
    (_,), parts = schema_components([Document], ref_template="#/$defs/{name}")
    parts["Topic"]["not"] = {"required": ["lag", "offsets"]}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:kafka-assay:assay-group:1",
        **parts.pop("Document"),
        "title": FORMAT,
        "$defs": parts,
    }


def _quotes(text: bytes) -> int:
    r"""Count the quotes around strings; -1 of what is escaped where ``\\`` is."""
    if b"\\" not in text:
        return text.count(b'"')
    return -1 if b"\\\\" in text else text.count(b'"') - text.count(b'\\"')


def _refuse(document: Any) -> None:
    """Raise BadInput for the first thing that is wrong with a document, if there is one."""
    if isinstance(document, Mapping):
        _require_single_keys(document, "")
        if document.get("format", FORMAT) != FORMAT:
            refuse("format", f"{document['format']!r}, expected {FORMAT!r}")
    _require(document, kinds.type_info(Document), "")


def _require(value: Any, kind: kinds.Type, place: str) -> None:
    """Raise BadInput for the first part of a value, in its order, that is not of its type."""
    options = kind.types if isinstance(kind, kinds.UnionType) else (kind,)
    if value is None and isinstance(options[-1], kinds.NoneType):
        return
    kind = options[0].type if isinstance(options[0], kinds.Metadata) else options[0]
    if isinstance(options[-1], kinds.StructType) and len(options) > 1:
        if type(value) is not int and not isinstance(value, Mapping):
            refuse(place, f"{shown(value)}, expected a partition count or an object")
        kind = options[isinstance(value, Mapping)]
    match kind:
        case kinds.IntType():
            _require_integer(value, kind, place)
        case kinds.StrType():
            name(value, place)
        case kinds.ListType(item_type=item):
            for at, inner in enumerate(listed(value, place)):
                _require(inner, item, f"{place}[{at}]")
        case kinds.DictType() | kinds.StructType():
            _require_parts(value, kind, place)


def _require_integer(value: Any, kind: kinds.IntType, place: str) -> None:
    if type(value) is not int:
        refuse(place, f"{shown(value)}, expected an integer")
    if kind.ge is not None and value < kind.ge:
        refuse(place, f"{shown(value)}, expected an integer of {kind.ge} or more")
    if value > GREATEST:
        refuse(place, f"{shown(value)} leaves 64 bits")
    if kind.le is not None and value > kind.le:
        refuse(place, f"{value} partitions, more than are supported")


def _require_parts(value: Any, kind: kinds.DictType | kinds.StructType, place: str) -> None:
    if not isinstance(value, Mapping):
        refuse(place, f"{shown(value)}, expected an object")
    fields = kind.fields if isinstance(kind, kinds.StructType) else ()
    types = {field.name: field.type for field in fields}
    for key, inner in value.items():
        if key != "" or not fields:
            name(key, place)
        if fields and key not in types:
            refuse(place, f"unknown key {key!r}")
        of_value = kind.value_type if isinstance(kind, kinds.DictType) else types[key]
        _require(inner, of_value, f"{place}.{key}".lstrip("."))
    for field in fields:
        if field.required and field.name not in value:
            refuse(place, f"key {field.name!r} is missing")


def _require_single_keys(value: object, place: str) -> None:
    """Raise BadInput where an object of a JSON text named a key twice."""
    if isinstance(value, RepeatedKeys):
        refuse(place, f"key {value.repeated!r} appears twice")
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if isinstance(inner, (Mapping, list)):
                _require_single_keys(inner, f"{place}.{key}".lstrip("."))
    elif isinstance(value, list) and value and isinstance(value[0], Mapping):
        for at, inner in enumerate(value):
            _require_single_keys(inner, f"{place}[{at}]")
