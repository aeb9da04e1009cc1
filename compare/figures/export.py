"""Export: a figure as SVG or PNG, without a browser and without a network."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import vl_convert

from compare.figures.theme import themed
from groups.errors import BadInput

if TYPE_CHECKING:
    import altair as alt

PIXELS_PER_POINT = 2.0


def svg(chart: alt.Chart, *, dark: bool = False, background: str | None = None) -> str:
    """Return a figure as an SVG document.

    Parameters
    ----------
    background : a colour, or ``transparent``; None: that of the light or the dark look
    """
    return str(vl_convert.vegalite_to_svg(_spec(chart, dark, background), allowed_base_urls=[]))


def require_suffix(path: str | Path) -> str:
    """Return how the name of a figure's file ends.

    Raises
    ------
    BadInput
        Where that is neither ``.svg`` nor ``.png``.
    """
    kind = Path(path).suffix.lower()
    if kind not in (".svg", ".png"):
        raise BadInput(f"{path}: expected a name that ends in .svg or .png")
    return kind


def save(
    chart: alt.Chart, path: str | Path, *, dark: bool = False, background: str | None = None
) -> None:
    """Write a figure to a file, as its name ends: ``.svg`` or ``.png``.

    Parameters
    ----------
    background : a colour, or ``transparent``; None: that of the light or the dark look

    Raises
    ------
    BadInput
        Where the name ends otherwise, or the file cannot be written.
    """
    if require_suffix(path) == ".svg":
        content = svg(chart, dark=dark, background=background).encode()
    else:
        spec = _spec(chart, dark, background)
        content = vl_convert.vegalite_to_png(spec, scale=PIXELS_PER_POINT, allowed_base_urls=[])
    try:
        Path(path).write_bytes(content)
    except OSError as error:
        raise BadInput(f"{path}: cannot be written: {error.strerror}") from None


def _spec(chart: alt.Chart, dark: bool, background: str | None) -> dict[str, object]:
    return dict(themed(chart, dark=dark, background=background).to_dict())
