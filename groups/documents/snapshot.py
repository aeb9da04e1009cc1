"""From a document to the columns of a group."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NotRequired, TypedDict

from msgspec import MsgspecError
from msgspec.json import decode as decoded

from groups.columns.offsets import reset_noted
from groups.columns.racks import Racks
from groups.documents.assay_group import Document, of_text, told
from groups.documents.json_files import split_documents
from groups.documents.side_by_side import Snapshots
from groups.documents.texts import named, read_bytes
from groups.errors import BadInput

if TYPE_CHECKING:
    from pathlib import Path

    from groups.arrays import Bools, Int32, Int64
    from groups.columns.claims import Claims
    from groups.columns.member_details import MemberDetails
    from groups.columns.offsets import Offsets
    from groups.columns.subscriptions import Subscriptions


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
    columns = found.columns()
    (said,) = found.said
    subscriptions = columns.subscriptions
    return Snapshot(
        name=said.group,
        topics=tuple(found.topics),
        partitions=columns.partitions,
        members=tuple(found.members),
        subscription_indptr=subscriptions.indptr,
        subscription_topics=subscriptions.listed,
        subscription_row=subscriptions.row,
        subscription_known=subscriptions.known,
        subscriptions=subscriptions,
        owner=columns.owner,
        generation=columns.generation,
        lag_records=columns.lag if said.has_lag or said.has_offsets else None,
        weight=columns.weight if said.has_weight else None,
        racks=Racks.named(
            said.racks or [None] * len(found.members),
            said.replicas or [None] * len(columns.owner),
        )
        if said.racks or said.replicas
        else None,
        offsets=columns.offsets,
        raw_claims=columns.claims if columns.disputed[0] else None,
        absent_topics=said.absent_topics,
        absent_subscriptions=said.absent_subscriptions,
        details=said.details,
        assumed=reset_noted(said.assumed, int(columns.latest_assumed[0])),
        captured_at=said.captured_at,
        auto_offset_reset=said.auto_offset_reset,
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
