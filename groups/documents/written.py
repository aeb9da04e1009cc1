"""Written snapshots: the columns of a group as an ``assay-group/1`` document."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import numpy as np
from msgspec import UNSET, UnsetType

from groups.arrays import NO_GENERATION
from groups.documents.assay_group import FORMAT, Document, Log, Member, Topic

if TYPE_CHECKING:
    from groups.arrays import Int64
    from groups.columns.claims import Claims
    from groups.documents.snapshot import Snapshot

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
