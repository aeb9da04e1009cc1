"""A snapshot under pseudonyms: the same group, told by nobody's names.

Pseudonyms are ranks. They sort as the names did, so whatever breaks ties by name breaks them
alike, and the same group in another order of keys gets the same pseudonyms.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from groups.group import Group

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    Document = Mapping[str, Any]

_ASSIGNORS = frozenset({"range", "roundrobin", "sticky", "cooperative-sticky", "uniform"})
_LEFT_OUT = "a note was left out, it may hold names"
_NOTES = (
    re.compile(r"(?P<topic>.+)(?P<rest>: \d+ partitions?, the highest number seen(?: \+ 1)?)"),
    re.compile(r"(?P<topic>.+)(?P<rest>: partition \d+ is far beyond the others, up to \d+)"),
    re.compile(r"(?P<topic>.+)(?P<rest>-\d+: shown with \d+ members, all claim it)"),
    re.compile(r"(?P<rest>offsets of \d+ partitions? differ between the texts): .*"),
    re.compile(r"(?P<rest>the group was named after the file)(?:, .*)?"),
    re.compile(
        r"(?P<rest>members: those that hold partitions, no view lists idle ones"
        r"|members: none, since no partition has an owner"
        r"|partition counts of \d+ topics: the highest number seen \+ 1"
        r"|\d+ of \d+ members use the classic protocol \(UPGRADED false\)"
        r"|subscriptions by regular expression: \d+, left out"
        rf"|{_LEFT_OUT})"
    ),
)


def anonymise(document: Document) -> dict[str, Any]:
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


def anonymise_all(documents: Sequence[Document]) -> list[dict[str, Any]]:
    """Return some snapshots under pseudonyms that mean the same in all of them.

    Raises
    ------
    BadInput
        Where one of the documents is no good snapshot.
    """
    for document in documents:
        Group.from_dict(document)
    members = [said for document in documents for said in document["members"].values()]
    names = {
        "group": _ranked("group", (document["group"] for document in documents)),
        "topic": _ranked("topic", (t for document in documents for t in _topics(document))),
        "member": _ranked("member", (m for document in documents for m in document["members"])),
        "rack": _ranked("rack", (r for document in documents for r in _racks(document))),
        "host": _ranked("host", _values(members, "host")),
        "client_id": _ranked("client", _values(members, "client_id")),
        "instance_id": _ranked("instance", _values(members, "instance_id")),
        "assignor": _ranked("assignor", _own_assignors(members)),
    }
    return [_renamed(document, names) for document in documents]


Names = dict[str, dict[str, str]]


def _ranked(kind: str, names: Iterable[str]) -> dict[str, str]:
    found = sorted(set(names))
    width = len(str(len(found)))
    return {name: f"{kind}-{rank:0{width}}" for rank, name in enumerate(found, start=1)}


def _topics(document: Document) -> set[str]:
    return {
        *document["topics"],
        *(
            topic
            for said in document["members"].values()
            for key in ("subscription", "owned", "target")
            for topic in said.get(key) or ()
        ),
    }


def _racks(document: Document) -> set[str]:
    replicas = (
        rack
        for topic in document["topics"].values()
        if not isinstance(topic, int)
        for racks in topic.get("racks") or ()
        for rack in racks
    )
    return {*replicas, *_values(document["members"].values(), "rack")}


def _values(members: Iterable[Document], key: str) -> set[str]:
    return {said[key] for said in members if said.get(key) is not None}


def _own_assignors(members: Iterable[Document]) -> set[str]:
    return {name for said in members for name in said.get("assignors") or ()} - _ASSIGNORS


def _renamed(document: Document, names: Names) -> dict[str, Any]:
    topics, members = names["topic"], names["member"]
    found = {**document, "group": names["group"][document["group"]]}
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


def _topic(said: Any, racks: dict[str, str]) -> Any:
    if isinstance(said, int) or not said.get("racks"):
        return said
    return {**said, "racks": [[racks[rack] for rack in listed] for listed in said["racks"]]}


def _member(said: Document, names: Names) -> dict[str, Any]:
    topics, assignors = names["topic"], names["assignor"]

    def held(value: Document) -> dict[str, Any]:
        return {topics[topic]: numbers for topic, numbers in sorted(value.items())}

    rename: dict[str, Callable[[Any], Any]] = {
        "subscription": lambda value: [topics[topic] for topic in value],
        "owned": held,
        "target": held,
        "assignors": lambda value: [assignors.get(name, name) for name in value],
        **{key: names[key].__getitem__ for key in ("rack", "host", "client_id", "instance_id")},
    }
    return {
        key: rename[key](value) if key in rename and value is not None else value
        for key, value in said.items()
        if key != "subscription_regex"
    }


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
