"""Curves: a step line for each name, those that coincide drawn once and named together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import altair as alt

from compare.figures.theme import BLUE, GREY, ORANGE
from groups.wording import few

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from compare.figures.rows import Record

Points: TypeAlias = tuple[tuple[float, float], ...]

COLORS = (BLUE, ORANGE, GREY)
DASHES = ([1, 0], [6, 3], [2, 2], [9, 3, 2, 3])
MOST_CURVES = len(COLORS) * len(DASHES)


@dataclass(frozen=True)
class Curve:
    """A step line that is 0 before its first point.

    Attributes
    ----------
    names : all whose curve this is
    points : (x, share), ascending
    possible : the same of the greatest shares that are possible, where they are not `points`
    """

    names: tuple[str, ...]
    points: Points
    possible: Points

    @property
    def label(self) -> str:
        """The names, the first three of them in full."""
        return few(self.names)


def tied(
    points: Mapping[str, Points], possible: Mapping[str, Points] | None = None
) -> list[Curve]:
    """Return the curves of some names, in their order; those with the same one share it."""
    names: dict[tuple[Points, Points], list[str]] = {}
    for name, found in points.items():
        names.setdefault((found, (possible or points)[name]), []).append(name)
    return [Curve(tuple(same), *found) for found, same in names.items()]


def at_most(values: Sequence[float | None]) -> Points:
    """Return the distribution of some values: (x, share of all that is at most x), ascending.

    None is above every x, so that the last share may stay below 1.
    """
    known = sorted(value for value in values if value is not None)
    share = {value: (i + 1) / len(values) for i, value in enumerate(known)}
    return tuple(share.items())


def color_and_dash(labels: Sequence[str]) -> dict[str, alt.Color | alt.StrokeDash]:
    """Return encodings of `label` by which up to twelve curves differ; more of them repeat."""
    which = range(len(labels))
    colors = [COLORS[i % len(COLORS)] for i in which]
    dashes = [DASHES[i // len(COLORS) % len(DASHES)] for i in which]
    legend = alt.Legend(
        columns=1, symbolType="stroke", symbolSize=400, symbolOpacity=1, direction="vertical"
    )
    domain = list(labels)
    return {
        "color": alt.Color(
            "label:N", scale=alt.Scale(domain=domain, range=colors), legend=legend
        ).title(None),
        "strokeDash": alt.StrokeDash(
            "label:N", scale=alt.Scale(domain=domain, range=dashes), legend=legend
        ).title(None),
    }


def step_rows(curves: Sequence[Curve], start: float, until: float) -> list[Record]:
    """Return a row a step of each curve, from `start` to `until`."""
    return [
        {"label": curve.label, "names": ", ".join(curve.names), "x": x, "share": share}
        for curve in curves
        for x, share in [
            *([(start, 0.0)] if _share(curve.points, start) == 0 else []),
            *curve.points,
            (until, _share(curve.points, until)),
        ]
    ]


def shade_rows(curves: Sequence[Curve], until: float) -> list[Record]:
    """Return rows of the shade between what is sure of each curve and what is possible."""
    return [
        {
            "label": curve.label,
            "x": x,
            "share": _share(curve.points, x),
            "possible": _share(curve.possible, x),
        }
        for curve in curves
        if curve.points != curve.possible
        for x in sorted({x for x, _ in (*curve.points, *curve.possible)} | {until})
    ]


def powers_of_ten(least: float, most: float) -> list[int]:
    """Return the powers of ten from the last one up to `least`, 1 or more, to that up to `most`.

    Examples
    --------
    >>> powers_of_ten(30, 4000)
    [10, 100, 1000]
    """
    return [10**n for n in range(len(str(int(least))) - 1, len(str(int(most))))]


def _share(points: Points, x: float) -> float:
    return max((share for at, share in points if at <= x), default=0.0)
