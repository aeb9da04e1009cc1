"""Pseudonyms: a snapshot in which nothing names anybody, and all else is kept.

Pseudonyms are ranks. They sort as the names did, so whatever breaks ties by name breaks them
alike, and the same group in another order of keys gets the same pseudonyms.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

from groups.group import Group
from groups.wording import BEYOND_THE_END

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from groups.documents.assay_group import JsonObject


Name = Literal["rack", "host", "client_id", "instance_id"]
_NAMES: tuple[Name, ...] = ("rack", "host", "client_id", "instance_id")
_ASSIGNORS = frozenset({"range", "roundrobin", "sticky", "cooperative-sticky", "uniform"})
_LEFT_OUT = "a note was left out, it may hold names"
_NOTES = (
    re.compile(r"(?P<topic>.+)(?P<rest>: \d+ partitions?, the highest number seen(?: \+ 1)?)"),
    re.compile(r"(?P<topic>.+)(?P<rest>: partition \d+ is far beyond the others, up to \d+)"),
    re.compile(r"(?P<topic>.+)(?P<rest>-\d+: shown with \d+ members, all claim it)"),
    re.compile(r"(?P<rest>\d+ partitions are shown with several members, all claim them): .*"),
    re.compile(r"(?P<rest>\d+ partitions are far beyond the others of their topics): .*"),
    re.compile(rf"(?P<rest>{BEYOND_THE_END}): .*"),
    re.compile(r"(?P<rest>offsets of \d+ partitions? differ between the texts): .*"),
    re.compile(r"(?P<rest>the group was named after the file)(?:, .*)?"),
    re.compile(
        r"(?P<rest>members: those that hold partitions, no view lists idle ones"
        r"|members: none, since no partition has an owner"
        r"|partition counts of \d+ topics: the highest number seen \+ 1"
        r"|captured_at: (?:the time of the (?:latest )?file|when standard input was read)"
        r"|auto\.offset\.reset: latest, so \d+ partitions? without a commit ha(?:s|ve) lag 0"
        r"|\d+ of \d+ members use the classic protocol \(UPGRADED false\)"
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
        Where the document is no good snapshot.
    """
    return anonymise_all([document])[0]


def anonymise_all(given: Sequence[JsonObject]) -> list[JsonObject]:
    """Return some snapshots under pseudonyms that mean the same in all of them.

    Raises
    ------
    BadInput
        Where one of the documents is no good snapshot.
    """
    for document in given:
        Group.from_dict(document)
    members = [said for document in given for said in document["members"].values()]
    names = {
        "group": _ranked("group", (document["group"] for document in given)),
        "topic": _ranked("topic", (t for document in given for t in _topics(document))),
        "member": _ranked("member", (m for document in given for m in document["members"])),
        "rack": _ranked("rack", (r for document in given for r in _racks(document))),
        "host": _ranked("host", _values(members, "host")),
        "client_id": _ranked("client", _values(members, "client_id")),
        "instance_id": _ranked("instance", _values(members, "instance_id")),
        "assignor": _ranked("assignor", _own_assignors(members)),
    }
    return [_renamed(document, names) for document in given]


Names = dict[str, dict[str, str]]


def _ranked(kind: str, names: Iterable[str]) -> dict[str, str]:
    found = sorted(set(names))
    width = len(str(len(found)))
    return {name: f"{kind}-{rank:0{width}}" for rank, name in enumerate(found, start=1)}


def _topics(document: JsonObject) -> set[str]:
    return {
        *document["topics"],
        *(
            topic
            for said in document["members"].values()
            for listed in (said.get("subscription"), said.get("owned"), said.get("target"))
            for topic in listed or ()
        ),
    }


def _racks(document: JsonObject) -> set[str]:
    replicas = (
        rack
        for topic in document["topics"].values()
        if not isinstance(topic, int)
        for racks in topic.get("racks") or ()
        for rack in racks
    )
    return {*replicas, *_values(document["members"].values(), "rack")}


def _values(members: Iterable[JsonObject], key: Name) -> set[str]:
    return {value for said in members if (value := said.get(key)) is not None}


def _own_assignors(members: Iterable[JsonObject]) -> set[str]:
    return {name for said in members for name in said.get("assignors") or ()} - _ASSIGNORS


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


def _topic(said: int | JsonObject, racks: dict[str, str]) -> int | JsonObject:
    if isinstance(said, int) or not said.get("racks"):
        return said
    return {**said, "racks": [[racks[rack] for rack in listed] for listed in said["racks"]]}


def _member(said: JsonObject, names: Names) -> JsonObject:
    topics = names["topic"]
    found: JsonObject = {**said}
    found.pop("subscription_regex", None)
    if (subscription := said.get("subscription")) is not None:
        found["subscription"] = [topics[topic] for topic in subscription]
    if (owned := said.get("owned")) is not None:
        found["owned"] = _held(owned, topics)
    if (target := said.get("target")) is not None:
        found["target"] = _held(target, topics)
    if (assignors := said.get("assignors")) is not None:
        found["assignors"] = [names["assignor"].get(name, name) for name in assignors]
    for key in _NAMES:
        if (name := said.get(key)) is not None:
            found[key] = names[key][name]
    return found


def _held(held: Mapping[str, list[int]], topics: dict[str, str]) -> dict[str, list[int]]:
    return {topics[topic]: numbers for topic, numbers in sorted(held.items())}


def _note(note: str, topics: dict[str, str]) -> str:
    for pattern in _NOTES:
        found = pattern.fullmatch(note)
        if found is not None:
            topic = found.groupdict().get("topic")
            if topic is None:
                return found["rest"]
            if topic in topics:
                return topics[topic] + found["rest"]
    return _LEFT_OUT
