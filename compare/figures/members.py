"""Figures of one group's members: their loads, and their lag."""

from __future__ import annotations

from collections import defaultdict
from itertools import cycle
from typing import TYPE_CHECKING

import altair as alt

from compare.figures.rows import Rows
from compare.figures.theme import (
    BLUE,
    GREY,
    ORANGE,
    PALE_BLUE,
    PALE_GREY,
    PALE_ORANGE,
    SHADES,
    SHORT,
    WIDTH,
    themed,
)
from groups.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterable

    from compare.figures.rows import Record, Table

NOW, BEST = "now", "best"
MOST_MEMBERS = 40
MOST_TOPICS = 8
BAR = 20


def loads(table: Table, *, floor: int | None = None, most: int = MOST_MEMBERS) -> alt.FacetChart:
    """Partitions per member, stacked by topic: now, by assignors and in the best assignment.

    Parameters
    ----------
    table : a row a member, assignment and topic, as `loads_table` makes it: `member`; `whose`
        ("now", "best" or an assignor's name), a panel each in the order of their first rows;
        `topic`, None for a member that holds nothing; `partitions`
    floor : the least that the busiest member can hold, drawn as a line; None: no line
    most : draw so many members, those whose load differs most between the panels; the title
        says how many there are

    Raises
    ------
    BadInput
        Where there are no rows, or a column is missing or holds something else.
    """
    rows = Rows("loads", table)
    found = list(
        zip(
            rows.texts("member"),
            rows.texts("whose"),
            rows.texts_or_none("topic"),
            rows.numbers("partitions"),
            strict=True,
        )
    )
    held: dict[tuple[str, str], float] = defaultdict(float)
    size: dict[str, float] = defaultdict(float)
    for member, whose, topic, partitions in found:
        held[member, whose] += partitions
        if topic is not None:
            size[topic] += partitions
    panels, members = _in_order(w for _, w, _, _ in found), _in_order(m for m, _, _, _ in found)
    shown = _most_uneven(members, panels, held, most)
    named = _named_topics(size)
    parts: dict[tuple[str, str, str | None], float] = defaultdict(float)
    for member, whose, topic, partitions in found:
        if member in shown:
            drawn = topic if topic is None or topic in named else named[-1]
            parts[member, whose, drawn] += partitions
    values: list[Record] = [
        {
            "member": member,
            "whose": whose,
            "topic": topic,
            "rank": -1 if topic is None else named.index(topic),
            "partitions": partitions,
        }
        for (member, whose, topic), partitions in parts.items()
    ]
    y = alt.Y("member:N", sort=shown).title(None)
    widest = max(1, *held.values())
    bars = (
        alt.Chart()
        .mark_bar(stroke="#ffffff", strokeWidth=0.5)
        .encode(
            x=alt.X(
                "partitions:Q",
                axis=alt.Axis(tickMinStep=1, tickCount=min(4, int(widest)), labelFlush=False),
                scale=alt.Scale(domainMax=1.15 * widest),
            ).title("partitions"),
            y=y,
            color=_shade_of(named, others=len(named) < len(size)),
            order=alt.Order("rank:Q"),
            tooltip=["member:N", "whose:N", "topic:N", "partitions:Q"],
        )
    )
    totals = (
        alt.Chart()
        .transform_aggregate(partitions="sum(partitions)", groupby=["member", "whose"])
        .mark_text(align="left", dx=4)
        .encode(x=alt.X("partitions:Q").title("partitions"), y=y, text="partitions:Q")
    )
    layers = [bars, totals]
    if floor is not None:
        layers.append(_line_at(floor, "partitions"))
    return themed(
        alt.layer(*layers, data=alt.InlineData(values=values))
        .properties(width=(WIDTH - 20 * len(panels)) // len(panels), height=alt.Step(BAR))
        .facet(column=alt.Column("whose:N", sort=panels).title(None))
        .properties(
            title=_title(
                "partitions per member",
                _shown(shown, members),
                None
                if floor is None
                else f"dashed: in every assignment somebody holds {floor:,} or more",
            ),
        )
    )


def lag(
    table: Table,
    *,
    floor: int | None = None,
    among: str = "in every assignment",
    most: int = MOST_MEMBERS,
) -> alt.LayerChart:
    """Lag per member, in records: now and in the best assignment.

    Parameters
    ----------
    table : a row a member and assignment, as `lag_table` makes it: `member`; `whose` ("now",
        "best" or an assignor's name); `records`, of those partitions whose lag is known;
        `unknown`, how many partitions of the member's are of unknown lag; may be left out
    floor : the least that the member with most lag can have, drawn as a line; None: no line
    among : of which assignments that is so
    most : draw so many members, those with most lag first; the title says how many there are

    Raises
    ------
    BadInput
        Where there are no rows, or a column is missing or holds something else.
    """
    rows = Rows("lag", table)
    member, whose = rows.texts("member"), rows.texts("whose")
    records = rows.numbers("records")
    unknown = rows.numbers("unknown") if rows.has("unknown") else [0.0] * len(rows)
    greatest: dict[str, float] = {}
    for who, lagging in zip(member, records, strict=True):
        greatest[who] = max(greatest.get(who, 0), lagging)
    shown = sorted(greatest, key=lambda who: (-greatest[who], who))[:most]
    panels = _in_order(whose)
    values = [
        {"member": m, "whose": w, "records": r, "unknown": u}
        for m, w, r, u in zip(member, whose, records, unknown, strict=True)
        if m in shown
    ]
    bars = (
        alt.Chart(alt.InlineData(values=values))
        .mark_bar()
        .encode(
            x=alt.X("records:Q", axis=alt.Axis(labelExpr=SHORT, tickMinStep=1, tickCount=6)).title(
                "records of lag"
            ),
            y=alt.Y("member:N", sort=shown).title(None),
            yOffset=alt.YOffset("whose:N", sort=panels),
            color=_color_of(panels),
            tooltip=[
                "member:N",
                "whose:N",
                alt.Tooltip("records:Q", format=","),
                alt.Tooltip("unknown:Q", title="partitions of unknown lag"),
            ],
        )
    )
    layers = [bars]
    if floor is not None:
        layers.append(_line_at(floor, "records of lag"))
    missing = max(sum(u for u, w in zip(unknown, whose, strict=True) if w == p) for p in panels)
    return themed(
        alt.layer(*layers).properties(
            width=WIDTH,
            height=alt.Step(BAR // 2, **{"for": "offset"}),
            title=_title(
                "lag per member",
                _shown(shown, list(greatest)),
                f"the lag of {counted(int(missing), 'partition')} is unknown" if missing else None,
                None if floor is None else f"dashed: {among} somebody has {floor:,} or more",
            ),
        )
    )


def _shade_of(named: list[str], *, others: bool) -> alt.Color | alt.ColorValue:
    """Each topic has its shade; what stands for all others is grey."""
    if not named:
        return alt.ColorValue(BLUE)
    shades = [shade for shade in SHADES if shade != PALE_GREY or not others]
    shown = [*shades[: len(named) - others], *[PALE_GREY] * others]
    scale = alt.Scale(domain=named, range=shown)
    return alt.Color("topic:N", sort=named, scale=scale).title("topic")


def _color_of(panels: list[str]) -> alt.Color:
    """Now is orange, the best blue; others are grey, then pale."""
    colors = {NOW: ORANGE, BEST: BLUE}
    others = [panel for panel in panels if panel not in colors]
    colors |= dict(zip(others, cycle((GREY, PALE_ORANGE, PALE_BLUE, PALE_GREY))))
    scale = alt.Scale(domain=panels, range=[colors[panel] for panel in panels])
    return alt.Color("whose:N", scale=scale).title(None)


def _line_at(value: float, what: str) -> alt.Chart:
    return (
        alt.Chart()
        .transform_aggregate(rows="count()")
        .transform_calculate(at=str(value))
        .mark_rule(strokeDash=[5, 3], strokeWidth=1.5)
        .encode(x=alt.X("at:Q").title(what))
    )


def _most_uneven(
    members: list[str], panels: list[str], held: dict[tuple[str, str], float], most: int
) -> list[str]:
    """Return the members to draw, the busiest of the first panel on top."""

    def differs(member: str) -> float:
        found = [held.get((member, panel), 0) for panel in panels]
        return max(found) - min(found)

    shown = sorted(members, key=lambda m: (-differs(m), -held.get((m, panels[0]), 0), m))[:most]
    return sorted(shown, key=lambda m: (-held.get((m, panels[0]), 0), m))


def _named_topics(size: dict[str, float]) -> list[str]:
    """Return the topics that get a colour, then what stands for all others, if there are any."""
    every = sorted(size, key=lambda topic: (-size[topic], topic))
    if len(every) <= MOST_TOPICS:
        return every
    kept = every[: MOST_TOPICS - 1]
    return [*kept, f"{len(every) - len(kept)} other topics"]


def _in_order(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))


def _shown(shown: list[str], members: list[str]) -> str | None:
    return f"{len(shown)} of {len(members)} members" if len(shown) < len(members) else None


def _title(text: str, *notes: str | None) -> alt.TitleParams:
    return alt.TitleParams(text, subtitle=[note for note in notes if note])
