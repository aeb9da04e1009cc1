"""Rows: the table of a figure, whose columns are checked when they are read."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias, cast

import numpy as np

from groups.errors import BadInput

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

Record: TypeAlias = dict[str, object]
Table: TypeAlias = "pd.DataFrame | pa.Table | Iterable[Mapping[str, object]]"


def greatest_first(sizes: Mapping[str, float], most: int | None = None) -> list[str]:
    """Return names by size, greatest first, then by name; at most `most` of them."""
    return sorted(sizes, key=lambda name: (-sizes[name], name))[:most]


class Rows:
    """The rows of a table.

    Parameters
    ----------
    figure : name of the figure, for messages
    table : a DataFrame, an Arrow table or records

    Raises
    ------
    BadInput
        If there is no row. When a column is read: if it is missing, or a value has a wrong type.
    """

    def __init__(self, figure: str, table: Table) -> None:
        self._figure = figure
        self._rows = records(figure, table)
        if not self._rows:
            raise BadInput(f"{figure}: no rows, there is nothing to draw")

    def __len__(self) -> int:
        return len(self._rows)

    def has(self, column: str) -> bool:
        """Return whether some row has a value in this column."""
        return any(row.get(column) is not None for row in self._rows)

    def texts(self, column: str) -> list[str]:
        """Return a column of texts, with characters that are not printable escaped."""
        return [self._text(i, column, value) for i, value in self._column(column)]

    def texts_or_none(self, column: str) -> list[str | None]:
        """Return a column of texts or None."""
        found = self._column(column)
        return [None if value is None else self._text(i, column, value) for i, value in found]

    def times(self, column: str) -> list[str]:
        """Return a column of times as ISO 8601 texts; it may hold datetimes."""
        return [self._time(i, column, value) for i, value in self._column(column)]

    def numbers(
        self, column: str, *, above: float | None = None, default: float | None = None
    ) -> list[float]:
        """Return a column of numbers of 0 or more, or of more than `above`.

        Parameters
        ----------
        default : the value of every row if no row has one; None: the column is required
        """
        if default is not None and not self.has(column):
            return [default] * len(self)
        return [self._number(i, column, value, above) for i, value in self._column(column)]

    def numbers_or_none(self, column: str, *, above: float | None = None) -> list[float | None]:
        """Return a column of numbers or None."""
        return [
            None if value is None else self._number(i, column, value, above)
            for i, value in self._column(column)
        ]

    def truths(self, column: str, *, default: bool | None = None) -> list[bool]:
        """Return a column of bools; `default` as in :meth:`numbers`."""
        if default is not None and not self.has(column):
            return [default] * len(self)
        return [self._truth(i, column, value) for i, value in self._column(column)]

    def _column(self, column: str) -> list[tuple[int, object]]:
        if not any(column in row for row in self._rows):
            there = ", ".join(map(str, self._rows[0]))
            raise BadInput(f"{self._figure}: no column {column!r}, there are: {there}")
        return [(i, row.get(column)) for i, row in enumerate(self._rows)]

    def _text(self, row: int, column: str, value: object) -> str:
        if not isinstance(value, str):
            self._refuse(row, column, value, "a text")
        # A line end in a name would break the expressions by which Vega sorts.
        return "".join(c if c.isprintable() else repr(c)[1:-1] for c in value)

    def _truth(self, row: int, column: str, value: object) -> bool:
        if isinstance(value, bool):
            return value
        return self._refuse(row, column, value, "true or false")

    def _number(self, row: int, column: str, value: object, above: float | None) -> float:
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            fits = value >= 0 if above is None else value > above
            if fits and math.isfinite(value):
                return value
        least = "0 or more" if above is None else f"more than {above:g}"
        return self._refuse(row, column, value, f"a number of {least}")

    def _time(self, row: int, column: str, value: object) -> str:
        text = value.isoformat() if isinstance(value, datetime) else value
        try:
            return datetime.fromisoformat(str(text)).isoformat()
        except ValueError:
            return self._refuse(row, column, value, "a time as in 2026-11-20T10:00:00Z")

    def _refuse(self, row: int, column: str, value: object, expected: str) -> NoReturn:
        raise BadInput(f"{self._figure}: row {row}: {column}: {value!r}, expected {expected}")


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
