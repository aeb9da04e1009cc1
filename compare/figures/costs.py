"""Costs: what each assignor costs on one group, tier by tier, beside the best."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt

from compare.figures.rows import Rows
from compare.figures.theme import BLUE, GREY, ORANGE, SHORT, WIDTH, themed, with_unit
from compare.sentences import called

if TYPE_CHECKING:
    from compare.figures.rows import Record, Table

BEST = "best"
KINDS = {BEST: BLUE, "assignor": ORANGE, "not valid": GREY}


def costs(table: Table) -> alt.HConcatChart:
    """What each assignor costs on one group, a panel a tier, beside the best.

    Parameters
    ----------
    table : a row an assignor and tier, as `costs_table` makes it: `assignor`, "best" for the best
        assignment; `tier`, panels in the order of their first rows; `value`; `valid`, which may
        be left out: what is not valid is grey

    Raises
    ------
    BadInput
        Where there are no rows, or a column is missing or holds something else.
    """
    rows = Rows("costs", table)
    names, tiers, values = rows.texts("assignor"), rows.texts("tier"), rows.numbers("value")
    valid = rows.truths("valid") if rows.has("valid") else [True] * len(rows)
    order, panels = list(dict.fromkeys(names)), list(dict.fromkeys(tiers))
    found: dict[str, list[Record]] = {tier: [] for tier in panels}
    greatest = dict.fromkeys(panels, 1.0)
    for name, tier, value, good in zip(names, tiers, values, valid, strict=True):
        kind = BEST if name == BEST else "assignor" if good else "not valid"
        found[tier].append({"assignor": name, "value": value, "kind": kind})
        greatest[tier] = max(greatest[tier], value)
    note = "less is better; what differs further left decides"
    return themed(
        alt.hconcat(
            *(
                _panel(tier, found[tier], order, greatest[tier], number, len(panels))
                for number, tier in enumerate(panels)
            )
        ).properties(
            title=alt.TitleParams(
                "what each assignor costs",
                subtitle=note if all(valid) else f"{note}; grey: not valid",
            )
        )
    )


def _panel(
    tier: str, values: list[Record], order: list[str], greatest: float, number: int, panels: int
) -> alt.LayerChart:
    counts = called(tier)
    names = alt.Axis(labelLimit=260) if number == 0 else None
    scale = alt.Scale(domain=[0, 1.25 * greatest])
    axis = alt.Axis(labelExpr=SHORT, tickMinStep=1, tickCount=4)
    base = alt.Chart(alt.InlineData(values=values)).encode(
        x=alt.X("value:Q", scale=scale, axis=axis).title(with_unit(counts)),
        y=alt.Y("assignor:N", sort=order, axis=names).title(None),
        tooltip=["assignor:N", alt.Tooltip("value:Q", title=counts, format=","), "kind:N"],
    )
    kinds = alt.Scale(domain=list(KINDS), range=list(KINDS.values()))
    bars = base.mark_bar().encode(color=alt.Color("kind:N", scale=kinds, legend=None))
    told = base.mark_text(align="left", dx=4).encode(text=alt.Text("value:Q", format=","))
    return alt.layer(bars, told).properties(width=(WIDTH - 120) // panels, height=alt.Step(22))
