"""Figures along one quantity: what moves buy, how many members, and how it went over time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt

from compare.figures.curves import MOST_CURVES, color_and_dash
from compare.figures.rows import Rows
from compare.figures.theme import BLUE, ORANGE, SHORT, WIDTH, themed, with_unit
from groups.errors import BadInput

if TYPE_CHECKING:
    from compare.figures.rows import Table

MOST_TICKS = 10


def trade_off(table: Table, *, paid: str = "moves", bought: str = "balance") -> alt.LayerChart:
    """What one tier costs in units of another: the efficient trade-offs, with the knee.

    A full dot is proved: nothing is better in one tier and as good in the other. An open one is
    not, and the line under it reaches down to its bound, where there is one.

    Parameters
    ----------
    table : a row a trade-off, as `trade_off_table` makes it: `paid` and `bought`, the values of
        the two tiers; `proved`; `knee` and `bound`, which may be left out
    paid, bought : what the two tiers are called

    Raises
    ------
    BadInput
        Where there are no rows, or a column is missing or holds something else.
    """
    rows = Rows("trade_off", table)
    knees = rows.truths("knee") if rows.has("knee") else [False] * len(rows)
    bounds = rows.numbers_or_none("bound") if rows.has("bound") else [None] * len(rows)
    values = [
        {
            "paid": cost,
            "bought": value,
            "proof": "proved" if proved else "not proved",
            "what": "knee" if knee else "trade-off",
            "bound": None if proved else bound,
        }
        for cost, value, proved, knee, bound in zip(
            rows.numbers("paid"),
            rows.numbers("bought"),
            rows.truths("proved"),
            knees,
            bounds,
            strict=True,
        )
    ]
    most = max(rows.numbers("paid"))
    # Of few moves the axis would have halves, whatever the smallest step is said to be.
    few = list(range(int(most) + 1)) if most <= MOST_TICKS else alt.Undefined
    x = alt.X("paid:Q", axis=alt.Axis(tickMinStep=1, values=few, labelExpr=SHORT)).title(
        with_unit(paid)
    )
    y = alt.Y("bought:Q", axis=alt.Axis(tickMinStep=1, labelExpr=SHORT)).title(with_unit(bought))
    tooltip = [
        alt.Tooltip("paid:Q", title=paid, format=","),
        alt.Tooltip("bought:Q", title=bought, format=","),
        "proof:N",
    ]
    base = alt.Chart(alt.InlineData(values=values))
    proved = alt.datum.proof == "proved"
    knee = alt.datum.what == "knee"
    color = alt.condition(knee, alt.value(ORANGE), alt.value(BLUE))
    return themed(
        alt.layer(
            base.mark_line(interpolate="step-after", strokeWidth=1.5).encode(x=x, y=y),
            base.transform_filter("isValid(datum.bound)")
            .mark_rule(strokeDash=[2, 2])
            .encode(x=x, y=y, y2="bound:Q"),
            base.mark_point(size=60, strokeWidth=2, opacity=1).encode(
                x=x,
                y=y,
                stroke=color,
                fill=color,
                fillOpacity=alt.condition(proved, alt.value(1), alt.value(0)),
                tooltip=tooltip,
            ),
            base.transform_filter(knee)
            .mark_text(align="left", dx=9, dy=-9)
            .encode(x=x, y=y, text=alt.value("knee")),
        ).properties(
            width=WIDTH,
            height=300,
            title=alt.TitleParams(
                f"what {paid} buy in {bought}",
                subtitle="open dots are not proved"
                if not all(value["proof"] == "proved" for value in values)
                else "each dot is proved",
            ),
        )
    )


def sizes(
    table: Table, *, target: float | None = None, what: str = "partitions"
) -> alt.LayerChart:
    """What the members with most and with least have, for each number of members.

    Parameters
    ----------
    table : a row a number of members: `members`; `most` and `least`, what the members with
        most and with least have in the best assignment; `least` may be left out
    target : a line at what nobody should be above; None: no line
    what : what members have: partitions, or records of lag

    Raises
    ------
    BadInput
        Where there are no rows, or a column is missing or holds something else.
    """
    rows = Rows("sizes", table)
    most = rows.numbers("most")
    least = rows.numbers("least") if rows.has("least") else most
    values = [
        {"members": members, "most": high, "least": low}
        for members, high, low in zip(rows.numbers("members"), most, least, strict=True)
    ]
    x = alt.X("members:Q", axis=alt.Axis(tickMinStep=1)).title("members")
    y = alt.Y("most:Q", axis=alt.Axis(labelExpr=SHORT, tickMinStep=1)).title(f"{what} per member")
    base = alt.Chart(alt.InlineData(values=values))
    layers = [
        base.mark_area(interpolate="step", opacity=0.25).encode(x=x, y=y, y2="least:Q"),
        base.mark_line(interpolate="step", strokeWidth=2).encode(x=x, y=y),
        base.mark_point(size=30, filled=True).encode(
            x=x,
            y=y,
            tooltip=[
                "members:Q",
                alt.Tooltip("most:Q", format=","),
                alt.Tooltip("least:Q", format=","),
            ],
        ),
    ]
    notes = ["line: the member with most"]
    if least is not most:
        notes[0] += "; shade: down to the one with least"
    if target is not None:
        rule = alt.Chart(alt.InlineData(values=[{"target": target}]))
        layers.append(
            rule.mark_rule(strokeDash=[5, 3], color=ORANGE, strokeWidth=2).encode(y="target:Q")
        )
        notes.append(f"dashed: the target, {target:,}")
    return themed(
        alt.layer(*layers).properties(
            width=WIDTH,
            height=280,
            title=alt.TitleParams(f"{what} per member, by the number of members", subtitle=notes),
        )
    )


def trend(table: Table, *, what: str = "moves to the best") -> alt.Chart:
    """How a number of each group went over its captures.

    Parameters
    ----------
    table : a row a capture of a group, as `trend_table` makes it: `captured_at`, a time or ISO
        8601; `group`; `value`, None where it is not known: the line has a gap there
    what : what the value is

    Raises
    ------
    BadInput
        Where there are no rows, or a column is missing or holds something else.
    """
    rows = Rows("trend", table)
    groups, numbers = rows.texts("group"), rows.numbers_or_none("value")
    if all(number is None for number in numbers):
        raise BadInput("trend: no row has a value, there is nothing to draw")
    greatest: dict[str, float] = {}
    for group, number in zip(groups, numbers, strict=True):
        greatest[group] = max(greatest.get(group, 0), number or 0)
    shown = sorted(greatest, key=lambda group: (-greatest[group], group))[:MOST_CURVES]
    values = [
        {"captured_at": at, "label": group, "value": number}
        for at, group, number in zip(rows.times("captured_at"), groups, numbers, strict=True)
        if group in shown
    ]
    cut = len(shown) < len(greatest)
    note = f"the {len(shown)} groups with the greatest value, of {len(greatest)}"
    return themed(
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
        )
        .properties(
            width=WIDTH,
            height=280,
            title=alt.TitleParams(what, subtitle=[note] if cut else []),
        )
    )
