"""Decoding: a document by the types of its format, or an error that names the place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Generic, TypeVar

from msgspec import MsgspecError, Struct, ValidationError, convert
from msgspec import inspect as kinds
from msgspec.json import Decoder, encode, schema_components

from groups.documents.fields import integer, listed, name, refuse, shown
from groups.documents.json_files import RepeatedKeys, parse_json
from groups.errors import BadInput

S = TypeVar("S", bound=Struct)


class Format(Generic[S]):
    """A format: its name, such as ``assay-group/1``, and the type of its documents."""

    def __init__(self, called: str, kind: type[S]) -> None:
        self._called, self._kind = called, kind
        self._decoder = Decoder(kind)

    def of_text(self, text: str | bytes) -> S:
        """Return the document of a JSON text; bytes are UTF-8.

        Raises
        ------
        BadInput
            If the text is not JSON, or a rule of the format is broken; the message names the
            place.
        """
        try:
            document = self._decoder.decode(text)
            # If a key appears twice, the decoder silently keeps one; then the quotes differ.
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
        return self.of_mapping(parse_json(text))

    def of_mapping(self, document: object) -> S:
        """Return the document of nested dicts and lists.

        Raises
        ------
        BadInput
            If a rule of the format is broken; the message names the place.
        """
        try:
            _require_single_keys(document, "")
            found = convert(document, self._kind)
            encode(found)
        except (ValidationError, UnicodeEncodeError) as error:
            self._refuse(document)
            raise BadInput(str(error)) from None
        except TypeError:
            # Subclasses of str cannot be encoded, but may be valid.
            self._refuse(document)
        return found

    def json_schema(self) -> dict[str, Any]:
        """Return the JSON Schema of the format."""
        (_,), parts = schema_components([self._kind], ref_template="#/$defs/{name}")
        return {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "$id": f"urn:kafka-assay:{self._called.replace('/', ':')}",
            **parts.pop(self._kind.__name__),
            "title": self._called,
            "$defs": parts,
        }

    def _refuse(self, document: Any) -> None:
        """Raise BadInput for the first error in a document, if there is one."""
        if isinstance(document, Mapping) and document.get("format", self._called) != self._called:
            refuse("format", f"{document['format']!r}, expected {self._called!r}")
        _require(document, kinds.type_info(self._kind), "")


def _quotes(text: bytes) -> int:
    r"""Count the quotes around strings; -1 if there are escaped backslashes, ``\\``."""
    if b"\\" not in text:
        return text.count(b'"')
    return -1 if b"\\\\" in text else text.count(b'"') - text.count(b'\\"')


def _require(value: Any, kind: kinds.Type, place: str) -> None:
    """Raise BadInput for the first part of a value that is not of its type."""
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
            integer(value, place, least=kind.ge or 0)
            if kind.le is not None and value > kind.le:
                refuse(place, f"{value} partitions, more than are supported")
        case kinds.BoolType():
            if type(value) is not bool:
                refuse(place, f"{shown(value)}, expected true or false")
        case kinds.StrType():
            name(value, place)
        case kinds.ListType(item_type=item):
            for at, inner in enumerate(listed(value, place)):
                _require(inner, item, f"{place}[{at}]")
        case kinds.DictType() | kinds.StructType():
            _require_parts(value, kind, place)


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
    """Raise BadInput if an object of a JSON text named a key twice."""
    if isinstance(value, RepeatedKeys):
        refuse(place, f"key {value.repeated!r} appears twice")
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if isinstance(inner, (Mapping, list)):
                _require_single_keys(inner, f"{place}.{key}".lstrip("."))
    elif isinstance(value, list) and value and isinstance(value[0], Mapping):
        for at, inner in enumerate(value):
            _require_single_keys(inner, f"{place}[{at}]")
