"""Canonical rows: what others wrote, as `assay` writes it, so that one group has one key."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from groups.columnar.layout import LAYOUT, SAYS_NOTHING, BadRow
from groups.columnar.rows import batch_of
from groups.columnar.side_by_side import RARE, Rows, side_by_side

if TYPE_CHECKING:
    from collections.abc import Mapping

    from groups.arrays import Bools, Int64
    from groups.columnar.lists import Lists
    from groups.columnar.rows import Named, Row
    from groups.errors import BadInput


def canonical(given: pa.RecordBatch) -> tuple[pa.RecordBatch, Int64, list[BadRow]]:
    """Return the rows that hold groups as :func:`groups.columnar.rows.rows_of` writes them.

    Returns
    -------
    The rows; their places among those given, (rows,) int64; and why others are not there.

    Raises
    ------
    BadInput
        Where a column is missing or of another kind, or where the groups together have more
        partitions than are supported.
    """
    good, failures = side_by_side(given)
    rows = pa.RecordBatch.from_arrays(
        [_nulls_for_nothing(good, field.name) for field in LAYOUT], schema=LAYOUT
    )
    again = _numbered_otherwise(good.lists)
    for name in RARE & good.nested.keys():
        again |= good.rows.column(name).is_valid().to_numpy(zero_copy_only=False)
    for row, details in enumerate(good.nested.get("details", ())):
        again[row] |= details is not None and _says_otherwise(details, good.said[row])
    if "offsets.given" in good.lists:
        logs = good.lists["offsets.given"]
        again |= logs.given & ~logs.rows_with(logs.values)
    return _replaced(rows, good, np.flatnonzero(again)), good.place, failures


def _replaced(rows: pa.RecordBatch, good: Rows, again: Int64) -> pa.RecordBatch:
    """Return the rows with some of them made again of their groups."""
    if not len(again):
        return rows
    made = batch_of([good.alone(row) for row in again.tolist()])
    from_where = np.arange(len(rows))
    from_where[again] = len(rows) + np.arange(len(again))
    return pa.concat_batches([rows, made]).take(from_where)


def _nulls_for_nothing(good: Rows, name: str) -> pa.Array:
    column = good.rows.column(name)
    if name == "assumed" and column.null_count:
        return pc.coalesce(column, pa.scalar([], column.type))
    if name not in SAYS_NOTHING:
        return column
    lists = good.lists[name]
    says = lists.rows_with(lists.values != SAYS_NOTHING[name])
    if (says == lists.given).all():
        return column
    return pc.if_else(pa.array(says), column, pa.scalar(None, column.type))


def _says_otherwise(details: list[Row], said: Named | BadInput) -> bool:
    """Return whether the details of a row say nothing, or what has no order in some order."""
    return said == (None, ()) or any(one["target"] for one in details)


def _numbered_otherwise(lists: Mapping[str, Lists]) -> Bools:
    """(rows,) bool: whose topic lists may be equal, or not numbered by their first readers."""
    indptr, listed, row = (lists[f"subscription_{name}"] for name in ("indptr", "topics", "row"))
    # Numbered through, a list is one more than the greatest so far where it is first read.
    through = row.shifted(indptr.start[:-1] - np.arange(len(indptr.given)))
    greatest = np.maximum.accumulate(np.concatenate(([-1], through)))[:-1]
    found = row.rows_with(through > greatest + 1)
    several = indptr.length > 2
    if several.any():
        found |= _equal_lists(indptr, listed)
    return found


def _equal_lists(indptr: Lists, listed: Lists) -> Bools:
    """(rows,) bool: in which two lists have the same length and sum of scrambled topics."""
    ends = np.delete(indptr.shifted(listed.start[:-1]), indptr.start[1:] - 1)
    length = np.diff(np.append(ends, len(listed.values)))
    scrambled = listed.values.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    scrambled ^= scrambled >> np.uint64(29)
    scrambled *= np.uint64(0xBF58476D1CE4E5B9)
    until = np.concatenate(([0], np.cumsum(scrambled, dtype=np.uint64)))
    total = until[ends + length] - until[ends]
    group = np.repeat(np.arange(len(indptr.given)), indptr.length - 1)
    order = np.lexsort((total, length, group))
    group, length, total = group[order], length[order], total[order]
    same = (group[1:] == group[:-1]) & (length[1:] == length[:-1]) & (total[1:] == total[:-1])
    found = np.zeros(len(indptr.given), bool)
    found[group[1:][same]] = True
    return found
