"""Snapshot: converts a document to the columns of a group, and back."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from msgspec import UNSET, MsgspecError, UnsetType
from msgspec.json import decode as decoded

from groups.arrays import NO_GENERATION, UNKNOWN, frozen
from groups.columns.claims import Claims
from groups.columns.lists import row_at
from groups.columns.offsets import Offsets
from groups.columns.racks import Racks
from groups.documents.assay_group import FORMAT, Document, Log, Member, Topic, or_none
from groups.documents.assay_streams import StreamsDocument
from groups.times import in_utc_or_none

if TYPE_CHECKING:
    from collections.abc import Iterator

    from groups.arrays import Int64
    from groups.columns.places import MemberDetails
    from groups.columns.validity import Columns
    from groups.documents.snapshots import Snapshots

T = TypeVar("T")
# Characters, or bytes, of a text that is no JSON in which a name is looked for.
BEGINNING = 2**16
_OF_SUBSCRIPTIONS = ("subscription_indptr", "subscription_topics", "subscription_row")


def columns_of_each(snapshots: Snapshots) -> Iterator[dict[str, Any]]:
    """Yield the columns of each group."""
    columns = snapshots.columns()
    for number, fields in enumerate(snapshots.fields):
        row = fields | row_at(columns, number)
        racks = None
        if fields["racks"] or fields["replicas"]:
            racks = Racks.named(
                fields["racks"] or [None] * len(row["members"]),
                fields["replicas"] or [None] * len(row["owner"]),
            )
        yield columns_of_row(row, racks, fields["details"])


def columns_of_row(
    row: Mapping[str, Any], racks: Racks | None, details: tuple[MemberDetails, ...]
) -> dict[str, Any]:
    """Return the columns of the group of a row, by the names of `Group`.

    If the row is valid, and its arrays are frozen and of the layout's types, the columns need no
    further check.

    Parameters
    ----------
    row : columns by the names of the layout; `absent_subscriptions` as pairs
    """
    members = len(row["members"])
    known, born, lag = row["subscription_known"], row["generation"], row.get("lag")
    offsets = None if row.get("offsets") is None else Offsets(**row["offsets"])
    if offsets is not None and lag is None:
        lag = frozen(np.full(len(offsets.end), UNKNOWN))
    as_they_are = ("partitions", "owner", "captured_at", "auto_offset_reset", *_OF_SUBSCRIPTIONS)
    as_tuples = ("topics", "members", "absent_topics", "absent_subscriptions", "assumed")
    return {
        **{name: row[name] for name in as_they_are},
        **{name: tuple(row[name] or ()) for name in as_tuples},
        "name": row["group"],
        "subscription_known": frozen(np.ones(members, bool)) if known is None else known,
        "generation": frozen(np.full(members, NO_GENERATION)) if born is None else born,
        "lag_records": lag,
        "weight": row.get("weight"),
        "racks": racks,
        "offsets": offsets,
        "raw_claims": None if row.get("claims") is None else Claims(**row["claims"]),
        "details": details,
    }


def names_in(content: object) -> tuple[str | None, str | None]:
    """Return the group and the capture time in a bad snapshot, None each if it has none.

    Of a text that is no JSON, such as one that was cut off, they are those that its beginning
    states.

    Parameters
    ----------
    content : JSON, or a document
    """
    if isinstance(content, Document | StreamsDocument):
        return content.group, in_utc_or_none(or_none(content.captured_at))
    document: Any = content
    if isinstance(content, (str, bytes)):
        try:
            document = decoded(content)
        except (MsgspecError, UnicodeError, RecursionError):
            start = content[:BEGINNING]
            start = start if isinstance(start, str) else start.decode(errors="replace")
            document = {key: _stated(start, key) for key in ("group", "captured_at")}
    if not isinstance(document, Mapping):
        return None, None
    group, time = (
        value if isinstance(value, str) and value else None
        for value in (document.get("group"), document.get("captured_at"))
    )
    return group, in_utc_or_none(time)


def _stated(start: str, key: str) -> str | None:
    """Return the first text that a key has in the beginning of a document; None if it has none."""
    found = re.search(rf'"{key}"\s*:\s*("(?:[^"\\]|\\.)+")', start)
    try:
        return None if found is None else str(json.loads(found[1]))
    except json.JSONDecodeError:
        return None


def document_of(group: Columns, claims: Claims) -> Document:
    """Return the ``assay-group/1`` document of a group's columns."""
    ends = np.cumsum(group.partitions).tolist()
    subscriptions, owned = _subscriptions(group), _owned(group, claims)
    return Document(
        format=FORMAT,
        group=group.name,
        captured_at=or_unset(group.captured_at),
        auto_offset_reset=or_unset(group.auto_offset_reset),
        assumed=list(group.assumed) or UNSET,
        topics={
            topic: _topic(group, i, slice(start, end))
            for i, (topic, start, end) in enumerate(
                zip(group.topics, [0, *ends], ends, strict=False)
            )
        },
        members={
            member: _member(group, i, subscriptions[i], owned[i])
            for i, member in enumerate(group.members)
        },
    )


def _topic(group: Columns, topic: int, here: slice) -> int | Topic:
    """Return the entry of a topic in a document.

    Parameters
    ----------
    here : the range of the topic's partitions
    """
    count = int(group.partitions[topic])
    found = Topic(count)
    offsets, lag, weight, racks = group.offsets, group.lag_records, group.weight, group.racks
    if offsets is not None and offsets.given[topic]:
        columns = (offsets.beginning, offsets.end, offsets.committed)
        found.offsets = [*map(Log, *(_nulls(column[here]) for column in columns))]
    elif lag is not None and (lag[here] >= 0).any():
        found.lag = _nulls(lag[here])
    if weight is not None and (weight[here] >= 0).all() and count:
        found.weight = weight[here].tolist()
    if racks is not None and count and (racks.replicas[here] >= 0).all():
        found.racks = [racks.of_set(s) for s in racks.replicas[here].tolist()]
    return count if found == Topic(count) else found


def _nulls(column: Int64) -> list[int | None]:
    return [None if v < 0 else v for v in column.tolist()]


def _owned(group: Columns, claims: Claims) -> list[dict[str, list[int]]]:
    """Return what each member claims, by topic."""
    names = group.topics + group.absent_topics
    owned: list[dict[str, list[int]]] = [{} for _ in group.members]
    columns = (claims.member.tolist(), claims.topic.tolist(), claims.partition.tolist())
    for member, topic, number in zip(*columns, strict=True):
        owned[member].setdefault(names[topic], []).append(number)
    return owned


def _subscriptions(group: Columns) -> list[list[str] | None]:
    names = np.array(group.topics, object)
    rows = np.split(names[group.subscription_topics], group.subscription_indptr[1:-1])
    read = [rows[row].tolist() for row in group.subscription_row.tolist()]
    for member, topic in group.absent_subscriptions:
        read[member].append(group.absent_topics[topic])
    known = group.subscription_known.tolist()
    return [sorted(one) if shown else None for one, shown in zip(read, known, strict=True)]


def _member(
    group: Columns, member: int, subscription: list[str] | None, owned: dict[str, list[int]]
) -> Member:
    born, racks = int(group.generation[member]), group.racks
    found = Member(
        subscription=subscription,
        owned=owned,
        generation=UNSET if born == NO_GENERATION else born,
    )
    if racks is not None and racks.member[member] >= 0:
        found.rack = racks.names[racks.member[member]]
    for name, value in vars(group.details[member]).items() if group.details else ():
        if name == "assignors" and value is not None:
            value = list(value)
        elif name == "target" and value is not None:
            value = {topic: list(numbers) for topic, numbers in value.items()}
        setattr(found, name, or_unset(value))
    return found


def or_unset(value: T | None) -> T | UnsetType:
    """Return the value, or UNSET for None, which leaves the key out of a document."""
    return UNSET if value is None else value
