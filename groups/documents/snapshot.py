"""The versioned snapshot format ``assay-group/1``: documents to groups and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from groups.documents import fields
from groups.documents.json_files import read_bytes, read_documents
from groups.errors import BadInput
from groups.group import (
    NO_GENERATION,
    NOBODY,
    UNKNOWN,
    Claims,
    Group,
    MemberDetails,
    Offsets,
    Racks,
    check_total,
    valid_owner,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from groups.group import Int64

FORMAT = "assay-group/1"
_GROUP_KEYS = {
    "format", "group", "captured_at", "auto_offset_reset", "assumed", "topics", "members",
}  # fmt: skip
_TOPIC_KEYS = {"partitions", "lag", "weight", "racks", "offsets"}
_MEMBER_KEYS = {
    "subscription", "owned", "generation", "rack", "instance_id", "client_id", "host",
    "assignors", "target", "epoch", "subscription_regex", "capacity",
}  # fmt: skip


def read_group(path: str | Path) -> Group:
    """Read the one group of a file, ``-`` for standard input.

    Raises
    ------
    BadInput
        Where the file is not exactly one good snapshot; the message names the place.
    """
    name = "standard input" if str(path) == "-" else str(path)
    documents = read_documents(read_bytes(path), name)
    place, document = next(documents)
    if isinstance(document, BadInput):
        raise document
    if next(documents, None) is not None:
        raise BadInput(f"{name}: several groups, expected one; use assay run for many")
    try:
        return group_of(document)
    except BadInput as error:
        raise error.within(place) from None


def group_of(document: Any) -> Group:
    """Build the group of an ``assay-group/1`` document; see :meth:`Group.from_dict`."""
    found = document.get("format") if isinstance(document, Mapping) else None
    if isinstance(document, Mapping) and "format" in document and found != FORMAT:
        fields.refuse("format", f"{found!r}, expected {FORMAT!r}")
    top = fields.mapping(document, "", allowed=_GROUP_KEYS, required=("format", "group"))
    name = fields.name(top["group"], "group")
    for key in ("topics", "members"):
        if key not in top:
            fields.refuse("", f"key {key!r} is missing")
    topics = fields.mapping(top["topics"], "topics")
    members = fields.mapping(top["members"], "members")
    for key in ("captured_at", "auto_offset_reset"):
        if top.get(key) is not None:
            fields.name(top[key], key)
    reset = top.get("auto_offset_reset")
    topic_names = tuple(sorted(fields.name(topic, "topics") for topic in topics))
    member_names = tuple(sorted(fields.name(member, "members") for member in members))
    described = {t: _topic(topics[t], f"topics.{t}") for t in topic_names}
    check_total(topic["partitions"] for topic in described.values())
    counts = np.array([described[t]["partitions"] for t in topic_names], np.int64)
    first = np.concatenate(([0], np.cumsum(counts))).astype(np.int64)
    said = {m: _member(members[m], f"members.{m}") for m in member_names}
    index = {t: i for i, t in enumerate(topic_names)}
    mentioned = {t for m in said.values() for t in (*(m["subscription"] or ()), *m["owned"])}
    absent = tuple(sorted(mentioned - index.keys()))
    index |= {t: len(topic_names) + i for i, t in enumerate(absent)}
    rows = [sorted(index[t] for t in said[m]["subscription"] or ()) for m in member_names]
    number: dict[tuple[int, ...], int] = {}
    read = [
        number.setdefault(tuple(t for t in row if t < len(topic_names)), len(number))
        for row in rows
    ]
    generation = np.array([said[m]["generation"] for m in member_names], np.int64)
    claims = _claims([said[m]["owned"] for m in member_names], index)
    racks = _racks(described, [said[m]["rack"] for m in member_names])
    offsets = _offsets(described)
    group = Group(
        name=name,
        topics=topic_names,
        partitions=counts,
        members=member_names,
        subscription_indptr=np.cumsum([0, *map(len, number)], dtype=np.int64),
        subscription_topics=np.array([t for row in number for t in row], np.int32),
        subscription_row=np.array(read, np.int32),
        subscription_known=np.array(
            [said[m]["subscription"] is not None for m in member_names], bool
        ),
        owner=np.full(int(first[-1]), NOBODY, np.int32),
        generation=generation,
        lag_records=_lag(described, offsets, earliest=reset not in (None, "latest")),
        weight=_per_partition(described, "weight"),
        racks=racks,
        offsets=offsets,
        raw_claims=claims,
        absent_topics=absent,
        absent_subscriptions=tuple(
            (m, t - len(topic_names))
            for m, row in enumerate(rows)
            for t in row
            if t >= len(topic_names)
        ),
        details=tuple(said[m]["details"] for m in member_names),
        assumed=fields.strings(top.get("assumed", []), "assumed", repeats=True),
        captured_at=top.get("captured_at"),
        auto_offset_reset=reset,
    )
    partition, member = valid_owner(claims, counts, generation, first)
    keeps = group.subscribes(member, group.topic[partition])
    owner = group.owner.copy()
    owner[partition[keeps]] = member[keeps]
    return replace(group, owner=owner)


def document_of(group: Group) -> dict[str, Any]:
    """Return the ``assay-group/1`` document of a group; see :meth:`Group.to_dict`."""
    document: dict[str, Any] = {"format": FORMAT, "group": group.name}
    if group.captured_at is not None:
        document["captured_at"] = group.captured_at
    if group.auto_offset_reset is not None:
        document["auto_offset_reset"] = group.auto_offset_reset
    if group.assumed:
        document["assumed"] = list(group.assumed)
    document["topics"] = {t: _topic_document(group, i) for i, t in enumerate(group.topics)}
    owned = _owned_documents(group)
    document["members"] = {
        m: _member_document(group, i, owned[i]) for i, m in enumerate(group.members)
    }
    return document


def _topic(value: Any, place: str) -> dict[str, Any]:
    if type(value) is int:
        return {"partitions": _count(value, place)}
    if not isinstance(value, Mapping):
        fields.refuse(place, f"{fields.shown(value)}, expected a partition count or an object")
    found = dict(fields.mapping(value, place, allowed=_TOPIC_KEYS, required=("partitions",)))
    count = _count(found["partitions"], f"{place}.partitions")
    if "lag" in found and "offsets" in found:
        fields.refuse(place, "both lag and offsets, expected one of them")
    readers: dict[str, Callable[[Any, str], Any]] = {
        "lag": _integer_or_unknown,
        "weight": fields.integer,
        "racks": fields.strings,
        "offsets": _offset,
    }
    for key, read in readers.items():
        if key in found:
            values = fields.listed(found[key], f"{place}.{key}")
            if len(values) != count:
                name = place.removeprefix("topics.")
                fields.refuse(
                    f"{place}.{key}", f"{len(values)} values, but {name} has {count} partitions"
                )
            found[key] = [read(v, f"{place}.{key}[{i}]") for i, v in enumerate(values)]
    return found


def _count(value: Any, place: str) -> int:
    count = fields.integer(value, place)
    try:
        return check_total([count])
    except BadInput:
        fields.refuse(place, f"{count} partitions, more than are supported")


def _integer_or_unknown(value: Any, place: str) -> int:
    return UNKNOWN if value is None else fields.integer(value, place)


def _offset(value: Any, place: str) -> tuple[int, int, int]:
    keys = ("beginning", "end", "committed")
    found = fields.mapping(value, place, allowed=set(keys))
    beginning, end, committed = (
        _integer_or_unknown(found.get(key), f"{place}.{key}") for key in keys
    )
    return beginning, end, committed


def _owned(value: Any, place: str) -> dict[str, tuple[int, ...]]:
    owned = {}
    for topic, listed in fields.mapping(value, place).items():
        at = f"{place}.{fields.name(topic, place)}"
        given = fields.listed(listed, at)
        numbers = sorted(fields.integer(v, f"{at}[{i}]") for i, v in enumerate(given))
        for number, after in pairwise(numbers):
            if number == after:
                fields.refuse(at, f"partition {number} appears twice")
        owned[topic] = tuple(numbers)
    return owned


def _member(value: Any, place: str) -> dict[str, Any]:
    found = fields.mapping(value, place, allowed=_MEMBER_KEYS)

    def given(key: str, read: Callable[[Any, str], Any]) -> Any:
        return None if found.get(key) is None else read(found[key], f"{place}.{key}")

    return {
        "subscription": given("subscription", fields.strings),
        "owned": _owned(found.get("owned", {}), f"{place}.owned"),
        "generation": NO_GENERATION if found.get("generation") is None else _born(found, place),
        "rack": given("rack", fields.name),
        "details": MemberDetails(
            instance_id=given("instance_id", fields.name),
            client_id=given("client_id", fields.name),
            host=given("host", fields.name),
            assignors=given("assignors", fields.strings),
            capacity=given("capacity", lambda v, at: fields.integer(v, at, least=1)),
            epoch=given("epoch", lambda v, at: fields.integer(v, at, least=NO_GENERATION)),
            target=given("target", _owned),
            subscription_regex=given("subscription_regex", fields.name),
        ),
    }


def _born(member: Mapping[str, Any], place: str) -> int:
    return fields.integer(member["generation"], f"{place}.generation", least=NO_GENERATION)


def _claims(owned: list[dict[str, tuple[int, ...]]], index: dict[str, int]) -> Claims:
    entries = [
        (member, topic, number)
        for member, held in enumerate(owned)
        for topic, numbers in sorted((index[t], numbers) for t, numbers in held.items())
        for number in numbers
    ]
    columns = np.array(entries, np.int64).reshape(-1, 3)
    return Claims(
        columns[:, 0].astype(np.int32), columns[:, 1].astype(np.int32), columns[:, 2].copy()
    )


def _per_partition(topics: dict[str, dict[str, Any]], key: str) -> Int64 | None:
    if not any(key in topic for topic in topics.values()):
        return None
    values = [topic.get(key, [UNKNOWN] * topic["partitions"]) for topic in topics.values()]
    return np.array([v for listed in values for v in listed], np.int64)


def _offsets(topics: dict[str, dict[str, Any]]) -> Offsets | None:
    given = np.array(["offsets" in topic for topic in topics.values()], bool)
    if not given.any():
        return None
    nothing = (UNKNOWN, UNKNOWN, UNKNOWN)
    rows = [
        row
        for topic in topics.values()
        for row in topic.get("offsets", [nothing] * topic["partitions"])
    ]
    columns = np.array(rows, np.int64).reshape(-1, 3)
    return Offsets(columns[:, 0].copy(), columns[:, 1].copy(), columns[:, 2].copy(), given)


def _lag(
    topics: dict[str, dict[str, Any]], offsets: Offsets | None, *, earliest: bool
) -> Int64 | None:
    lag = _per_partition(topics, "lag")
    if offsets is None:
        return lag
    # KIP-169: without a commit nothing is behind under "latest", else everything in the log is.
    since = np.where(
        offsets.committed >= 0, offsets.committed, offsets.beginning if earliest else offsets.end
    )
    known = (offsets.end >= 0) & (since >= 0)
    from_offsets = np.where(known, np.maximum(offsets.end - since, 0), UNKNOWN)
    if lag is None:
        return from_offsets
    counts = [topic["partitions"] for topic in topics.values()]
    return np.where(np.repeat(offsets.given, counts), from_offsets, lag)


def _racks(topics: dict[str, dict[str, Any]], member_racks: list[str | None]) -> Racks | None:
    replicas = [
        frozenset(racks) if racks is not None else None
        for topic in topics.values()
        for racks in topic.get("racks", [None] * topic["partitions"])
    ]
    distinct = sorted({r for r in replicas if r is not None}, key=sorted)
    if not distinct and all(rack is None for rack in member_racks):
        return None
    named = {rack for racks in distinct for rack in racks} | {r for r in member_racks if r}
    names = tuple(sorted(named))
    index = {rack: i for i, rack in enumerate(names)}
    place = {racks: i for i, racks in enumerate(distinct)}
    return Racks(
        names=names,
        member=np.array([index[r] if r else NOBODY for r in member_racks], np.int32),
        replicas=np.array([UNKNOWN if r is None else place[r] for r in replicas], np.int32),
        holds=np.array(
            [i * len(names) + index[r] for i, racks in enumerate(distinct) for r in sorted(racks)],
            np.int64,
        ),
    )


def _topic_document(group: Group, topic: int) -> int | dict[str, Any]:
    start, end = int(group.first[topic]), int(group.first[topic + 1])
    found: dict[str, Any] = {"partitions": end - start}
    offsets = group.offsets
    if offsets is not None and offsets.given[topic]:
        columns = (offsets.beginning, offsets.end, offsets.committed)
        rows = zip(*(_nulls(c[start:end]) for c in columns), strict=True)
        keys = ("beginning", "end", "committed")
        found["offsets"] = [dict(zip(keys, row, strict=True)) for row in rows]
    elif group.lag_records is not None and (group.lag_records[start:end] >= 0).any():
        found["lag"] = _nulls(group.lag_records[start:end])
    if group.weight is not None and (group.weight[start:end] >= 0).all() and end > start:
        found["weight"] = group.weight[start:end].tolist()
    racks = group.racks
    if racks is not None and end > start and (racks.replicas[start:end] >= 0).all():
        found["racks"] = [racks.of_set(s) for s in racks.replicas[start:end].tolist()]
    return found if len(found) > 1 else found["partitions"]


def _nulls(column: Int64) -> list[int | None]:
    return [None if v < 0 else v for v in column.tolist()]


def _owned_documents(group: Group) -> list[dict[str, list[int]]]:
    names = group.topics + group.absent_topics
    owned: list[dict[str, list[int]]] = [{} for _ in group.members]
    claims = group.claims
    columns = (claims.member.tolist(), claims.topic.tolist(), claims.partition.tolist())
    for member, topic, number in zip(*columns, strict=True):
        owned[member].setdefault(names[topic], []).append(number)
    return owned


def _member_document(group: Group, member: int, owned: dict[str, list[int]]) -> dict[str, Any]:
    subscription = [group.topics[t] for t in group.subscription(member)]
    subscription += [group.absent_topics[t] for m, t in group.absent_subscriptions if m == member]
    document: dict[str, Any] = {
        "subscription": sorted(subscription) if group.subscription_known[member] else None,
        "owned": owned,
    }
    if group.generation[member] != NO_GENERATION:
        document["generation"] = int(group.generation[member])
    if group.racks is not None and group.racks.member[member] >= 0:
        document["rack"] = group.racks.names[group.racks.member[member]]
    details = vars(group.details[member]) if group.details else {}
    for key, value in details.items():
        if key == "target" and value is not None:
            document[key] = {topic: list(numbers) for topic, numbers in value.items()}
        elif value is not None:
            document[key] = list(value) if isinstance(value, tuple) else value
    return document
