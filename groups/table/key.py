"""Key: the content hash of a group's row.

Rows that other programs wrote are brought into the canonical form that `assay` writes, so that one
group has one key.
"""

from __future__ import annotations

from hashlib import sha256
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec.json import encode

from groups.arrays import UNKNOWN, any_in_parts
from groups.table.batch import RARE, Rows, side_by_side
from groups.table.layout import LAYOUT, NESTED, SAME_AS_NULL, BadRow, in_layout
from groups.table.rows import batch_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    from groups.arrays import Bools, Int32, Int64
    from groups.columns.lists import Lists


HEXADECIMAL_DIGITS = 32


def keys_of(rows: pa.RecordBatch) -> list[str]:
    """Return the key of each row: 32 hexadecimal digits.

    It is the digest of the row's columns as bytes, each with its length, and of nested columns as
    JSON. It does not depend on the batch or the row's place in it, nor on whether an unknown
    column is null or a list of unknown values. Rows that other programs wrote must be made
    :func:`groups.table.key.canonical` first.

    Raises
    ------
    BadInput
        If a column of the layout is missing or of another kind.
    """
    rows = in_layout(rows)
    if not len(rows):
        return []
    flat = [name for name in LAYOUT.names if name not in NESTED]
    parts = [part for name in flat for part in _parts(rows.column(name), name)]
    parts += _parts(_nested(rows), "nested")
    lengths = np.stack([part.length for part in parts], axis=1).astype("<i8")
    width = lengths.itemsize * lengths.shape[1]
    beginnings = memoryview(lengths.tobytes())
    texts = [
        [beginnings[start : start + width] for start in range(0, len(beginnings), width)],
        *(part.texts() for part in parts if (part.length > 0).any()),
    ]
    return [
        sha256(b"".join(of_row)).hexdigest()[:HEXADECIMAL_DIGITS]
        for of_row in zip(*texts, strict=True)
    ]


class _Part(NamedTuple):
    """A column, or a part of it, as bytes.

    Attributes
    ----------
    length : (rows,) int64, how many values each row has, -1 for null
    data : the values of all rows
    ends : (rows + 1,) int64, where each row begins and ends in `data`
    """

    length: Int64
    data: memoryview
    ends: Int64

    def texts(self) -> list[memoryview]:
        """Return the bytes of each row, none for a null."""
        data = self.data
        return [
            data[start:end] if length > 0 else data[:0]
            for (start, end), length in zip(
                pairwise(self.ends.tolist()), self.length.tolist(), strict=True
            )
        ]


def _nested(rows: pa.RecordBatch) -> pa.StringArray:
    """Return the values of each row in nested columns as JSON; null if there are none."""
    there = [name for name in NESTED if rows.column(name).null_count < len(rows)]
    values = [
        {name: value for name, value in row.items() if value is not None}
        for row in rows.select(there).to_pylist()
    ]
    texts = [encode(one, order="sorted").decode() if one else None for one in values]
    return pa.array(texts or [None] * len(rows), pa.string())


def _parts(column: pa.Array, name: str) -> list[_Part]:
    there = column.is_valid().to_numpy(zero_copy_only=False)
    if pa.types.is_string(column.type):
        ends = _ends(column)
        return [_Part(np.where(there, np.diff(ends), UNKNOWN), _characters(column), ends)]
    ends, values = column.offsets.to_numpy().astype(np.int64), column.values
    if pa.types.is_string(values.type):
        length = np.where(there, np.diff(ends), 0)
        letters = _ends(values)
        each = np.diff(letters).astype("<i8")
        return [
            _Part(length, _bytes(each), ends * each.itemsize),
            _Part(length, _characters(values), letters[ends]),
        ]
    flat = values.to_numpy(zero_copy_only=False)
    length = np.diff(ends)
    if name in SAME_AS_NULL:
        length = np.where(there & any_in_parts(flat != SAME_AS_NULL[name], ends), length, UNKNOWN)
    return [_Part(length, _bytes(flat), ends * flat.itemsize)]


def _bytes(flat: npt.NDArray[Any]) -> memoryview:
    return memoryview(np.ascontiguousarray(flat).view(np.uint8).data)


def _ends(texts: pa.StringArray) -> Int64:
    """(texts + 1,) int64: where each text begins and ends among the bytes of all."""
    _, offsets, _ = texts.buffers()
    if offsets is None or not offsets.size:
        return np.zeros(len(texts) + 1, np.int64)
    found = np.frombuffer(offsets, np.int32)
    return found[texts.offset : texts.offset + len(texts) + 1].astype(np.int64)


def _characters(texts: pa.StringArray) -> memoryview:
    data = texts.buffers()[2]
    return memoryview(b"" if data is None else data)


def canonical(given: pa.RecordBatch) -> tuple[pa.RecordBatch, Int64, list[BadRow]]:
    """Return the rows that hold groups as :func:`groups.table.rows.rows_of` writes them.

    Returns
    -------
    The rows; their indices among those given, (rows,) int64; and the reasons for other rows.

    Raises
    ------
    BadInput
        If a column is missing or of another type, or the groups together have more partitions
        than are supported.
    """
    good, failures = side_by_side(given)
    rows = pa.RecordBatch.from_arrays(
        [_with_nulls(good, field.name) for field in LAYOUT], schema=LAYOUT
    )
    rebuild = _rows_not_canonical(good.lists)
    for name in RARE & good.nested.keys():
        rebuild |= good.rows.column(name).is_valid().to_numpy(zero_copy_only=False)
    for row, details in enumerate(good.nested.get("details", ())):
        if details is not None:
            # They should be null, or have targets, whose order may not be canonical.
            says_nothing = good.racks_and_details[row] == (None, ())
            rebuild[row] |= says_nothing or any(one["target"] for one in details)
    if "offsets.given" in good.lists:
        logs = good.lists["offsets.given"]
        rebuild |= logs.given & ~logs.rows_with(logs.values)
    if rebuild.any():
        made = batch_of([good.alone(row) for row in np.flatnonzero(rebuild).tolist()])
        from_where = np.arange(len(rows))
        from_where[rebuild] = len(rows) + np.arange(len(made))
        rows = pa.concat_batches([rows, made]).take(from_where)
    return rows, good.place, failures


def _with_nulls(good: Rows, name: str) -> pa.Array:
    column = good.rows.column(name)
    if name == "assumed" and column.null_count:
        return pc.coalesce(column, pa.scalar([], column.type))
    if name not in SAME_AS_NULL:
        return column
    lists = good.lists[name]
    says = lists.null_if_all(SAME_AS_NULL[name]).given
    return pc.if_else(pa.array(says), column, pa.scalar(None, column.type))


def _rows_not_canonical(lists: Mapping[str, Lists]) -> Bools:
    """(rows,) bool: whether topic lists repeat, or are not in the order of their first readers."""
    indptr, listed, row = (lists[f"subscription_{name}"] for name in ("indptr", "topics", "row"))
    # In canonical order, a list at its first reader is one more than the greatest before it.
    through = row.shifted(indptr.start[:-1] - np.arange(len(indptr.given)))
    greatest = np.maximum.accumulate(np.concatenate(([-1], through)))[:-1]
    found = row.rows_with(through > greatest + 1)
    for at in np.flatnonzero(indptr.length > 2).tolist():
        start = listed.start[at]
        ends = start + indptr.values[indptr.start[at] : indptr.start[at + 1]]
        found[at] |= _has_equal_lists(listed.values, ends)
    return found


def _has_equal_lists(listed: Int32, ends: Int64) -> bool:
    """Return whether two of the lists that the ends delimit are equal."""
    size, data = listed.itemsize, listed.data.cast("B")
    lists = [bytes(data[a * size : b * size]) for a, b in pairwise(ends.tolist())]
    return len({*lists}) < len(lists)
