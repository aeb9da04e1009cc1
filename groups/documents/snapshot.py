"""The versioned snapshot format ``assay-group/1``: from a document to the columns of a group."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np

from groups.arrays import check_total
from groups.columns.claims import BY_CLAIMS
from groups.columns.offsets import latest_assumed, reset_noted
from groups.documents import fields
from groups.documents.json_files import parse_json, read_documents
from groups.documents.members import claims_of, read_member
from groups.documents.texts import named, read_bytes
from groups.documents.topics import lag_of, offsets_of, racks_of, read_topic, weights_of
from groups.errors import BadInput

if TYPE_CHECKING:
    from pathlib import Path

    from groups.arrays import Bools, Int32, Int64
    from groups.columns.claims import Claims
    from groups.columns.member_details import MemberDetails
    from groups.columns.offsets import Offsets
    from groups.columns.racks import Racks

FORMAT = "assay-group/1"
_KEYS = {
    "format", "group", "captured_at", "auto_offset_reset", "assumed", "topics", "members",
}  # fmt: skip


class Snapshot(TypedDict):
    """The columns of a group, under the names that `Group` has; a document tells all of them.

    `owner` is `BY_CLAIMS` where it is for the group to find out.
    """

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
    """Read the one snapshot of a file, ``-`` for standard input.

    Raises
    ------
    BadInput
        Where the file is not exactly one good snapshot; the message names the place.
    """
    name = named(str(path))
    documents = read_documents(read_bytes(path), name)
    place, document = next(documents)
    if isinstance(document, BadInput):
        raise document
    if next(documents, None) is not None:
        raise BadInput(f"{name}: several groups, expected one; add --group NAME")
    try:
        return columns_of(document)
    except BadInput as error:
        raise error.within(place) from None


def columns_of(document: object) -> Snapshot:
    """Return what an ``assay-group/1`` document says, names in ascending order.

    Raises
    ------
    BadInput
        Where a rule of the format is broken; the message names the place.
    """
    found = document.get("format") if isinstance(document, Mapping) else None
    if isinstance(document, Mapping) and "format" in document and found != FORMAT:
        fields.refuse("format", f"{found!r}, expected {FORMAT!r}")
    top = fields.mapping(document, "", allowed=_KEYS, required=("format", "group"))
    name = fields.name(top["group"], "group")
    for key in ("topics", "members"):
        if key not in top:
            fields.refuse("", f"key {key!r} is missing")
    described, described_members = (fields.mapping(top[key], key) for key in ("topics", "members"))
    times = {
        key: None if top.get(key) is None else fields.name(top[key], key)
        for key in ("captured_at", "auto_offset_reset")
    }
    names = tuple(sorted(fields.name(topic, "topics") for topic in described))
    members = tuple(sorted(fields.name(member, "members") for member in described_members))
    topics = [read_topic(described[t], f"topics.{t}") for t in names]
    check_total(topic.partitions for topic in topics)
    said = [read_member(described_members[m], f"members.{m}") for m in members]
    index = {t: i for i, t in enumerate(names)}
    mentioned = {t for m in said for t in (*(m.subscription or ()), *m.owned)}
    absent = tuple(sorted(mentioned - index.keys()))
    index |= {t: len(names) + i for i, t in enumerate(absent)}
    rows = [sorted(index[t] for t in m.subscription or ()) for m in said]
    number: dict[tuple[int, ...], int] = {}
    row = [
        number.setdefault(tuple(t for t in listed if t < len(names)), len(number))
        for listed in rows
    ]
    offsets, reset = offsets_of(topics), times["auto_offset_reset"]
    partitions = np.array([topic.partitions for topic in topics], np.int64)
    assumed = fields.strings(top.get("assumed", []), "assumed", repeats=True)
    return Snapshot(
        name=name,
        topics=names,
        partitions=partitions,
        members=members,
        subscription_indptr=np.cumsum([0, *map(len, number)], dtype=np.int64),
        subscription_topics=np.array(list(chain.from_iterable(number)), np.int32),
        subscription_row=np.array(row, np.int32),
        subscription_known=np.array([m.subscription is not None for m in said], bool),
        owner=BY_CLAIMS,
        generation=np.array([m.generation for m in said], np.int64),
        lag_records=lag_of(topics, offsets, reset),
        weight=weights_of(topics),
        racks=racks_of(topics, [m.rack for m in said]),
        offsets=offsets,
        raw_claims=claims_of([m.owned for m in said], index),
        absent_topics=absent,
        absent_subscriptions=tuple(
            (m, t - len(names)) for m, row in enumerate(rows) for t in row if t >= len(names)
        ),
        details=tuple(m.details for m in said),
        assumed=reset_noted(assumed, latest_assumed(offsets, reset, partitions)),
        captured_at=times["captured_at"],
        auto_offset_reset=reset,
    )


def names_in(content: object) -> tuple[str | None, str | None]:
    """Return the group and the time that a bad snapshot says it is of, where it says them.

    Parameters
    ----------
    content : JSON, or a document
    """
    said: Any = content
    if isinstance(content, (str, bytes)):
        try:
            said = parse_json(content if isinstance(content, str) else content.decode())
        except (BadInput, UnicodeDecodeError):
            return None, None
    if not isinstance(said, Mapping):
        return None, None
    group, time = (
        value if isinstance(value, str) and value else None
        for value in (said.get("group"), said.get("captured_at"))
    )
    return group, time
