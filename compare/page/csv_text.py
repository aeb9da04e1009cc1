"""CSV: rows under their heads as text."""

from __future__ import annotations

import csv
from io import StringIO
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

# What a spreadsheet takes for a formula where a cell begins with it.
FORMULA = ("=", "+", "-", "@", "\t", "\r")


def as_csv(heads: Sequence[str], rows: Iterable[Iterable[object]]) -> str:
    """Return rows under their heads as CSV; what is not there is empty.

    A text that a spreadsheet would take for a formula has an apostrophe before it.
    """
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(heads)
    writer.writerows([_cell(cell) for cell in row] for row in rows)
    return text.getvalue()


def _cell(value: object) -> object:
    if isinstance(value, str) and value.startswith(FORMULA):
        return f"'{value}"
    return value
