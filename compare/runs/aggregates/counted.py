"""Counted: how many rows of a portion are alike, as rows of ``aggregates``."""

from __future__ import annotations

import pyarrow as pa

from compare.runs.tables.schemas import TABLES

# What all aggregates of a run have in common is added at its end.
MARKS = ("state", "objective")
SCHEMA = pa.schema([field for field in TABLES["aggregates"] if field.name not in MARKS])
# How rows that are alike become one.
ADDED = {"count": "sum", "total": "sum", "most": "max", "group": "min"}
_COUNTED: list[tuple[str | list[str], str]] = [([], "count_all"), ("group", ADDED["group"])]
_VALUE: list[tuple[str | list[str], str]] = [("value", ADDED["total"]), ("value", ADDED["most"])]


def counted(
    statistic: str,
    rows: pa.Table,
    where: pa.ChunkedArray | pa.Array | None = None,
    *,
    value: pa.ChunkedArray | pa.Array | None = None,
    **of: str | pa.ChunkedArray | pa.Array,
) -> pa.Table:
    """Count the rows of each family that are alike.

    Parameters
    ----------
    rows : with `family` and `group`
    where : whether a row counts: (rows,) bool, null is no
    value : what is added up: (rows,)
    of : columns of the table: what rows are alike in, or one text for all
    """
    table = rows.select(["family", "group"])
    columns = {name: column for name, column in of.items() if not isinstance(column, str)}
    for name, column in columns.items():
        table = table.append_column(name, column)
    if value is not None:
        table = table.append_column("value", value)
    if where is not None:
        table = table.filter(where)
    wanted = _COUNTED if value is None else _COUNTED + _VALUE
    found = table.group_by(["family", *columns]).aggregate(wanted)
    given = {name: found[name] for name in ("family", *columns)}
    given |= {"count": found["count_all"], "group": found["group_min"]}
    if value is not None:
        given |= {"total": found["value_sum"], "most": found["value_max"]}
    texts = {name: text for name, text in of.items() if isinstance(text, str)}
    return as_rows(len(found), given, {"statistic": statistic, **texts})


def as_rows(
    count: int, columns: dict[str, pa.ChunkedArray | pa.Array], texts: dict[str, str]
) -> pa.Table:
    """Return rows of ``aggregates``, null in what is not given."""
    given = {
        **{name: pa.repeat(text, count) for name, text in texts.items()},
        **{name: column.cast(SCHEMA.field(name).type) for name, column in columns.items()},
    }
    every = [given.get(field.name, pa.nulls(count, field.type)) for field in SCHEMA]
    return pa.table(every, schema=SCHEMA)
