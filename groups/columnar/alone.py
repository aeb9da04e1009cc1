"""Alone: the group of one row of many that were checked side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from groups.arrays import NO_GENERATION, UNKNOWN, frozen
from groups.columnar.plain_rest import said_in
from groups.group import Group

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa

    from groups.columnar.lists import Lists
    from groups.columns.member_details import MemberDetails
    from groups.columns.offsets import Offsets


def valid_group(rows: pa.RecordBatch, lists: Mapping[str, Lists], row: int) -> Group:
    """Make the group of a row that is known to hold one, and whose rest is plain.

    Parameters
    ----------
    lists : the columns of the rows that are lists
    """

    def copied(name: str) -> Any:
        column = lists[name]
        return frozen(column.at(row).copy()) if column.given[row] else None

    def text(name: str) -> str | None:
        found: str | None = rows.column(name)[row].as_py()
        return found

    topics = tuple(lists["topics"].at(row).to_pylist())
    members = tuple(lists["members"].at(row).to_pylist())
    partitions, known, born = map(copied, ("partitions", "subscription_known", "generation"))
    lag, rest = copied("lag"), text("rest")
    offsets: Offsets | None = None
    details: tuple[MemberDetails, ...] = ()
    if rest is not None:
        offsets, details = said_in(rest, topics, partitions, members)
        if offsets is not None and lag is None:
            lag = frozen(np.full(int(partitions.sum()), UNKNOWN))
    name, assumed = text("group"), lists["assumed"]
    assert name is not None
    return Group.of_valid(
        {
            "name": name,
            "topics": topics,
            "partitions": partitions,
            "members": members,
            "subscription_indptr": copied("subscription_indptr"),
            "subscription_topics": copied("subscription_topics"),
            "subscription_row": copied("subscription_row"),
            "subscription_known": frozen(np.ones(len(members), bool)) if known is None else known,
            "owner": copied("owner"),
            "generation": frozen(np.full(len(members), NO_GENERATION)) if born is None else born,
            "lag_records": lag,
            "weight": copied("weight"),
            "racks": None,
            "offsets": offsets,
            "raw_claims": None,
            "absent_topics": (),
            "absent_subscriptions": (),
            "details": details,
            "assumed": tuple(assumed.at(row).to_pylist()),
            "captured_at": text("captured_at"),
            "auto_offset_reset": text("auto_offset_reset"),
        }
    )
