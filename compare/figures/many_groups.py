"""Figures of many groups: assignors' excess and time, and groups over time.

Each raises BadInput if the table has no rows, a column is missing, or a value has a wrong type.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, TypeAlias

import altair as alt
import numpy as np

from compare.figures.rows import (
    NUMBER,
    POSITIVE,
    TEXT,
    TIME,
    checked,
    distinct,
    greatest_first,
)
from compare.figures.theme import (
    BLUE,
    GREY,
    ORANGE,
    PALE_BLUE,
    PALE_GREY,
    SHORT,
    WIDTH,
    themed,
    titled,
    with_unit,
)
from groups.errors import BadInput
from groups.wording import few

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from compare.figures.rows import Record, Table

Points: TypeAlias = tuple[tuple[float, float], ...]

WHAT = ("valid", "balanced", "optimal")
THICK = dict(zip(WHAT, (18, 11, 5), strict=True))
COLORS = (BLUE, ORANGE, GREY)
DASHES = ([1, 0], [6, 3], [2, 2], [9, 3, 2, 3])
MOST_CURVES = len(COLORS) * len(DASHES)
# Labels of axes: 20 µs, 3 ms, 1.5 s.
SHORT_TIME = (
    "datum.value < 1e-3 ? format(datum.value * 1e6, '.3~r') + ' µs' : "
    "datum.value < 1 ? format(datum.value * 1e3, '.3~r') + ' ms' : "
    "format(datum.value, '.3~r') + ' s'"
)


def shares(table: Table) -> alt.LayerChart:
    """Per assignor the share of groups in which it is valid, balanced and optimal, best first.

    Assignors with the same counts have the same place, written ``1=``.

    Parameters
    ----------
    table : a row an assignor, as `shares_table` makes it: `assignor`, and the numbers of `groups`
        and of those in which it is `valid`, `balanced` (as KIP-54 defines it) and `optimal`
    """
    columns = {"assignor": TEXT, "groups": NUMBER, **dict.fromkeys(WHAT, NUMBER)}
    rows = checked("shares", table, columns)
    marks = [tuple(row[what] / max(row["groups"], 1) for what in reversed(WHAT)) for row in rows]
    ranked = sorted(
        zip(marks, rows, strict=True),
        key=lambda pair: ([-one for one in pair[0]], -pair[1]["groups"], pair[1]["assignor"]),
    )
    values: list[Record] = []
    labels: list[str] = []
    for mark, row in ranked:
        place = 1 + sum(other > mark for other in marks)
        labels.append(f"{place}{'=' if marks.count(mark) > 1 else ''}  {row['assignor']}")
        values += [
            {
                "assignor": labels[-1],
                "what": what,
                "thick": THICK[what],
                "share": share,
                "groups": row[what],
                "of": row["groups"],
                "told": f"{int(row[what]):,} of {int(row['groups']):,}" * (what == "optimal"),
            }
            for what, share in zip(WHAT, reversed(mark), strict=True)
        ]
    base = alt.Chart(alt.InlineData(values=values)).encode(
        y=alt.Y("assignor:N", sort=labels, axis=alt.Axis(labelLimit=260)).title(None)
    )
    scale = alt.Scale(domain=list(WHAT), range=[PALE_GREY, PALE_BLUE, BLUE])
    bars = base.mark_bar().encode(
        x=alt.X("share:Q", stack=None, axis=alt.Axis(format="%", tickCount=5))
        .scale(domain=[0, 1])
        .title("share of the groups in which it gave an assignment"),
        color=alt.Color("what:N", scale=scale, sort=WHAT).title(None),
        # A field of its own: sharing the field of the colours would merge the legends.
        size=alt.Size("thick:Q", scale=None),
        tooltip=[
            alt.Tooltip("assignor:N"),
            alt.Tooltip("what:N"),
            alt.Tooltip("share:Q", format=".1%"),
            alt.Tooltip("groups:Q", format=","),
            alt.Tooltip("of:Q", format=","),
        ],
    )
    told = base.mark_text(align="left", dx=6).encode(x=alt.datum(1), text="told:N")
    return titled(
        alt.layer(bars, told),
        "valid, balanced and as good as can be",
        "in numbers: groups in which it is as good as can be; = marks a tie",
        width=WIDTH - 140,
        height=alt.Step(26),
    )


def ecdf(table: Table, *, tier: str = "balance") -> alt.LayerChart:
    """Per assignor the share of groups in which it is at most so far above the optimum.

    This is the empirical distribution function of the excess. If an optimum is not proved, the
    line uses the greatest possible excess, and the shade above it reaches to the least. Groups
    without an excess (not valid, not scored, or worse in an earlier tier) keep the line below
    100%. Assignors with the same curve share a line.

    Parameters
    ----------
    table : a row an assignor and group, as `excess_table` makes it: `assignor`, `excess`, and
        `excess_most` for optima that are not proved; None if there is no excess
    tier : the excess's tier, for the title
    """
    excess = NUMBER.or_none()
    columns = {"assignor": TEXT, "excess": excess, "excess_most": excess.unless_there(None)}
    rows = checked("ecdf", table, columns)
    is_open = any(row["excess_most"] is not None for row in rows)
    sure, possible = (
        {
            name: at_most([row[end] for row in rows if row["assignor"] == name])
            for name in distinct(rows, "assignor")
        }
        for end in ("excess_most" if is_open else "excess", "excess")
    )
    return ecdf_of(sure, possible, tier=tier)


def ecdf_of(
    sure: Mapping[str, Points], possible: Mapping[str, Points], *, tier: str = "balance"
) -> alt.LayerChart:
    """Draw what :func:`ecdf` does, of distributions.

    Parameters
    ----------
    sure, possible : by assignor, (excess, share of the groups), ascending, with the greatest
        excess that is possible and with the least
    """
    points = [*sure.values(), *possible.values()]
    values = [x for one in points for x, _ in one]
    greatest = max([1.0, *values])
    curves = tied(sure, possible)
    ticks = powers_of_ten(min((x for x in values if x), default=1), greatest)
    x = alt.X(
        "x:Q",
        scale=alt.Scale(type="symlog", constant=ticks[0], nice=False),
        axis=alt.Axis(values=[0, *ticks], labelExpr="format(datum.value, ',.0f')"),
    ).title(with_unit(tier, " above the optimum at most"))
    lines = _lines(step_rows(curves, 0, greatest * 1.1), x, alt.Tooltip("x:Q", title="excess"))
    layers = [lines]
    if sure != possible:
        layers.append(
            alt.Chart(alt.InlineData(values=shade_rows(curves, greatest * 1.1)))
            .mark_area(interpolate="step-after", opacity=0.2)
            .encode(x=x, y=lines.encoding.y, y2="possible:Q", color=lines.encoding.color)
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
    """
    columns = {"assignor": TEXT, "group": TEXT, of: POSITIVE.or_none()}
    rows = checked("profile", table, columns)
    known = [row for row in rows if row[of] is not None]
    least: dict[str, float] = {}
    for row in known:
        least[row["group"]] = min(row[of], least.get(row["group"], row[of]))
    if not least:
        raise BadInput(f"profile: no row has a value in {of!r}, there is nothing to draw")
    ratios: dict[str, dict[str, float]] = {name: {} for name in distinct(rows, "assignor")}
    for row in known:
        ratios[row["assignor"]][row["group"]] = row[of] / least[row["group"]]
    every = distinct(rows, "group")
    points = {name: at_most([found.get(one) for one in every]) for name, found in ratios.items()}
    return profile_of(points, what=what)


def profile_of(points: Mapping[str, Points], *, what: str = "time") -> alt.Chart:
    """Draw what :func:`profile` does, of distributions.

    Parameters
    ----------
    points : by assignor, (times the least, share of the groups), ascending
    """
    curves = tied(points)
    greatest = max(x for curve in curves for x, _ in curve.points)
    x = alt.X("x:Q", scale=alt.Scale(type="log", nice=False, domainMin=1)).title(
        f"{what}, at most so many times the least"
    )
    told = alt.Tooltip("x:Q", title="times the least", format=".2f")
    return themed(
        _lines(step_rows(curves, 1, greatest * 1.1), x, told).properties(
            width=WIDTH, height=300, title=f"performance profile: {what}"
        )
    )


def time_by_size(table: Table) -> alt.LayerChart:
    """Per assignor the time against the size of the group, both on a scale of powers of ten.

    A dot is a group; the line joins the medians of groups of one size.

    Parameters
    ----------
    table : a row an assignor and group, as `seconds_table` makes it: `assignor`, `partitions` and
        `seconds`, both above 0; for a row that stands for several groups, their number in `groups`
    """
    columns = {"assignor": TEXT, "partitions": POSITIVE, "seconds": POSITIVE}
    rows = checked("time_by_size", table, columns | {"groups": POSITIVE.unless_there(1.0)})
    together: dict[tuple[str, float], list[tuple[float, float]]] = {}
    for row in rows:
        size = row["assignor"], row["partitions"]
        together.setdefault(size, []).append((row["seconds"], row["groups"]))
    dots = [
        {"label": row["assignor"], "partitions": row["partitions"], "seconds": row["seconds"]}
        for row in rows
    ]
    medians = [
        {"label": name, "partitions": size, "seconds": _median(spent)}
        for (name, size), spent in sorted(together.items())
    ]
    log = alt.Scale(type="log", nice=False, padding=12)
    x = alt.X("partitions:Q", scale=log).title("partitions of the group")
    y = alt.Y("seconds:Q", scale=log, axis=alt.Axis(labelExpr=SHORT_TIME)).title(
        "time that it takes"
    )
    by = color_and_dash(distinct(rows, "assignor"))
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


def trend(table: Table, *, what: str = "moves to the best") -> alt.Chart:
    """A number of each group over its captures.

    Parameters
    ----------
    table : a row a capture of a group, as `trend_table` makes it: `captured_at`, a time or ISO
        8601; `group`; `value`, None if not known, where the line has a gap
    what : the value's name
    """
    rows = checked("trend", table, {"captured_at": TIME, "group": TEXT, "value": NUMBER.or_none()})
    if all(row["value"] is None for row in rows):
        raise BadInput("trend: no row has a value, there is nothing to draw")
    greatest: dict[str, float] = {}
    for row in rows:
        greatest[row["group"]] = max(greatest.get(row["group"], 0), row["value"] or 0)
    shown = greatest_first(greatest, MOST_CURVES)
    values = [
        {"captured_at": row["captured_at"], "label": row["group"], "value": row["value"]}
        for row in rows
        if row["group"] in shown
    ]
    note = f"the {len(shown)} groups with the greatest value, of {len(greatest)}"
    return titled(
        alt.Chart(alt.InlineData(values=values))
        .mark_line(strokeWidth=2, point={"size": 25})
        .encode(
            x=alt.X("captured_at:T", axis=alt.Axis(tickCount=8)).title(None),
            y=alt.Y("value:Q", axis=alt.Axis(tickMinStep=1, labelExpr=SHORT)).title(what),
            tooltip=[
                alt.Tooltip("label:N", title="group"),
                alt.Tooltip("captured_at:T", format="%Y-%m-%d %H:%M", title="captured at"),
                alt.Tooltip("value:Q", title=what, format=","),
            ],
            **color_and_dash(shown),
        ),
        what,
        note if len(shown) < len(greatest) else None,
        width=WIDTH,
        height=280,
    )


@dataclass(frozen=True)
class Curve:
    """A step line that is 0 before its first point.

    Attributes
    ----------
    names : names that have this curve
    points : (x, share), ascending
    possible : the same for the greatest possible shares; equal to `points` if all is proved
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
    """Return the curves of names, in their order; names with the same curve share one."""
    names: dict[tuple[Points, Points], list[str]] = {}
    for name, found in points.items():
        names.setdefault((found, (possible or points)[name]), []).append(name)
    return [Curve(tuple(same), *found) for found, same in names.items()]


def at_most(values: Sequence[float | None]) -> Points:
    """Return the distribution of values: (x, share of values that are at most x), ascending.

    None counts as above every x, so that the last share may stay below 1.
    """
    often = Counter(value for value in values if value is not None)
    return distribution(often.items(), len(values))


def distribution(bins: Iterable[tuple[float, int]], every: int) -> Points:
    """Return the distribution of (value, count) bins among `every` values."""
    ordered = sorted(bins)
    sums = accumulate(many for _, many in ordered)
    return tuple((x, seen / every) for (x, _), seen in zip(ordered, sums, strict=True))


def color_and_dash(labels: Sequence[str]) -> dict[str, alt.Color | alt.StrokeDash]:
    """Return colour and dash of `label`, which differ for up to twelve curves, then repeat."""
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
    """Return a row for each step of each curve, from `start` to `until`."""
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
    """Return rows of the shade between the sure and the possible share of each curve."""
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
    """Return the powers of ten up to `most`, from the greatest up to `least`, which is 1 or more.

    Examples
    --------
    >>> powers_of_ten(30, 4000)
    [10, 100, 1000]
    """
    return [10**n for n in range(len(str(int(least))) - 1, len(str(int(most))))]


def _share(points: Points, x: float) -> float:
    return max((share for at, share in points if at <= x), default=0.0)


def _lines(rows: list[Record], x: alt.X, told: alt.Tooltip) -> alt.Chart:
    """Return the lines of curves from their steps; `told` says what x is where one hovers."""
    y = alt.Y("share:Q", axis=alt.Axis(format="%", tickCount=5), scale=alt.Scale(domain=[0, 1]))
    return (
        alt.Chart(alt.InlineData(values=rows))
        .mark_line(interpolate="step-after", strokeWidth=2)
        .encode(
            x=x,
            y=y.title("share of the groups"),
            tooltip=[
                alt.Tooltip("names:N", title="assignors"),
                told,
                alt.Tooltip("share:Q", format=".1%"),
            ],
            **color_and_dash(distinct(rows, "label")),
        )
    )


def _median(weighted: list[tuple[float, float]]) -> float:
    """Return the median of (value, count) pairs."""
    values, often = np.array(sorted(weighted)).T
    seen = np.cumsum(often)
    low, high = (np.searchsorted(seen, seen[-1] / 2, side) for side in ("left", "right"))
    return float(values[low] + values[high]) / 2
