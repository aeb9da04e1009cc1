"""Shares: how often each assignor is valid, balanced and as good as can be."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt

from compare.figures.rows import Rows
from compare.figures.theme import BLUE, PALE_BLUE, PALE_GREY, WIDTH, themed

if TYPE_CHECKING:
    from compare.figures.rows import Record, Table

WHAT = ("valid", "balanced", "optimal")


def shares(table: Table) -> alt.LayerChart:
    """Per assignor the share of groups in which it is valid, balanced and optimal, best first.

    Assignors with the same counts have the same place, written ``1=``.

    Parameters
    ----------
    table : a row an assignor, as `shares_table` makes it: `assignor`, and of how many `groups` it
        is `valid`, `balanced` (as KIP-54 defines it) and `optimal`

    Raises
    ------
    BadInput
        Where there are no rows, or a column is missing or holds something else.
    """
    rows = Rows("shares", table)
    names, groups = rows.texts("assignor"), rows.numbers("groups")
    counts = list(zip(*(rows.numbers(what) for what in WHAT), strict=True))
    ranked = sorted(
        (
            ([c / max(of, 1) for c in reversed(count)], -of, name, of, count)
            for name, of, count in zip(names, groups, counts, strict=True)
        ),
        key=lambda row: ([-share for share in row[0]], *row[1:3]),
    )
    marks = [tuple(row[0]) for row in ranked]
    values: list[Record] = []
    labels: list[str] = []
    for share, _, name, of, count in ranked:
        place = marks.index(tuple(share)) + 1
        labels.append(f"{place}{'=' if marks.count(tuple(share)) > 1 else ''}  {name}")
        values += [
            {
                "assignor": labels[-1],
                "what": what,
                "share": part / max(of, 1),
                "groups": part,
                "of": of,
                "told": f"{int(part):,} of {int(of):,}" if what == "optimal" else "",
            }
            for what, part in zip(WHAT, count, strict=True)
        ]
    base = alt.Chart(alt.InlineData(values=values)).encode(
        y=alt.Y("assignor:N", sort=labels, axis=alt.Axis(labelLimit=260)).title(None)
    )
    scale = alt.Scale(domain=list(WHAT), range=[PALE_GREY, PALE_BLUE, BLUE])
    thick = alt.Scale(domain=list(WHAT), range=[18, 11, 5])
    bars = base.mark_bar().encode(
        x=alt.X("share:Q", stack=None, axis=alt.Axis(format="%", tickCount=5))
        .scale(domain=[0, 1])
        .title("share of the groups in which it gave an assignment"),
        color=alt.Color("what:N", scale=scale).title(None),
        size=alt.Size("what:N", scale=thick).legend(None),
        tooltip=[
            alt.Tooltip("assignor:N"),
            alt.Tooltip("what:N"),
            alt.Tooltip("share:Q", format=".1%"),
            alt.Tooltip("groups:Q", format=","),
            alt.Tooltip("of:Q", format=","),
        ],
    )
    told = base.mark_text(align="left", dx=6).encode(x=alt.datum(1), text="told:N")
    return themed(
        alt.layer(bars, told).properties(
            width=WIDTH - 140,
            height=alt.Step(26),
            title=alt.TitleParams(
                "valid, balanced and as good as can be",
                subtitle="in numbers: groups in which it is as good as can be; = marks a tie",
            ),
        )
    )
