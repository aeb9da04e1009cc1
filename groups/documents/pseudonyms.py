"""Pseudonyms: a snapshot in which nothing names anybody, and all else is kept.

Pseudonyms are ranks. They sort as the names did, so whatever breaks ties by name breaks them
alike, and the same group in another order of keys gets the same pseudonyms.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from typing import TYPE_CHECKING

from groups.errors import BadInput
from groups.group import Group
from groups.wording import (
    BEYOND_THE_END,
    CLAIMED_BY_SEVERAL,
    FAR_BEYOND,
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


# Pseudonyms by the kinds of names.
Names = Mapping[str, Mapping[str, str]]
_NAMES = ("rack", "host", "client_id", "instance_id")
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
        r"|subscriptions by regular expression: \d+, left out"
        rf"|{_LEFT_OUT})"
    ),
)


def anonymise(document: JsonObject) -> JsonObject:
    """Return a snapshot with pseudonyms for whatever could name somebody, and all else kept.

    Group, topics, members, racks, hosts, client ids, instance ids and assignors of one's own
    change; regular expressions of subscriptions, and notes in `assumed` that are not the
    project's own, are left out.

    Raises
    ------
    BadInput
        If the document is no good snapshot.
    """
    return anonymise_all([document])[0]


def anonymise_all(given: Sequence[JsonObject]) -> list[JsonObject]:
    """Return some snapshots under pseudonyms that mean the same in all of them.

    Raises
    ------
    BadInput
        If one of the documents is no good snapshot.
    """
    for document in given:
        if Group.from_dict(document).streams is not None:
            raise BadInput("a Kafka Streams group, and no pseudonyms are made of its names")
    seen: Names = defaultdict(_Seen)
    for document in given:
        _renamed(document, seen)
    names = {kind: _ranked(_LABELS.get(kind, kind), some) for kind, some in seen.items()}
    return [_renamed(document, names) for document in given]


class _Seen(dict[str, str]):
    """Names that were asked for, each its own pseudonym."""

    def __missing__(self, name: str) -> str:
        self[name] = name
        return name


def _ranked(kind: str, names: Iterable[str]) -> dict[str, str]:
    found = sorted(names)
    width = len(str(len(found)))
    return {name: f"{kind}-{rank:0{width}}" for rank, name in enumerate(found, start=1)}


def _renamed(document: JsonObject, names: Names) -> JsonObject:
    topics, members = names["topic"], names["member"]
    found: JsonObject = {**document, "group": names["group"][document["group"]]}
    notes = [_note(note, topics) for note in document.get("assumed") or ()]
    by_regex = sum(bool(said.get("subscription_regex")) for said in document["members"].values())
    if by_regex:
        notes.append(f"subscriptions by regular expression: {by_regex}, left out")
    if notes:
        found["assumed"] = list(dict.fromkeys(notes))
    found["topics"] = {
        topics[topic]: _topic(said, names["rack"])
        for topic, said in sorted(document["topics"].items())
    }
    found["members"] = {
        members[member]: _member(said, names)
        for member, said in sorted(document["members"].items())
    }
    return found


def _topic(said: int | JsonObject, racks: Mapping[str, str]) -> int | JsonObject:
    if isinstance(said, int) or not said.get("racks"):
        return said
    return {**said, "racks": [[racks[rack] for rack in listed] for listed in said["racks"]]}


def _member(said: JsonObject, names: Names) -> JsonObject:
    topics = names["topic"]
    found: JsonObject = {**said}
    found.pop("subscription_regex", None)
    if (subscription := said.get("subscription")) is not None:
        found["subscription"] = [topics[topic] for topic in subscription]
    for key in ("owned", "target"):
        if (held := said.get(key)) is not None:
            found[key] = {topics[topic]: numbers for topic, numbers in sorted(held.items())}
    if (assignors := said.get("assignors")) is not None:
        found["assignors"] = [
            name if name in _ASSIGNORS else names["assignor"][name] for name in assignors
        ]
    for key in _NAMES:
        if (name := said.get(key)) is not None:
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
