"""Rows: groups as rows of the layout, and back."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from groups.arrays import NO_GENERATION
from groups.columnar.layout import LAYOUT, MAY_BE_NULL, BadRow, sifted
from groups.columnar.rest import rest_of, with_rest
from groups.columns.topic_lists import numbered
from groups.errors import BadInput
from groups.group import Group

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from groups.arrays import Int64

Row = dict[str, Any]
_TEXTS = [field.name for field in LAYOUT if field.type == pa.string()]
_LISTS = [field for field in LAYOUT if field.type != pa.string()]


def row_of(group: Group) -> Row:
    """Return the row of a group, the same for any two groups whose documents are the same."""
    if _ascends(group.topics) and _ascends(group.members):
        return _row(group)
    return _row(Group.from_dict(group.to_dict()))


def _row(group: Group) -> Row:
    indptr, listed, row = numbered(
        group.subscription_indptr, group.subscription_topics, group.subscription_row
    )
    lag = group.lag_records
    if group.offsets is not None:
        lag = group.offsets.lag_beside(lag, group.auto_offset_reset, group.partitions)
    born = group.generation
    return {
        "group": group.name,
        "captured_at": group.captured_at,
        "auto_offset_reset": group.auto_offset_reset,
        "assumed": group.assumed,
        "topics": group.topics,
        "partitions": group.partitions,
        "members": group.members,
        "subscription_indptr": indptr,
        "subscription_topics": listed,
        "subscription_row": row,
        "subscription_known": None if group.subscription_known.all() else group.subscription_known,
        "owner": group.owner,
        "generation": born if (born != NO_GENERATION).any() else None,
        "lag": _known(lag),
        "weight": _known(group.weight),
        "rest": rest_of(group),
    }


def batch_of(groups: Sequence[Group]) -> pa.RecordBatch:
    """Return the rows of some groups, in their order."""
    rows = [row_of(group) for group in groups]
    columns = [pa.array([row[field.name] for row in rows], field.type) for field in LAYOUT]
    return pa.RecordBatch.from_arrays(columns, schema=LAYOUT)


def of_row(row: Mapping[str, Any]) -> Group:
    """Return the group of a row.

    Parameters
    ----------
    row : the columns of `LAYOUT`, lists as lists or arrays; others are ignored

    Raises
    ------
    BadInput
        Where a rule is broken; the message names the column.
    """
    given: Row = {name: row.get(name) for name in LAYOUT.names}
    for name, values in given.items():
        if values is None and name not in MAY_BE_NULL:
            raise BadInput(f"{name}: null")
        if isinstance(values, (list, tuple)) and None in values:
            raise BadInput(f"{name}[{values.index(None)}]: null")
    topics, members = tuple(given["topics"]), tuple(given["members"])
    for name, values in (("topics", topics), ("members", members)):
        _require_ascending(values, name)
    born, known = given["generation"], given["subscription_known"]
    group = Group(
        name=given["group"],
        topics=topics,
        partitions=given["partitions"],
        members=members,
        subscription_indptr=given["subscription_indptr"],
        subscription_topics=given["subscription_topics"],
        subscription_row=given["subscription_row"],
        subscription_known=np.ones(len(members), bool) if known is None else known,
        owner=given["owner"],
        generation=np.full(len(members), NO_GENERATION) if born is None else born,
        lag_records=given["lag"],
        weight=given["weight"],
        assumed=() if given["assumed"] is None else tuple(given["assumed"]),
        captured_at=given["captured_at"],
        auto_offset_reset=given["auto_offset_reset"],
    )
    return group if given["rest"] is None else with_rest(group, given["rest"])


def groups_of(rows: pa.RecordBatch) -> Iterator[Group | BadRow]:
    """Yield the group of each row, or why it holds none.

    Raises
    ------
    BadInput
        Where a column of the layout is missing or of another kind.
    """
    typed, place, unfit = sifted(rows)
    bad = {one.row: one for one in unfit}
    texts = {name: typed.column(name).to_pylist() for name in _TEXTS}
    lists = {field.name: _lists(typed.column(field.name)) for field in _LISTS}
    at = dict(zip(place.tolist(), range(len(place)), strict=True))
    for index in range(len(rows)):
        if index in bad:
            yield bad[index]
            continue
        row = {name: values[at[index]] for name, values in (*texts.items(), *lists.items())}
        try:
            yield of_row(row)
        except BadInput as error:
            yield BadRow(index, str(error), row["group"] or None, row["captured_at"] or None)


def _lists(column: pa.ListArray) -> list[Any]:
    """Return the list of each row, None where it is null: an array, of names a list."""
    values = column.values
    if values.null_count or pa.types.is_string(values.type):
        return list(column.to_pylist())
    flat = values.to_numpy(zero_copy_only=False)
    ends = column.offsets.to_numpy().tolist()
    there = column.is_valid().to_pylist()
    return [
        flat[a:b] if is_valid else None
        for (a, b), is_valid in zip(pairwise(ends), there, strict=True)
    ]


def _known(values: Int64 | None) -> Int64 | None:
    return None if values is None or (values < 0).all() else values


def _ascends(names: Sequence[str]) -> bool:
    return all(a < b for a, b in pairwise(names))


def _require_ascending(names: Sequence[str], place: str) -> None:
    for at, (before, name) in enumerate(pairwise(names), start=1):
        if not before < name:
            raise BadInput(f"{place}[{at}]: {name!r} does not come after {before!r}")
