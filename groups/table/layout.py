"""Layout: the Arrow schema of groups, one row per group, with what each column holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa

from groups.arrays import NO_GENERATION, UNKNOWN
from groups.errors import BadInput
from groups.times import in_utc

if TYPE_CHECKING:
    from collections.abc import Iterable

_DETAILS = pa.struct(
    [
        ("rack", pa.string()),
        ("instance_id", pa.string()),
        ("client_id", pa.string()),
        ("host", pa.string()),
        ("assignors", pa.list_(pa.string())),
        ("capacity", pa.int64()),
        ("epoch", pa.int64()),
        (
            "target",
            pa.list_(pa.struct([("topic", pa.string()), ("partitions", pa.list_(pa.int64()))])),
        ),
        ("subscription_regex", pa.string()),
    ]
)
_CLAIMS = pa.struct(
    [
        ("member", pa.list_(pa.int32())),
        ("topic", pa.list_(pa.int32())),
        ("partition", pa.list_(pa.int64())),
    ]
)
# Columns of all partitions, -1 unknown; `given` is of each topic.
_OFFSETS = pa.struct(
    [
        ("beginning", pa.list_(pa.int64())),
        ("end", pa.list_(pa.int64())),
        ("committed", pa.list_(pa.int64())),
        ("given", pa.list_(pa.bool_())),
    ]
)
# Lists hold no nulls unless the comment says so. "All partitions" are numbered topic by topic, as
# in `Group`, whose attributes of the same names say more.
LAYOUT = pa.schema(
    [
        pa.field("group", pa.string(), nullable=False),
        ("captured_at", pa.string()),
        ("auto_offset_reset", pa.string()),
        ("assumed", pa.list_(pa.string())),
        ("topics", pa.list_(pa.string())),  # ascending
        ("partitions", pa.list_(pa.int64())),  # of each topic
        ("members", pa.list_(pa.string())),  # ascending
        # CSR of the topic lists that members read, numbered by the first member that reads each
        ("subscription_indptr", pa.list_(pa.int64())),
        ("subscription_topics", pa.list_(pa.int32())),
        ("subscription_row", pa.list_(pa.int32())),  # of each member
        ("subscription_known", pa.list_(pa.bool_())),  # of each member; null: all are
        ("owner", pa.list_(pa.int32())),  # valid owner of all partitions, -1 nobody
        ("generation", pa.list_(pa.int64())),  # of each member, -1 not given; null: none is
        ("lag", pa.list_(pa.int64())),  # of all partitions, -1 unknown; null: all are
        ("weight", pa.list_(pa.int64())),  # of all partitions, -1 unknown; null: all are
        ("offsets", _OFFSETS),  # null: the lag was given as such
        ("claims", _CLAIMS),  # null: exactly the partitions that members validly own
        ("absent_topics", pa.list_(pa.string())),  # ascending; null: none
        # ascending pairs, of a member and of an absent topic; null: none
        (
            "absent_subscriptions",
            pa.list_(pa.struct([("member", pa.int32()), ("topic", pa.int32())])),
        ),
        # racks of the replicas of all partitions, null where not known; null: nowhere
        ("replicas", pa.list_(pa.list_(pa.string()))),
        ("details", pa.list_(_DETAILS)),  # of each member, null what is not known; null: nothing
    ]
)
# Columns that most groups lack, and that are not lists of numbers per member or partition.
NESTED = tuple(LAYOUT.names[LAYOUT.get_field_index("offsets") :])
MAY_BE_NULL = frozenset(
    {
        "captured_at", "auto_offset_reset", "assumed", "subscription_known", "generation", "lag",
        "weight", *NESTED,
    }
)  # fmt: skip
# A list of only this value means the same as null.
SAME_AS_NULL = {
    "subscription_known": True,
    "generation": NO_GENERATION,
    "lag": UNKNOWN,
    "weight": UNKNOWN,
}


class BadRow(NamedTuple):
    """Why a row holds no valid group; `group` and `captured_at` if the row has them."""

    row: int
    reason: str
    group: str | None
    captured_at: str | None


def in_layout(rows: pa.RecordBatch) -> pa.RecordBatch:
    """Return the columns of the layout with its types; other columns are dropped.

    A column that may be null may be missing. Times are brought to UTC.

    Raises
    ------
    BadInput
        If a column is missing, of another type, or holds values outside its type, or a time is
        none.
    """
    if "rest" in rows.schema.names and "details" not in rows.schema.names:
        raise BadInput(
            "rest: this column is of an earlier version; write the file again from its JSON"
        )
    columns = {field.name: _column(rows, field) for field in LAYOUT}
    times = columns["captured_at"]
    columns["captured_at"] = pa.array(map(in_utc, times.to_pylist()), times.type)
    return pa.RecordBatch.from_arrays([*columns.values()], schema=LAYOUT)


def joined(batches: Iterable[pa.RecordBatch], schema: pa.Schema) -> pa.RecordBatch:
    """Return the batches as one."""
    parts = list(batches)
    if len(parts) == 1:
        return parts[0]
    found = pa.Table.from_batches(parts, schema).combine_chunks().to_batches()
    return found[0] if found else pa.RecordBatch.from_pylist([], schema)


def _column(rows: pa.RecordBatch, field: pa.Field) -> pa.Array:
    if field.name not in rows.schema.names:
        if field.name in MAY_BE_NULL:
            return pa.nulls(len(rows), field.type)
        raise BadInput(f"{field.name}: this column is missing")
    if rows.schema.names.count(field.name) > 1:
        raise BadInput(f"{field.name}: this column is there twice")
    found = rows.column(field.name)
    if not _fits(found.type, field.type):
        raise BadInput(f"{field.name}: {found.type}, expected {field.type}")
    try:
        return _cast(found, field.type)
    except pa.ArrowException:
        # A slice also holds other rows' values, and a null may have some: take drops both.
        found = found.take(np.arange(len(found)))
    try:
        return _cast(found, field.type)
    except pa.ArrowException as error:
        raise BadInput(f"{field.name}: {error}") from None


def _cast(found: pa.Array, kind: pa.DataType) -> pa.Array:
    made = found if found.type == kind else found.cast(kind)
    made.validate(full=True)
    return made


def _fits(found: pa.DataType, wanted: pa.DataType) -> bool:
    """Return whether a type can be cast to another without a change of meaning.

    A struct may lack fields: a file of before a key was added to the format is still read.
    """
    if pa.types.is_dictionary(found):
        return _fits(found.value_type, wanted)
    if pa.types.is_struct(found) and pa.types.is_struct(wanted):
        names = [one.name for one in found]
        return names == [one.name for one in wanted if one.name in names] and all(
            _fits(one.type, wanted.field(one.name).type) for one in found
        )
    if pa.types.is_list(found) or pa.types.is_large_list(found):
        return pa.types.is_list(wanted) and _fits(found.value_type, wanted.value_type)
    return _kind(found) in (_kind(wanted), "null")


def _kind(found: pa.DataType) -> str:
    if pa.types.is_integer(found):
        return "integer"
    if pa.types.is_string(found) or pa.types.is_large_string(found):
        return "string"
    return str(found)
