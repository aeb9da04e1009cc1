"""Theme: colours, font, the light and the dark look of figures, and their export as SVG and PNG.

The export needs no browser and no network.
"""

from __future__ import annotations

from pathlib import Path

import altair as alt
import vl_convert

from groups.errors import BadInput, writing_whole
from groups.tiers import TIERS, tier_named

PIXELS_PER_POINT = 2.0
# These three have a contrast of more than 3 with the light and the dark background.
BLUE = "#3b82c4"
ORANGE = "#d9730d"
GREY = "#7d8896"
PALE_BLUE = "#9dc3e6"
PALE_ORANGE = "#f3bf8d"
PALE_GREY = "#c5ccd4"
WIDTH = 560
FONT = "system-ui, -apple-system, 'Segoe UI', 'Liberation Sans', 'DejaVu Sans', sans-serif"
# Light and dark shades alternate, so that neighbours also differ in greyscale.
SHADES = (BLUE, PALE_BLUE, ORANGE, PALE_ORANGE, GREY, PALE_GREY, "#1f5f9e", "#a85408")
# Labels of axes: 900, 9,000, 12k, 1.2M.
SHORT = "datum.value < 10000 ? format(datum.value, ',') : format(datum.value, '~s')"
LIGHT = {
    "background": "#ffffff",
    "ink": "#1d2733",
    "soft": "#56616d",
    "line": "#dde2e8",
    "least": "#eef4fa",
    "most": "#7fb2e0",
}
DARK = {
    "background": "#14181d",
    "ink": "#e8ecf0",
    "soft": "#a5b0bb",
    "line": "#323a44",
    "least": "#1b2530",
    "most": "#2f6cab",
}


def with_unit(name: str, of: str = "") -> str:
    """Return the title of an axis: a tier, a qualifier, and the unit.

    Examples
    --------
    >>> with_unit("moves"), with_unit("peak_lag", " above the optimum")
    ('moves, in partitions', 'peak_lag above the optimum, in records')
    """
    tier = TIERS.get(tier_named(name))
    return f"{name}{of}" if tier is None else f"{name}{of}, in {tier.unit}"


def themed(chart: alt.Chart, *, dark: bool = False, background: str | None = None) -> alt.Chart:
    """Return the chart with the light or the dark look; every figure comes with the light one.

    Parameters
    ----------
    background : a colour, or ``transparent``; None: the look's own
    """
    look = DARK if dark else LIGHT
    ink, soft, line = look["ink"], look["soft"], look["line"]
    titles = {"labelColor": soft, "titleColor": ink, "titleFontWeight": "normal"}
    return chart.configure(
        background=background or look["background"],
        font=FONT,
        padding=8,
        axis={
            **titles,
            "domainColor": line,
            "gridColor": line,
            "tickColor": line,
            "labelFontSize": 12,
            "titleFontSize": 12,
            "labelLimit": 170,
        },
        header={**titles, "labelColor": ink, "labelFontSize": 13, "titleFontSize": 12},
        legend={
            **titles,
            "labelColor": ink,
            "labelFontSize": 12,
            "titleFontSize": 12,
            "labelLimit": 420,
            "orient": "bottom",
            "direction": "horizontal",
            "symbolType": "square",
        },
        mark={"color": BLUE},
        range={
            "category": list(SHADES),
            "heatmap": [look["least"], look["most"]],
            "ramp": [look["least"], look["most"]],
        },
        rule={"color": ink},
        text={"color": ink, "fontSize": 12},
        title={
            "color": ink,
            "subtitleColor": soft,
            "anchor": "start",
            "fontSize": 13,
            "fontWeight": "normal",
            "subtitleFontSize": 12,
            "offset": 12,
        },
        view={"stroke": None},
    )


def titled(chart: alt.Chart, text: str, *notes: str | None, **more: object) -> alt.Chart:
    """Return a figure in the light look, with a title and the notes below it that are given.

    Parameters
    ----------
    more : further properties, such as its size
    """
    title = alt.TitleParams(text, subtitle=[note for note in notes if note])
    return themed(chart.properties(title=title, **more))


def svg(chart: alt.Chart, *, dark: bool = False, background: str | None = None) -> str:
    """Return a figure as an SVG document.

    Parameters
    ----------
    background : a colour, or ``transparent``; None: that of the light or the dark look
    """
    return str(vl_convert.vegalite_to_svg(_spec(chart, dark, background), allowed_base_urls=[]))


def require_suffix(path: str | Path) -> str:
    """Return the suffix of a figure's file.

    Raises
    ------
    BadInput
        If it is neither ``.svg`` nor ``.png``.
    """
    kind = Path(path).suffix.lower()
    if kind not in (".svg", ".png"):
        raise BadInput(f"{path}: expected a name that ends in .svg or .png")
    return kind


def save(
    chart: alt.Chart, path: str | Path, *, dark: bool = False, background: str | None = None
) -> None:
    """Write a figure to a file; its suffix, ``.svg`` or ``.png``, decides the format.

    Parameters
    ----------
    background : a colour, or ``transparent``; None: that of the light or the dark look

    Raises
    ------
    BadInput
        If it has another suffix, or the file cannot be written.
    """
    if require_suffix(path) == ".svg":
        content = svg(chart, dark=dark, background=background).encode()
    else:
        spec = _spec(chart, dark, background)
        content = vl_convert.vegalite_to_png(spec, scale=PIXELS_PER_POINT, allowed_base_urls=[])
    with writing_whole(path) as part:
        part.write_bytes(content)


def _spec(chart: alt.Chart, dark: bool, background: str | None) -> dict[str, object]:
    return dict(themed(chart, dark=dark, background=background).to_dict())
