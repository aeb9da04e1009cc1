"""Drawing: a figure on a page, and rows under their heads as CSV."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from io import StringIO
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import altair as alt

WIDTH = 340
HEIGHT = 220


@dataclass(frozen=True)
class Drawing:
    """A figure as SVG, what it says without looking, and its data as CSV, if it has its own."""

    title: str
    alt: str
    svg: str
    data: str = ""


def drawn(chart: alt.Chart, title: str, told: str, data: str = "") -> Drawing:
    """Return a chart as a figure of a page: no wider than a phone, in the page's own colours."""
    import vl_convert

    from compare.figures import themed

    small = chart.properties(width=WIDTH, height=HEIGHT, title="")
    spec = themed(small, background="transparent").to_dict()
    # A longer label would make the figure wider than a phone, or its letters too small.
    spec["config"]["legend"] |= {"labelLimit": WIDTH - 40, "columns": 1}
    return Drawing(title, told, vl_convert.vegalite_to_svg(spec, allowed_base_urls=[]), data)


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
