"""Fields of a JSON document: each function returns the value, or raises BadInput at its place."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, NoReturn

from groups.arrays import GREATEST
from groups.documents.json_files import RepeatedKeys
from groups.errors import BadInput
from groups.wording import digits

if TYPE_CHECKING:
    from collections.abc import Sequence


def refuse(place: str, what: str) -> NoReturn:
    """Raise BadInput at a place."""
    raise BadInput(f"{place}: {what}" if place else what)


def mapping(
    value: object, place: str, *, allowed: set[str] | None = None, required: tuple[str, ...] = ()
) -> Mapping[str, object]:
    """Return an object that has only `allowed` keys, and all `required` ones."""
    if not isinstance(value, Mapping):
        refuse(place, f"{shown(value)}, expected an object")
    if isinstance(value, RepeatedKeys):
        refuse(place, f"key {value.repeated!r} appears twice")
    for key in value:
        if not isinstance(key, str):
            refuse(place, f"key {key!r} is not a string")
        if allowed is not None and key not in allowed:
            refuse(place, f"unknown key {key!r}")
    for key in required:
        if key not in value:
            refuse(place, f"key {key!r} is missing")
    return value


def name(value: object, place: str) -> str:
    """Return a non-empty string of valid Unicode."""
    if not isinstance(value, str) or not value:
        refuse(place, f"{shown(value)}, expected a non-empty string")
    try:
        value.encode()
    except UnicodeEncodeError:
        refuse(place, f"{value!r} is not valid Unicode")
    return value


def integer(value: object, place: str, *, least: int = 0) -> int:
    """Return an integer of at least `least` within 64 bits; a boolean is refused."""
    if type(value) is not int or value < least:
        refuse(place, f"{shown(value)}, expected an integer of {least} or more")
    if value > GREATEST:
        refuse(place, f"{shown(value)} leaves 64 bits")
    return value


def listed(value: object, place: str) -> list[object]:
    """Return a list."""
    if not isinstance(value, (list, tuple)):
        refuse(place, f"{shown(value)}, expected a list")
    return list(value)


def integers(value: object, place: str) -> list[int]:
    """Return a list of integers of 0 or more that fit 64 bits."""
    return [integer(v, f"{place}[{i}]") for i, v in enumerate(listed(value, place))]


def strings(value: object, place: str, *, repeats: bool = False) -> tuple[str, ...]:
    """Return a list of names, without repeats unless `repeats`."""
    found = tuple(name(v, f"{place}[{i}]") for i, v in enumerate(listed(value, place)))
    return found if repeats else tuple(without_repeats(found, place))


def without_repeats(names: Sequence[str], place: str) -> Sequence[str]:
    """Return the names; refuse a name that appears twice."""
    if len(set(names)) < len(names):
        refuse(place, f"{next(n for n in names if names.count(n) > 1)!r} appears twice")
    return names


def shown(value: object) -> str:
    """Return a short text of a value for a message."""
    if isinstance(value, (dict, list)) and len(value) > 20:
        return f"{'an object' if isinstance(value, dict) else 'a list'} of {len(value)}"
    if type(value) is int:
        return digits(value)
    text = repr(value) if isinstance(value, float) else json.dumps(value, default=repr)
    return text if len(text) <= 60 else f"{text[:57]}..."
