"""Drawing: a figure on a page, and its data as CSV."""

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
    """A figure as SVG, with a text for readers who do not see it, and its data as CSV if any."""

    title: str
    alt: str
    svg: str
    data: str = ""


def drawn(chart: alt.Chart, title: str, told: str, data: str = "") -> Drawing:
    """Return a chart as a figure of a page, which fits a phone and has the page's background."""
    import vl_convert

    from compare.figures import themed

    small = chart.properties(width=WIDTH, height=HEIGHT, title="")
    spec = themed(small, background="transparent").to_dict()
    # A longer label would make the figure wider than a phone, or its letters too small.
    spec["config"]["legend"] |= {"labelLimit": WIDTH - 40, "columns": 1}
    return Drawing(title, told, vl_convert.vegalite_to_svg(spec, allowed_base_urls=[]), data)


# A spreadsheet takes a cell that begins with one of these for a formula.
FORMULA = ("=", "+", "-", "@", "\t", "\r")


def as_csv(heads: Sequence[str], rows: Iterable[Iterable[object]]) -> str:
    """Return rows with a heading as CSV; None is empty.

    A text that a spreadsheet would take for a formula gets an apostrophe in front.
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
