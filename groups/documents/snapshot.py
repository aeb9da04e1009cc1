"""From a document to the columns of a group."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NotRequired, TypedDict

import numpy as np
from msgspec import MsgspecError
from msgspec.json import decode as decoded

from groups.arrays import NOBODY, frozen
from groups.columns.offsets import reset_noted
from groups.columns.racks import Racks
from groups.columns.subscriptions import Subscriptions
from groups.documents.assay_group import Document, of_text, told
from groups.documents.json_files import split_documents
from groups.documents.side_by_side import Snapshots
from groups.documents.texts import named, read_bytes
from groups.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from groups.arrays import Bools, Int32, Int64
    from groups.columns.claims import Claims
    from groups.columns.member_details import MemberDetails
    from groups.columns.offsets import Offsets


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
    subscriptions: NotRequired[Subscriptions]
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
        raise BadInput(f"{name}: several groups, expected one; add --group NAME")
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
    through, indptr = columns.subscriptions, columns.subscriptions.indptr
    starts = (
        columns.topic_start,
        columns.member_start,
        columns.partition_start,
        columns.row_start,
        columns.claim_start,
        indptr[columns.row_start],
    )
    parts = [[slice(*ends) for ends in pairwise(start.tolist())] for start in starts]
    for number, (said, topic, member, partition, row, claim, entry) in enumerate(
        zip(snapshots.said, *parts, strict=True)
    ):
        ends = slice(row.start, row.stop + 1)
        subscriptions = Subscriptions.of_valid(
            frozen(indptr[ends] - entry.start),
            _from(topic.start, through.listed[entry]),
            _from(row.start, through.row[member]),
            through.known[member],
            topic.stop - topic.start,
        )
        owner, offsets = columns.owner[partition], columns.offsets
        has_lag = said.has_lag or said.has_offsets
        members, partitions = member.stop - member.start, len(owner)
        yield Snapshot(
            name=said.group,
            topics=tuple(snapshots.topics[topic]),
            partitions=columns.partitions[topic],
            members=tuple(snapshots.members[member]),
            subscription_indptr=subscriptions.indptr,
            subscription_topics=subscriptions.listed,
            subscription_row=subscriptions.row,
            subscription_known=subscriptions.known,
            subscriptions=subscriptions,
            owner=_from(member.start, owner),
            generation=columns.generation[member],
            lag_records=columns.lag[partition] if columns.lag is not None and has_lag else None,
            weight=columns.weight[partition]
            if columns.weight is not None and said.has_weight
            else None,
            racks=Racks.named(said.racks or [None] * members, said.replicas or [None] * partitions)
            if said.racks or said.replicas
            else None,
            offsets=offsets.of(partition, topic)
            if offsets is not None and said.has_offsets
            else None,
            raw_claims=columns.claims_of(number, claim) if columns.disputed[number] else None,
            absent_topics=said.absent_topics,
            absent_subscriptions=said.absent_subscriptions,
            details=said.details,
            assumed=reset_noted(said.assumed, int(columns.latest_assumed[number])),
            captured_at=said.captured_at,
            auto_offset_reset=said.auto_offset_reset,
        )


def _from(first: int, column: Int32) -> Int32:
    """Return indices as they are from a first one on; what is below 0 means nobody and stays."""
    return frozen(np.where(column < 0, NOBODY, column - np.int32(first))) if first else column


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
