"""Moves: who gives how many partitions to whom."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import altair as alt

from compare.figures.rows import Rows
from compare.figures.theme import themed
from groups.wording import counted

if TYPE_CHECKING:
    from compare.figures.rows import Table

MOST_MEMBERS = 40


def moves(table: Table, *, most: int = MOST_MEMBERS) -> alt.LayerChart:
    """Partitions that move, from whom to whom, as a heat map with the numbers in it.

    Parameters
    ----------
    table : a row a pair of members, as `moves_table` makes it: `origin`, `target`, `partitions`
    most : draw so many members on each side, those who give and get most; the title says how
        many there are

    Raises
    ------
    BadInput
        Where there are no rows, or a column is missing or holds something else.
    """
    rows = Rows("moves", table)
    origin, target = rows.texts("origin"), rows.texts("target")
    partitions = rows.numbers("partitions")
    gives: dict[str, float] = defaultdict(float)
    gets: dict[str, float] = defaultdict(float)
    for one, other, count in zip(origin, target, partitions, strict=True):
        gives[one] += count
        gets[other] += count
    givers, getters = (
        sorted(side, key=lambda who: (-side[who], who))[:most] for side in (gives, gets)
    )
    values = [
        {"origin": one, "target": other, "partitions": count}
        for one, other, count in zip(origin, target, partitions, strict=True)
        if one in givers and other in getters
    ]
    base = alt.Chart(alt.InlineData(values=values)).encode(
        x=alt.X("target:N", sort=getters, axis=alt.Axis(orient="top", labelAngle=-40)).title("to"),
        y=alt.Y("origin:N", sort=givers).title("from"),
        tooltip=["origin:N", "target:N", "partitions:Q"],
    )
    cells = base.mark_rect().encode(
        color=alt.Color("partitions:Q", scale=alt.Scale(domainMin=0), legend=None)
    )
    both = (givers, gives), (getters, gets)
    cut = [f"{len(shown)} of {len(every)}" for shown, every in both if len(shown) < len(every)]
    total = counted(int(sum(partitions)), "partition")
    return themed(
        alt.layer(cells, base.mark_text().encode(text="partitions:Q")).properties(
            width=alt.Step(34),
            height=alt.Step(26),
            title=alt.TitleParams(
                f"{total} {'moves' if total == '1 partition' else 'move'}",
                subtitle=[f"members shown: {' and '.join(cut)}"] if cut else [],
            ),
        )
    )
