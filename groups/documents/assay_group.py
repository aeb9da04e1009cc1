"""The document ``assay-group/1``: what it holds, decoded and checked by its types.

The JSON Schema is made of these types, too. What they cannot say (lists as long as a topic has
partitions, names without repeats) is checked where a document becomes columns (`snapshot`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Annotated, Any, Final, Literal, NoReturn, TypeVar

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
from msgspec.json import Decoder, encode, schema_components

from groups.arrays import GREATEST, MOST_PARTITIONS, NO_GENERATION
from groups.documents.fields import name, refuse, shown
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
_MESSAGE = re.compile(r"(.*?)(?: - at (`key` in )?`\$((?:\.\w+|\[(?:\d+|\.\.\.)\])*)`)?", re.S)
_EXPECTED = {
    "int": "an integer",
    "int | object": "a partition count or an object",
    "object": "an object",
    "array": "a list",
    "str": "a non-empty string",
}


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
        _refuse(document, error)
    except (UnicodeEncodeError, TypeError):
        # Texts of a type of their own are not encoded, and may be good.
        _require_unicode(document, "")
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


def _refuse(document: Any, error: ValidationError) -> NoReturn:
    """Raise BadInput with the place of an error, what came and what was expected."""
    if isinstance(document, Mapping):
        _require_single_keys(document, "")
        if document.get("format", FORMAT) != FORMAT:
            refuse("format", f"{document['format']!r}, expected {FORMAT!r}")
        # Of an object within, the message ends with its place: here a name may look like one.
        for key in document:
            if key not in Document.__struct_fields__:
                refuse("", f"unknown key {key!r}")
    found = _MESSAGE.fullmatch(str(error))
    assert found is not None
    what, of_key, path = found.groups()
    place, value = "", document
    keys: list[str] = []
    for key, at in re.findall(r"\.(\w+)|\[(\d+|\.\.\.)\]", path or ""):
        if at.isdigit():
            place, value = f"{place}[{at}]", list(value)[int(at)]
            continue
        if at:
            # The message does not tell which of the names it is.
            key = _first_refused(document, keys, str(error))
            document = _with(document, keys, {key: value[key]})
        keys.append(key)
        place, value = f"{place}.{key}".lstrip("."), value[key]
    if of_key:
        value = _first_refused(document, keys, str(error))
    refuse(place, _words(what, value))


def _words(what: str, value: Any) -> str:
    if found := re.fullmatch(r"Object contains unknown field `(.*)`", what, re.S):
        return f"unknown key {found[1]!r}"
    if found := re.fullmatch(r"Object missing required field `(.*)`", what):
        return f"key {found[1]!r} is missing"
    if found := re.fullmatch(r"Expected `int` >= (-?\d+)", what):
        return f"{shown(value)}, expected an integer of {found[1]} or more"
    if what.startswith("Expected `int` <="):
        if value > GREATEST:
            return f"{shown(value)} leaves 64 bits"
        return f"{value} partitions, more than are supported"
    kind = what.split("`")[1].removesuffix(" | null")
    return f"{shown(value)}, expected {_EXPECTED.get(kind, kind)}"


def _first_refused(document: Any, keys: list[str], message: str) -> Any:
    """Return the first name in the object at some keys for which this message is raised."""
    value = document
    for key in keys:
        value = value[key]
    low, high = 0, len(value)
    while high - low > 1:
        half = (low + high) // 2
        some = dict(islice(value.items(), low, half))
        low, high = (low, half) if _says(_with(document, keys, some), message) else (half, high)
    return next(islice(value, low, None))


def _with(document: Any, keys: list[str], value: object) -> Any:
    """Return the document with another value at some keys."""
    return {**document, keys[0]: _with(document[keys[0]], keys[1:], value)} if keys else value


def _says(document: object, message: str) -> bool:
    try:
        convert(document, Document)
    except ValidationError as error:
        return str(error) == message
    except UnicodeEncodeError:
        # It is about another part, which the message would show.
        return False
    return False


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


def _require_unicode(value: object, place: str) -> None:
    if isinstance(value, str):
        name(value, place)
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            name(key, place)
            _require_unicode(inner, f"{place}.{key}".lstrip("."))
    elif isinstance(value, (list, tuple)):
        for at, inner in enumerate(value):
            _require_unicode(inner, f"{place}[{at}]")
