"""Pseudonyms: replaces all names in a snapshot and keeps everything else.

Pseudonyms are ranks. They sort as the names did, so that ties by name break the same way, and
the same group with its keys in another order gets the same pseudonyms.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from typing import TYPE_CHECKING

from msgspec import UnsetType, structs

from groups.documents.assay_group import Member, Name
from groups.errors import BadInput
from groups.wording import (
    BEYOND_THE_END,
    CLAIMED_BY_SEVERAL,
    FAR_BEYOND,
    HELD_BY_SOME_NOW,
    HIGHEST_SEEN,
    HOLDERS_ALONE,
    NAMED_AFTER_FILE,
    NO_MEMBER_SHOWN,
    OF_CLASSIC_PROTOCOL,
    ONE_CLAIMED_BY_SEVERAL,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from groups.documents.assay_group import JsonObject
    from groups.group import Group


# Pseudonyms by the kinds of names.
Names = Mapping[str, Mapping[str, str]]
# What a member has that is one name, apart from the pattern, which is left out.
_NAMES = tuple(
    one.name
    for one in structs.fields(Member)
    if one.type == Name | UnsetType | None and one.name != "subscription_regex"
)
_LABELS = {"client_id": "client", "instance_id": "instance"}
_ASSIGNORS = frozenset({"range", "roundrobin", "sticky", "cooperative-sticky", "uniform"})
_LEFT_OUT = "a note was left out, it may hold names"
_NUMBER = r"\d[\d,]*"


def _pattern(note: str) -> str:
    """Return the pattern of a note of `groups.wording`, in which {} is a number."""
    return re.escape(note).replace(r"\{\}", _NUMBER)


_NOTES = (
    re.compile(rf"(?P<topic>.+)(?P<rest>: {_NUMBER} partitions?, {HIGHEST_SEEN}(?: \+ 1)?)"),
    re.compile(rf"(?P<topic>.+)(?P<rest>: partition \d+ is {FAR_BEYOND}, up to \d+)"),
    re.compile(rf"(?P<topic>.+)(?P<rest>-\d+: {_pattern(ONE_CLAIMED_BY_SEVERAL)})"),
    re.compile(rf"(?P<rest>\d+ partitions are {CLAIMED_BY_SEVERAL}): .*"),
    re.compile(rf"(?P<rest>\d+ partitions are {FAR_BEYOND} of their topics): .*"),
    re.compile(rf"(?P<rest>{BEYOND_THE_END}): .*"),
    re.compile(rf"(?P<rest>{NAMED_AFTER_FILE})(?:, .*)?"),
    re.compile(
        rf"(?P<rest>{HOLDERS_ALONE}"
        rf"|{NO_MEMBER_SHOWN}"
        rf"|partition counts of \d+ topics: {HIGHEST_SEEN} \+ 1"
        r"|captured_at: (?:the time of the (?:latest )?file|when standard input was read)"
        r"|auto\.offset\.reset: latest, so \d+ partitions? without a commit ha(?:s|ve) lag 0"
        rf"|{_pattern(OF_CLASSIC_PROTOCOL)}"
        rf"|{_pattern(HELD_BY_SOME_NOW)}"
        r"|subscriptions by regular expression: \d+, left out"
        rf"|{_LEFT_OUT})"
    ),
)


def anonymise_all(groups: Sequence[Group]) -> list[JsonObject]:
    """Return snapshots with pseudonyms that are the same for the same name in all of them.

    The names of the group, topics, members, racks, hosts, client ids, instance ids and custom
    assignors are replaced; regular expressions of subscriptions, and notes in `assumed` that this
    project did not write, are left out. Everything else is kept.

    Raises
    ------
    BadInput
        If one is a Kafka Streams group.
    """
    for group in groups:
        if group.streams is not None:
            raise BadInput(f"{group.name}: a Kafka Streams group, no pseudonyms are made of it")
    given = [group.to_dict() for group in groups]
    seen: Names = defaultdict(_NamesSeen)
    for document in given:
        _rename(document, seen)
    names = {kind: _rank(_LABELS.get(kind, kind), found) for kind, found in seen.items()}
    return [_rename(document, names) for document in given]


class _NamesSeen(dict[str, str]):
    """Collects the names that are looked up; each is its own pseudonym."""

    def __missing__(self, name: str) -> str:
        self[name] = name
        return name


def _rank(kind: str, names: Iterable[str]) -> dict[str, str]:
    found = sorted(names)
    width = len(str(len(found)))
    return {name: f"{kind}-{rank:0{width}}" for rank, name in enumerate(found, start=1)}


def _rename(document: JsonObject, names: Names) -> JsonObject:
    topics, members = names["topic"], names["member"]
    found: JsonObject = {**document, "group": names["group"][document["group"]]}
    notes = [_note(note, topics) for note in document.get("assumed") or ()]
    by_regex = sum(
        bool(member.get("subscription_regex")) for member in document["members"].values()
    )
    if by_regex:
        notes.append(f"subscriptions by regular expression: {by_regex}, left out")
    if notes:
        found["assumed"] = list(dict.fromkeys(notes))
    found["topics"] = {
        topics[topic]: _topic(value, names["rack"]) for topic, value in document["topics"].items()
    }
    found["members"] = {
        members[member]: _member(value, names) for member, value in document["members"].items()
    }
    return found


def _topic(given: int | JsonObject, racks: Mapping[str, str]) -> int | JsonObject:
    if isinstance(given, int) or not given.get("racks"):
        return given
    return {**given, "racks": [[racks[rack] for rack in listed] for listed in given["racks"]]}


def _member(given: JsonObject, names: Names) -> JsonObject:
    topics = names["topic"]
    found: JsonObject = {**given}
    found.pop("subscription_regex", None)
    if (subscription := given.get("subscription")) is not None:
        found["subscription"] = [topics[topic] for topic in subscription]
    for key in ("owned", "target"):
        if (held := given.get(key)) is not None:
            found[key] = {topics[topic]: numbers for topic, numbers in sorted(held.items())}
    if (assignors := given.get("assignors")) is not None:
        found["assignors"] = [
            name if name in _ASSIGNORS else names["assignor"][name] for name in assignors
        ]
    for key in _NAMES:
        if (name := given.get(key)) is not None:
            found[key] = names[key][name]
    return found


def _note(note: str, topics: Mapping[str, str]) -> str:
    for pattern in _NOTES:
        found = pattern.fullmatch(note)
        if found is not None:
            topic = found.groupdict().get("topic")
            if topic is None:
                return found["rest"]
            if topic in topics:
                return topics[topic] + found["rest"]
    return _LEFT_OUT
