"""Figures of assignors over many groups: how far from the best, and how fast."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt

from compare.figures.curves import (
    at_most,
    color_and_dash,
    powers_of_ten,
    shade_rows,
    step_rows,
    tied,
)
from compare.figures.rows import Rows
from compare.figures.theme import WIDTH, themed, with_unit
from groups.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Mapping

    from compare.figures.curves import Points
    from compare.figures.rows import Table

# 20 µs, 3 ms, 1.5 s.
TIME = (
    "datum.value < 1e-3 ? format(datum.value * 1e6, '.3~r') + ' µs' : "
    "datum.value < 1 ? format(datum.value * 1e3, '.3~r') + ' ms' : "
    "format(datum.value, '.3~r') + ' s'"
)


def ecdf(table: Table, *, tier: str = "balance") -> alt.LayerChart:
    """Per assignor the share of groups in which it is at most so far above the optimum.

    The empirical distribution function of the excess. Where an optimum is not proved, the line
    has the greatest excess that is possible, and the shade above it reaches to the least. What is
    not valid or not scored, or worse in an earlier tier, stays below 100%. Assignors with the same
    curve share a line.

    Parameters
    ----------
    table : a row an assignor and group, as `excess_table` makes it: `assignor`, `excess`, and
        `excess_most` where optima are not proved; None where there is none
    tier : what the excess is of, for the title

    Raises
    ------
    BadInput
        Where there are no rows, or a column is missing or holds something else.
    """
    rows = Rows("ecdf", table)
    least = rows.numbers_or_none("excess")
    most = rows.numbers_or_none("excess_most") if rows.has("excess_most") else least
    names = rows.texts("assignor")
    every = dict.fromkeys(names)
    sure = {name: at_most(_of(name, names, most)) for name in every}
    possible = {name: at_most(_of(name, names, least)) for name in every}
    return ecdf_of(sure, possible, tier=tier)


def ecdf_of(
    sure: Mapping[str, Points], possible: Mapping[str, Points], *, tier: str = "balance"
) -> alt.LayerChart:
    """Draw what :func:`ecdf` does, of distributions.

    Parameters
    ----------
    sure, possible : of each assignor (excess, share of the groups), ascending, with the greatest
        excess that is possible and with the least
    """
    points = [*sure.values(), *possible.values()]
    values = [x for one in points for x, _ in one]
    greatest = max([1.0, *values])
    curves = tied(sure, possible)
    ticks = powers_of_ten(min((x for x in values if x), default=1), greatest)
    by = color_and_dash([curve.label for curve in curves])
    x = alt.X(
        "x:Q",
        scale=alt.Scale(type="symlog", constant=ticks[0], nice=False),
        axis=alt.Axis(values=[0, *ticks], labelExpr="format(datum.value, ',.0f')"),
    ).title(with_unit(tier, " above the optimum at most"))
    y = _share_of_groups()
    lines = (
        alt.Chart(alt.InlineData(values=step_rows(curves, 0, greatest * 1.1)))
        .mark_line(interpolate="step-after", strokeWidth=2)
        .encode(
            x=x,
            y=y,
            tooltip=[
                alt.Tooltip("names:N", title="assignors"),
                alt.Tooltip("x:Q", title="excess"),
                alt.Tooltip("share:Q", format=".1%"),
            ],
            **by,
        )
    )
    layers = [lines]
    if sure != possible:
        layers.append(
            alt.Chart(alt.InlineData(values=shade_rows(curves, greatest * 1.1)))
            .mark_area(interpolate="step-after", opacity=0.2)
            .encode(x=x, y=y, y2="possible:Q", color=by["color"])
        )
    return themed(
        alt.layer(*layers).properties(
            width=WIDTH, height=300, title=f"how far {tier} is above the optimum"
        )
    )


def profile(table: Table, *, of: str = "seconds", what: str = "time") -> alt.Chart:
    """Per assignor the share of groups in which it costs at most so many times the least.

    The performance profile of Dolan & More (2002, doi:10.1007/s101070100263). A group of which
    an assignor has no row counts against it. Assignors with the same profile share a line.

    Parameters
    ----------
    table : a row an assignor and group, as `seconds_table` makes it: `assignor`, `group`, and the
        cost, above 0, in the column `of`; None where it has none
    of : name of the column that has the cost
    what : what the cost is, for the title

    Raises
    ------
    BadInput
        Where there are no rows, or a column is missing or holds something else.
    """
    rows = Rows("profile", table)
    names, groups = rows.texts("assignor"), rows.texts("group")
    costs = rows.numbers_or_none(of, above=0)
    least: dict[str, float] = {}
    for group, cost in zip(groups, costs, strict=True):
        if cost is not None:
            least[group] = min(cost, least.get(group, cost))
    if not least:
        raise BadInput(f"profile: no row has a value in {of!r}, there is nothing to draw")
    ratios = {
        name: {
            group: cost / least[group]
            for one, group, cost in zip(names, groups, costs, strict=True)
            if one == name and cost is not None
        }
        for name in dict.fromkeys(names)
    }
    every = dict.fromkeys(groups)
    points = {name: at_most([found.get(one) for one in every]) for name, found in ratios.items()}
    return profile_of(points, what=what)


def profile_of(points: Mapping[str, Points], *, what: str = "time") -> alt.Chart:
    """Draw what :func:`profile` does, of distributions.

    Parameters
    ----------
    points : of each assignor (times the least, share of the groups), ascending
    """
    curves = tied(points)
    greatest = max(x for curve in curves for x, _ in curve.points)
    return themed(
        alt.Chart(alt.InlineData(values=step_rows(curves, 1, greatest * 1.1)))
        .mark_line(interpolate="step-after", strokeWidth=2)
        .encode(
            x=alt.X("x:Q", scale=alt.Scale(type="log", nice=False, domainMin=1)).title(
                f"{what}, at most so many times the least"
            ),
            y=_share_of_groups(),
            tooltip=[
                alt.Tooltip("names:N", title="assignors"),
                alt.Tooltip("x:Q", title="times the least", format=".2f"),
                alt.Tooltip("share:Q", format=".1%"),
            ],
            **color_and_dash([curve.label for curve in curves]),
        )
        .properties(width=WIDTH, height=300, title=f"performance profile: {what}")
    )


def time_by_size(table: Table) -> alt.LayerChart:
    """Per assignor the time against the size of the group, both on a scale of powers of ten.

    A dot is a group; the line joins the medians of groups of one size.

    Parameters
    ----------
    table : a row an assignor and group, as `seconds_table` makes it: `assignor`, `partitions` and
        `seconds`, both above 0; where a row stands for several groups their number in `groups`

    Raises
    ------
    BadInput
        Where there are no rows, or a column is missing or holds something else.
    """
    rows = Rows("time_by_size", table)
    names = rows.texts("assignor")
    sizes, seconds = rows.numbers("partitions", above=0), rows.numbers("seconds", above=0)
    often = rows.numbers("groups", above=0) if rows.has("groups") else [1.0] * len(rows)
    together: dict[tuple[str, float], list[tuple[float, float]]] = {}
    for name, size, spent, many in zip(names, sizes, seconds, often, strict=True):
        together.setdefault((name, size), []).append((spent, many))
    dots = [
        {"label": name, "partitions": size, "seconds": spent}
        for name, size, spent in zip(names, sizes, seconds, strict=True)
    ]
    medians = [
        {"label": name, "partitions": size, "seconds": _median(spent)}
        for (name, size), spent in sorted(together.items())
    ]
    log = alt.Scale(type="log", nice=False, padding=12)
    x = alt.X("partitions:Q", scale=log).title("partitions of the group")
    y = alt.Y("seconds:Q", scale=log, axis=alt.Axis(labelExpr=TIME)).title("time that it takes")
    by = color_and_dash(list(dict.fromkeys(names)))
    tooltip = [
        alt.Tooltip("label:N", title="assignor"),
        alt.Tooltip("partitions:Q", format=","),
        alt.Tooltip("seconds:Q", format=".3~s"),
    ]
    return themed(
        alt.layer(
            alt.Chart(alt.InlineData(values=dots))
            .mark_circle(size=18, opacity=0.35)
            .encode(x=x, y=y, color=by["color"], tooltip=tooltip),
            alt.Chart(alt.InlineData(values=medians))
            .mark_line(strokeWidth=2)
            .encode(x=x, y=y, tooltip=tooltip, **by),
        ).properties(width=WIDTH, height=300, title="time against size")
    )


def _share_of_groups() -> alt.Y:
    axis = alt.Axis(format="%", tickCount=5)
    return alt.Y("share:Q", axis=axis, scale=alt.Scale(domain=[0, 1])).title("share of the groups")


def _median(weighted: list[tuple[float, float]]) -> float:
    """Return the median of some values, each of which counts so often."""
    ordered = sorted(weighted)
    half = sum(many for _, many in ordered) / 2
    seen = 0.0
    for i, (value, many) in enumerate(ordered):
        seen += many
        if seen == half:
            return (value + ordered[i + 1][0]) / 2
        if seen > half:
            break
    return value


def _of(name: str, names: list[str], values: list[float | None]) -> list[float | None]:
    return [value for one, value in zip(names, values, strict=True) if one == name]
