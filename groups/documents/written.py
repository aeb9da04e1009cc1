"""Written snapshots: the columns of a group as an ``assay-group/1`` document."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np

from groups.arrays import NO_GENERATION
from groups.documents.assay_group import FORMAT

if TYPE_CHECKING:
    from groups.arrays import Int64
    from groups.columns.claims import Claims
    from groups.documents.shapes import (
        CaptureDocument,
        GroupDocument,
        MemberDocument,
        TopicDocument,
    )
    from groups.documents.snapshot import Snapshot


def document_of(group: Snapshot, claims: Claims) -> GroupDocument:
    """Return the ``assay-group/1`` document of a group's columns."""
    capture: CaptureDocument = {}
    if group["captured_at"] is not None:
        capture["captured_at"] = group["captured_at"]
    if group["auto_offset_reset"] is not None:
        capture["auto_offset_reset"] = group["auto_offset_reset"]
    if group["assumed"]:
        capture["assumed"] = list(group["assumed"])
    ends = np.cumsum(group["partitions"]).tolist()
    subscriptions, owned = _subscriptions(group), owned_by(group, claims)
    return {
        "format": FORMAT,
        "group": group["name"],
        **capture,
        "topics": {
            topic: topic_part(group, i, slice(start, end))
            for i, (topic, start, end) in enumerate(
                zip(group["topics"], [0, *ends], ends, strict=False)
            )
        },
        "members": {
            member: {
                "subscription": subscriptions[i],
                "owned": owned[i],
                **member_part(group, i),
            }
            for i, member in enumerate(group["members"])
        },
    }


def topic_part(group: Snapshot, topic: int, here: slice) -> int | TopicDocument:
    """Return what a document says of a topic.

    Parameters
    ----------
    here : which of all partitions are those of the topic
    """
    count = int(group["partitions"][topic])
    found: TopicDocument = {"partitions": count}
    offsets, lag = group["offsets"], group["lag_records"]
    weight, racks = group["weight"], group["racks"]
    if offsets is not None and offsets.given[topic]:
        columns = (offsets.beginning, offsets.end, offsets.committed)
        found["offsets"] = [
            {"beginning": beginning, "end": end, "committed": committed}
            for beginning, end, committed in zip(*(_nulls(c[here]) for c in columns), strict=True)
        ]
    elif lag is not None and (lag[here] >= 0).any():
        found["lag"] = _nulls(lag[here])
    if weight is not None and (weight[here] >= 0).all() and count:
        found["weight"] = weight[here].tolist()
    if racks is not None and count and (racks.replicas[here] >= 0).all():
        found["racks"] = [racks.of_set(s) for s in racks.replicas[here].tolist()]
    return found if len(found) > 1 else count


def _nulls(column: Int64) -> list[int | None]:
    return [None if v < 0 else v for v in column.tolist()]


def owned_by(group: Snapshot, claims: Claims) -> list[dict[str, list[int]]]:
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


def member_part(group: Snapshot, member: int) -> MemberDocument:
    """Return what a document says of a member beside its subscription and claims."""
    document: dict[str, object] = {}
    if group["generation"][member] != NO_GENERATION:
        document["generation"] = int(group["generation"][member])
    racks = group["racks"]
    if racks is not None and racks.member[member] >= 0:
        document["rack"] = racks.names[racks.member[member]]
    details = vars(group["details"][member]) if group["details"] else {}
    for key, value in details.items():
        if key == "target" and value is not None:
            document[key] = {topic: list(numbers) for topic, numbers in value.items()}
        elif value is not None:
            document[key] = list(value) if isinstance(value, tuple) else value
    return cast("MemberDocument", document)
