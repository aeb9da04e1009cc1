"""Rows: the table of a figure, checked column by column."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from datetime import datetime
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, cast

import numpy as np

from groups.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd
    import pyarrow as pa

Record: TypeAlias = dict[str, Any]
Table: TypeAlias = "pd.DataFrame | pa.Table | Iterable[Mapping[str, object]]"


class Column(NamedTuple):
    """What a column of a figure's table holds.

    Attributes
    ----------
    read : returns a value as it is drawn, or raises ValueError if it is of another kind
    expected : the kind of its values, for messages
    has_none : whether a value may be None
    is_optional, default : whether a table may lack it, and the value of every row then
    """

    read: Callable[[Any], object]
    expected: str
    has_none: bool = False
    is_optional: bool = False
    default: object = None

    def or_none(self) -> Column:
        """Return the column whose values may be None."""
        return self._replace(has_none=True)

    def unless_there(self, default: object) -> Column:
        """Return the column that a table may lack, with the value of every row then."""
        return self._replace(is_optional=True, default=default)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError
    # A line end in a name would break the expressions by which Vega sorts.
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in value)


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
        raise ValueError
    return value


def _positive(value: object) -> float:
    if not (number := _number(value)):
        raise ValueError
    return number


def _truth(value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueError
    return value


def _time(value: object) -> str:
    text = value.isoformat() if isinstance(value, datetime) else str(value)
    return datetime.fromisoformat(text).isoformat()


TEXT = Column(_text, "a text")
NUMBER = Column(_number, "a number of 0 or more")
POSITIVE = Column(_positive, "a number of more than 0")
TRUTH = Column(_truth, "true or false")
TIME = Column(_time, "a time as in 2026-11-20T10:00:00Z")


def checked(figure: str, table: Table, columns: Mapping[str, Column]) -> list[Record]:
    """Return the rows of a table with these columns, as records of plain Python values.

    Parameters
    ----------
    figure : name of the figure, for messages
    table : a DataFrame, an Arrow table or records

    Raises
    ------
    BadInput
        If there is no row, a column is missing, or a value is of another kind.
    """
    rows = records(figure, table)
    if not rows:
        raise BadInput(f"{figure}: no rows, there is nothing to draw")
    found: list[Record] = [{} for _ in rows]
    for name, column in columns.items():
        given = [row.get(name) for row in rows]
        if column.is_optional and all(value is None for value in given):
            found = [row | {name: column.default} for row in found]
            continue
        if not any(name in row for row in rows):
            there = ", ".join(map(str, rows[0]))
            raise BadInput(f"{figure}: no column {name!r}, there are: {there}")
        for number, value in enumerate(given):
            try:
                is_none = value is None and column.has_none
                found[number][name] = None if is_none else column.read(value)
            except ValueError:
                message = f"{figure}: row {number}: {name}: {value!r}, expected {column.expected}"
                raise BadInput(message) from None
    return found


def summed(rows: Iterable[Record], of: str, *by: str) -> dict[Any, float]:
    """Return the sum of a column for each value of another one, or tuple of values of several."""
    key = itemgetter(*by)
    found: dict[Any, float] = {}
    for row in rows:
        found[key(row)] = found.get(key(row), 0) + row[of]
    return found


def distinct(rows: Iterable[Record], column: str) -> list[Any]:
    """Return the values of a column, each once, in the order of their first rows."""
    return list(dict.fromkeys(row[column] for row in rows))


def greatest_first(sizes: Mapping[str, float], most: int | None = None) -> list[str]:
    """Return names by size, greatest first, then by name; at most `most` of them."""
    return sorted(sizes, key=lambda name: (-sizes[name], name))[:most]


def records(figure: str, table: Table) -> list[Record]:
    """Return records of plain Python values; NaN is None.

    Raises
    ------
    BadInput
        If it is neither a DataFrame nor an Arrow table nor records.
    """
    expected, rows = "expected a DataFrame, an Arrow table or records", cast("Any", table)
    if hasattr(table, "iterrows"):
        rows = rows.astype(object).where(rows.notna(), None).to_dict("records")
    elif hasattr(table, "to_pylist"):
        rows = rows.to_pylist()
    elif not isinstance(table, Iterable):
        raise BadInput(f"{figure}: {type(table).__name__}, {expected}")
    found: list[Record] = []
    for row in rows:
        if not isinstance(row, Mapping):
            raise BadInput(f"{figure}: a row is of type {type(row).__name__}, {expected}")
        found.append({str(name): _plain(value) for name, value in row.items()})
    return found


def _plain(value: object) -> object:
    """Return a NumPy scalar as a Python value, and None for NaN."""
    plain = value.item() if isinstance(value, np.generic) else value
    return None if isinstance(plain, float) and math.isnan(plain) else plain
