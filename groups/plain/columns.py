"""Columns of a plain snapshot, as a group keeps them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from groups.arrays import NO_GENERATION, UNKNOWN, frozen
from groups.columns.claims import Claims
from groups.columns.member_details import MemberDetails
from groups.columns.offsets import Offsets

if TYPE_CHECKING:
    from collections.abc import Sequence

    from groups.arrays import Int64
    from groups.documents.snapshot import Snapshot
    from groups.plain.lists import Plain
    from groups.plain.topics import Log

_NO_DETAILS = MemberDetails()


def snapshot_of(found: Plain) -> Snapshot:
    """Return the columns of a group, as it keeps them: they obey every rule of one already."""
    partitions = frozen(np.array(found.partitions, np.int64))
    owner = frozen(np.array(found.owner, np.int32))
    members = len(found.members)
    indptr = frozen(np.array(found.indptr, np.int64))
    listed = frozen(np.array(found.listed, np.int32))
    row = frozen(np.array(found.row, np.int32))
    known = frozen(np.ones(members, bool) if found.known is None else np.array(found.known, bool))
    born = found.generation
    held = (owner >= 0).nonzero()[0]
    held = held[owner[held].argsort(kind="stable")]
    topic = np.arange(len(partitions), dtype=np.int32).repeat(partitions)[held]
    number = held - (partitions.cumsum() - partitions)[topic]
    return {
        "name": found.name,
        "topics": tuple(found.topics),
        "partitions": partitions,
        "members": tuple(found.members),
        "subscription_indptr": indptr,
        "subscription_topics": listed,
        "subscription_row": row,
        "subscription_known": known,
        "owner": owner,
        "generation": frozen(
            np.full(members, NO_GENERATION) if born is None else np.array(born, np.int64)
        ),
        "lag_records": _column(found.lag),
        "weight": _column(found.weight),
        "racks": None,
        "offsets": None if found.logs is None else _offsets(found.logs, found.partitions),
        "raw_claims": Claims.ascending(frozen(owner[held]), frozen(topic), frozen(number)),
        "absent_topics": (),
        "absent_subscriptions": (),
        "details": tuple(found.details or (_NO_DETAILS,) * members),
        "assumed": found.assumed,
        "captured_at": found.captured_at,
        "auto_offset_reset": found.reset,
    }


def _column(values: list[int] | None) -> Int64 | None:
    return None if values is None else frozen(np.array(values, np.int64))


def _offsets(logs: Sequence[Log | None], partitions: Sequence[int]) -> Offsets:
    columns: tuple[list[int], list[int], list[int]] = [], [], []
    for log, count in zip(logs, partitions, strict=True):
        for column, values in zip(columns, log or ([UNKNOWN] * count,) * 3, strict=True):
            column += values
    beginning, end, committed = (np.array(values, np.int64) for values in columns)
    return Offsets(beginning, end, committed, np.array([log is not None for log in logs], bool))
