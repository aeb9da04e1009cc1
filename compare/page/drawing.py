"""Drawing: a figure on a page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import altair as alt

WIDTH = 340
HEIGHT = 220


@dataclass(frozen=True)
class Drawing:
    """A figure as SVG, what it says without looking, and its data as CSV under a file name."""

    title: str
    alt: str
    svg: str


def drawn(chart: alt.Chart, title: str, told: str) -> Drawing:
    """Return a chart as a figure of a page: no wider than a phone, in the page's own colours."""
    import vl_convert

    from compare.figures import themed

    small = chart.properties(width=WIDTH, height=HEIGHT, title="")
    spec = themed(small, background="transparent").to_dict()
    # A longer label would make the figure wider than a phone, or its letters too small.
    spec["config"]["legend"] |= {"labelLimit": WIDTH - 40, "columns": 1}
    return Drawing(title, told, vl_convert.vegalite_to_svg(spec, allowed_base_urls=[]))
