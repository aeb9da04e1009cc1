"""Snapshot: from a document to the columns of a group, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar

import numpy as np
from msgspec import UNSET, MsgspecError, UnsetType
from msgspec.json import decode as decoded

from groups.arrays import NO_GENERATION, UNKNOWN, frozen
from groups.columns.claims import Claims
from groups.columns.lists import row_at
from groups.columns.offsets import Offsets
from groups.columns.racks import Racks
from groups.documents.assay_group import FORMAT, Document, Log, Member, Topic, of_text, told
from groups.documents.json_files import split_documents
from groups.documents.snapshots import Snapshots
from groups.documents.texts import named, read_bytes
from groups.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from groups.arrays import Bools, Int32, Int64
    from groups.columns.member_details import MemberDetails


class Snapshot(TypedDict):
    """The columns of a group, under the names that `Group` has; a document tells all of them."""

    name: str
    topics: tuple[str, ...]
    partitions: Int64
    members: tuple[str, ...]
    subscription_indptr: Int64
    subscription_topics: Int32
    subscription_row: Int32
    subscription_known: Bools
    owner: Int32
    generation: Int64
    lag_records: Int64 | None
    weight: Int64 | None
    racks: Racks | None
    offsets: Offsets | None
    raw_claims: Claims | None
    absent_topics: tuple[str, ...]
    absent_subscriptions: tuple[tuple[int, int], ...]
    details: tuple[MemberDetails, ...]
    assumed: tuple[str, ...]
    captured_at: str | None
    auto_offset_reset: str | None


def read(path: str | Path) -> Snapshot:
    """Return the columns of the one snapshot of a file, ``-`` for standard input.

    Raises
    ------
    BadInput
        Where the file is not exactly one good snapshot; the message names the place.
    """
    name = named(str(path))
    texts = split_documents(read_bytes(path), name)
    place, text = next(texts)
    try:
        columns = columns_of(of_text(text))
    except BadInput as error:
        raise error.within(place) from None
    if next(texts, None) is not None:
        raise BadInput(f"{name}: several groups, expected one; read_groups takes them all")
    return columns


def columns_of(document: Document) -> Snapshot:
    """Return the columns of a group as it keeps them, names in ascending order.

    Raises
    ------
    BadInput
        Where a rule of the format is broken that types cannot say; the message names the place.
    """
    found = Snapshots()
    found.add(document)
    return next(each_of(found))


def each_of(snapshots: Snapshots) -> Iterator[Snapshot]:
    """Yield the columns of each group by itself."""
    columns = snapshots.columns()
    for number, said in enumerate(snapshots.said):
        row = said.row() | row_at(columns, number)
        members, partitions = len(row["members"]), len(row["owner"])
        racks = None
        if said.racks or said.replicas:
            racks = Racks.named(
                said.racks or [None] * members, said.replicas or [None] * partitions
            )
        yield columns_of_row(row, racks, said.details)


def columns_of_row(
    row: Mapping[str, Any], racks: Racks | None, details: tuple[MemberDetails, ...]
) -> Snapshot:
    """Return the columns of the group of a row, beside where members and replicas stand.

    Where the row is good, and its arrays are of the types of the layout and frozen, they are as a
    group keeps them.
    """
    members = len(row["members"])
    known, born, lag = row["subscription_known"], row["generation"], row.get("lag")
    offsets = None if row.get("offsets") is None else Offsets(**row["offsets"])
    claims = None if row.get("claims") is None else Claims(**row["claims"])
    if offsets is not None and lag is None:
        lag = frozen(np.full(len(offsets.end), UNKNOWN))
    return Snapshot(
        name=row["group"],
        topics=tuple(row["topics"]),
        partitions=row["partitions"],
        members=tuple(row["members"]),
        subscription_indptr=row["subscription_indptr"],
        subscription_topics=row["subscription_topics"],
        subscription_row=row["subscription_row"],
        subscription_known=frozen(np.ones(members, bool)) if known is None else known,
        owner=row["owner"],
        generation=frozen(np.full(members, NO_GENERATION)) if born is None else born,
        lag_records=lag,
        weight=row.get("weight"),
        racks=racks,
        offsets=offsets,
        raw_claims=claims,
        absent_topics=tuple(row["absent_topics"] or ()),
        absent_subscriptions=tuple(
            (one["member"], one["topic"]) for one in row["absent_subscriptions"] or ()
        ),
        details=details,
        assumed=tuple(row["assumed"] or ()),
        captured_at=row["captured_at"],
        auto_offset_reset=row["auto_offset_reset"],
    )


def names_in(content: object) -> tuple[str | None, str | None]:
    """Return the group and the time that a bad snapshot says it is of, where it says them.

    Parameters
    ----------
    content : JSON, or a document
    """
    if isinstance(content, Document):
        return content.group, told(content.captured_at)
    said: Any = content
    if isinstance(content, (str, bytes)):
        try:
            said = decoded(content)
        except (MsgspecError, UnicodeError, RecursionError):
            return None, None
    if not isinstance(said, Mapping):
        return None, None
    group, time = (
        value if isinstance(value, str) and value else None
        for value in (said.get("group"), said.get("captured_at"))
    )
    return group, time


T = TypeVar("T")


def document_of(group: Snapshot, claims: Claims) -> Document:
    """Return the ``assay-group/1`` document of a group's columns."""
    ends = np.cumsum(group["partitions"]).tolist()
    subscriptions, owned = _subscriptions(group), _owned(group, claims)
    return Document(
        format=FORMAT,
        group=group["name"],
        captured_at=said(group["captured_at"]),
        auto_offset_reset=said(group["auto_offset_reset"]),
        assumed=list(group["assumed"]) or UNSET,
        topics={
            topic: _topic(group, i, slice(start, end))
            for i, (topic, start, end) in enumerate(
                zip(group["topics"], [0, *ends], ends, strict=False)
            )
        },
        members={
            member: _member(group, i, subscriptions[i], owned[i])
            for i, member in enumerate(group["members"])
        },
    )


def _topic(group: Snapshot, topic: int, here: slice) -> int | Topic:
    """Return what a document says of a topic.

    Parameters
    ----------
    here : which of all partitions are those of the topic
    """
    count = int(group["partitions"][topic])
    found = Topic(count)
    offsets, lag = group["offsets"], group["lag_records"]
    weight, racks = group["weight"], group["racks"]
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


def _owned(group: Snapshot, claims: Claims) -> list[dict[str, list[int]]]:
    """Return what each member claims, by topic."""
    names = group["topics"] + group["absent_topics"]
    owned: list[dict[str, list[int]]] = [{} for _ in group["members"]]
    columns = (claims.member.tolist(), claims.topic.tolist(), claims.partition.tolist())
    for member, topic, number in zip(*columns, strict=True):
        owned[member].setdefault(names[topic], []).append(number)
    return owned


def _subscriptions(group: Snapshot) -> list[list[str] | None]:
    names = np.array(group["topics"], object)
    rows = np.split(names[group["subscription_topics"]], group["subscription_indptr"][1:-1])
    read = [rows[row].tolist() for row in group["subscription_row"].tolist()]
    for member, topic in group["absent_subscriptions"]:
        read[member].append(group["absent_topics"][topic])
    known = group["subscription_known"].tolist()
    return [sorted(one) if shown else None for one, shown in zip(read, known, strict=True)]


def _member(
    group: Snapshot, member: int, subscription: list[str] | None, owned: dict[str, list[int]]
) -> Member:
    born, racks = int(group["generation"][member]), group["racks"]
    found = Member(
        subscription=subscription,
        owned=owned,
        generation=UNSET if born == NO_GENERATION else born,
    )
    if racks is not None and racks.member[member] >= 0:
        found.rack = racks.names[racks.member[member]]
    if not group["details"]:
        return found
    one = group["details"][member]
    found.instance_id, found.client_id = said(one.instance_id), said(one.client_id)
    found.host, found.subscription_regex = said(one.host), said(one.subscription_regex)
    found.capacity, found.epoch = said(one.capacity), said(one.epoch)
    found.assignors = UNSET if one.assignors is None else list(one.assignors)
    if one.target is not None:
        found.target = {topic: list(numbers) for topic, numbers in one.target.items()}
    return found


def said(value: T | None) -> T | UnsetType:
    """Return what a document says of a value, nothing of None."""
    return UNSET if value is None else value
