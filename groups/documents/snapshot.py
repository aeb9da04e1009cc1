"""From a document to the columns of a group."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import accumulate, chain
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np
from msgspec import UNSET, MsgspecError
from msgspec.json import decode as decoded

from groups.arrays import NO_GENERATION, check_total, frozen
from groups.columns.offsets import latest_assumed, reset_noted
from groups.columns.racks import Racks
from groups.columns.subscriptions import Subscriptions
from groups.documents.assay_group import Document, of_text, told
from groups.documents.json_files import split_documents
from groups.documents.members import (
    NO_DETAILS,
    claims_of,
    details_of,
    index_of,
    rows_of,
    undoubted_owner,
)
from groups.documents.texts import named, read_bytes
from groups.documents.topics import lag_of, offsets_of, replicas_of, topics_of, weights_of
from groups.errors import BadInput

if TYPE_CHECKING:
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
    names, members = sorted(document.topics), sorted(document.members)
    topics = topics_of(document.topics, names)
    check_total(topic.partitions for topic in topics)
    partitions = frozen(np.array([topic.partitions for topic in topics], np.int64))
    said = [document.members[name] for name in members]
    listed = [told(member.subscription) for member in said]
    owned = [told(member.owned) or {} for member in said]
    index, absent = index_of(names, listed, owned)
    rows, row = rows_of(listed, index, members)
    others: list[tuple[int, int]] = []
    if absent:
        reads = [[t - len(names) for t in one if t >= len(names)] for one in rows]
        others = [(member, topic) for member, at in enumerate(row) for topic in reads[at]]
        number: dict[tuple[int, ...], int] = {}
        there = [tuple(t for t in one if t < len(names)) for one in rows]
        row = [number.setdefault(there[at], len(number)) for at in row]
        rows = list(number)
    known = [topics is not None for topics in listed]
    subscriptions = Subscriptions.of_valid(
        frozen(np.array(list(accumulate(map(len, rows), initial=0)), np.int64)),
        frozen(np.array(list(chain.from_iterable(rows)), np.int32)),
        frozen(np.array(row, np.int32)),
        frozen(np.array(known, bool)),
        len(names),
    )
    born = [told(member.generation) for member in said]
    generation = frozen(np.array([NO_GENERATION if g is None else g for g in born], np.int64))
    first = list(accumulate((topic.partitions for topic in topics), initial=0))
    details = tuple(details_of(m, f"members.{n}") for m, n in zip(said, members, strict=True))
    claims = None
    owner = undoubted_owner(owned, index, first, rows, row) if all(known) else None
    if owner is None:
        claims = claims_of(owned, index, members)
        owner = claims.valid_owner(generation, partitions, subscriptions)
    offsets, reset = offsets_of(topics), told(document.auto_offset_reset)
    in_racks, racks = [told(member.rack) for member in said], None
    if any(in_racks) or any(topic.racks is not UNSET for topic in topics):
        racks = Racks.named(in_racks, replicas_of(topics))
    return Snapshot(
        name=document.group,
        topics=tuple(names),
        partitions=partitions,
        members=tuple(members),
        subscription_indptr=subscriptions.indptr,
        subscription_topics=subscriptions.listed,
        subscription_row=subscriptions.row,
        subscription_known=subscriptions.known,
        owner=owner,
        generation=generation,
        lag_records=lag_of(topics, offsets, reset),
        weight=weights_of(topics),
        racks=racks,
        offsets=offsets,
        raw_claims=claims,
        absent_topics=absent,
        absent_subscriptions=tuple(others),
        details=details if any(one is not NO_DETAILS for one in details) else (),
        assumed=reset_noted(
            told(document.assumed) or (), latest_assumed(offsets, reset, partitions)
        ),
        captured_at=told(document.captured_at),
        auto_offset_reset=reset,
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
