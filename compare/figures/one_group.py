"""Figures of one group: its members' loads and lag, moves, costs, trade-offs and sizes.

Each raises BadInput if the table has no rows, a column is missing, or a value has a wrong type.
"""

from __future__ import annotations

from itertools import cycle
from typing import TYPE_CHECKING

import altair as alt

from compare.figures.rows import NUMBER, TEXT, TRUTH, checked, distinct, greatest_first, summed
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
    titled,
    with_unit,
)
from groups.tiers import called
from groups.wording import counted

if TYPE_CHECKING:
    from collections.abc import Collection

    from compare.figures.rows import Record, Table

NOW, BEST = "now", "best"
KINDS = {BEST: BLUE, "assignor": ORANGE, "not valid": GREY}
MOST_MEMBERS = 40
MOST_TOPICS = 8
MOST_TICKS = 10
BAR = 20


def loads(table: Table, *, floor: int | None = None, most: int = MOST_MEMBERS) -> alt.FacetChart:
    """Partitions per member, stacked by topic: now, by assignors and in the best assignment.

    Parameters
    ----------
    table : a row a member, assignment and topic, as `loads_table` makes it: `member`; `whose`
        ("now", "best" or an assignor's name), a panel each in the order of their first rows;
        `topic`, None for a member that holds nothing; `partitions`
    floor : the least load that the busiest member can have, drawn as a line; None: no line
    most : number of members to draw, those whose load differs most between the panels; the title
        says how many there are
    """
    columns = {"member": TEXT, "whose": TEXT, "topic": TEXT.or_none(), "partitions": NUMBER}
    rows = checked("loads", table, columns)
    held = summed(rows, "partitions", "member", "whose")
    size = summed((row for row in rows if row["topic"] is not None), "partitions", "topic")
    members, panels = distinct(rows, "member"), distinct(rows, "whose")
    shown = _most_uneven(members, panels, held, most)
    named = _named_topics(size)
    drawn = [
        row if row["topic"] in (None, *named) else row | {"topic": named[-1]}
        for row in rows
        if row["member"] in shown
    ]
    values = [
        {
            "member": member,
            "whose": whose,
            "topic": topic,
            "rank": -1 if topic is None else named.index(topic),
            "partitions": partitions,
        }
        for (member, whose, topic), partitions in summed(
            drawn, "partitions", "member", "whose", "topic"
        ).items()
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
    return titled(
        alt.layer(*layers, data=alt.InlineData(values=values))
        .properties(width=(WIDTH - 20 * len(panels)) // len(panels), height=alt.Step(BAR))
        .facet(column=alt.Column("whose:N", sort=panels).title(None)),
        "partitions per member",
        _shown(shown, members),
        None if floor is None else f"dashed: in every assignment somebody holds {floor:,} or more",
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
        "best" or an assignor's name); `records`, of the partitions whose lag is known;
        `unknown`, the number of the member's partitions with unknown lag; may be left out
    floor : the least lag that the member with most can have, drawn as a line; None: no line
    among : for which assignments that holds, in words
    most : number of members to draw, those with most lag first; the title says how many there are
    """
    columns = {"member": TEXT, "whose": TEXT, "records": NUMBER}
    rows = checked("lag", table, columns | {"unknown": NUMBER.unless_there(0.0)})
    greatest: dict[str, float] = {}
    for row in rows:
        greatest[row["member"]] = max(greatest.get(row["member"], 0), row["records"])
    shown, panels = greatest_first(greatest, most), distinct(rows, "whose")
    values = [row for row in rows if row["member"] in shown]
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
    missing = max(summed(rows, "unknown", "whose").values())
    return titled(
        alt.layer(*layers),
        "lag per member",
        _shown(shown, greatest),
        f"the lag of {counted(int(missing), 'partition')} is unknown" if missing else None,
        None if floor is None else f"dashed: {among} somebody has {floor:,} or more",
        width=WIDTH,
        height=alt.Step(BAR // 2, **{"for": "offset"}),
    )


def moves(table: Table, *, most: int = MOST_MEMBERS) -> alt.LayerChart:
    """Partitions that move, from whom to whom, as a heat map with the numbers in it.

    Parameters
    ----------
    table : a row a pair of members, as `moves_table` makes it: `origin`, `target`, `partitions`
    most : number of members to draw on each side, those that give and get most; the title says
        how many there are
    """
    rows = checked("moves", table, {"origin": TEXT, "target": TEXT, "partitions": NUMBER})
    gives, gets = (summed(rows, "partitions", side) for side in ("origin", "target"))
    givers, getters = greatest_first(gives, most), greatest_first(gets, most)
    values = [row for row in rows if row["origin"] in givers and row["target"] in getters]
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
    total = counted(int(sum(gives.values())), "partition")
    return titled(
        alt.layer(cells, base.mark_text().encode(text="partitions:Q")),
        f"{total} {'moves' if total == '1 partition' else 'move'}",
        f"members shown: {' and '.join(cut)}" if cut else None,
        width=alt.Step(34),
        height=alt.Step(26),
    )


def costs(table: Table) -> alt.HConcatChart:
    """What each assignor costs on one group, a panel a tier, beside the best.

    Parameters
    ----------
    table : a row an assignor and tier, as `costs_table` makes it: `assignor`, "best" for the best
        assignment; `tier`, panels in the order of their first rows; `value`; `valid`, which may
        be left out: bars of assignments that are not valid are grey
    """
    columns = {"assignor": TEXT, "tier": TEXT, "value": NUMBER, "valid": TRUTH.unless_there(True)}
    rows = checked("costs", table, columns)
    order, panels = distinct(rows, "assignor"), distinct(rows, "tier")
    found: dict[str, list[Record]] = {tier: [] for tier in panels}
    for row in rows:
        name, value = row["assignor"], row["value"]
        kind = BEST if name == BEST else "assignor" if row["valid"] else "not valid"
        found[row["tier"]].append({"assignor": name, "value": value, "kind": kind})
    note = "less is better; what differs further left decides"
    every_valid = all(row["valid"] for row in rows)
    return titled(
        alt.hconcat(
            *(_panel(tier, found[tier], order, panels) for tier in panels),
        ),
        "what each assignor costs",
        note if every_valid else f"{note}; grey: not valid",
    )


def _panel(tier: str, values: list[Record], order: list[str], panels: list[str]) -> alt.LayerChart:
    counts = called(tier)
    names = alt.Axis(labelLimit=260) if tier == panels[0] else None
    scale = alt.Scale(domain=[0, 1.25 * max(1.0, *(row["value"] for row in values))])
    axis = alt.Axis(labelExpr=SHORT, tickMinStep=1, tickCount=4)
    base = alt.Chart(alt.InlineData(values=values)).encode(
        x=alt.X("value:Q", scale=scale, axis=axis).title(with_unit(counts)),
        y=alt.Y("assignor:N", sort=order, axis=names).title(None),
        tooltip=["assignor:N", alt.Tooltip("value:Q", title=counts, format=","), "kind:N"],
    )
    kinds = alt.Scale(domain=list(KINDS), range=list(KINDS.values()))
    bars = base.mark_bar().encode(color=alt.Color("kind:N", scale=kinds, legend=None))
    told = base.mark_text(align="left", dx=4).encode(text=alt.Text("value:Q", format=","))
    return alt.layer(bars, told).properties(
        width=(WIDTH - 120) // len(panels), height=alt.Step(22)
    )


def trade_off(table: Table, *, paid: str = "moves", bought: str = "balance") -> alt.LayerChart:
    """What one tier costs in units of another: the efficient trade-offs, with the knee.

    A full dot is proved: nothing is better in one tier and as good in the other. An open dot is
    not proved; the line under it reaches down to its bound, if there is one.

    Parameters
    ----------
    table : a row a trade-off, as `trade_off_table` makes it: `paid` and `bought`, the values of
        the two tiers; `proved`; `knee` and `bound`, which may be left out
    paid, bought : names of the two tiers
    """
    columns = {"paid": NUMBER, "bought": NUMBER, "proved": TRUTH}
    columns |= {"knee": TRUTH.unless_there(False), "bound": NUMBER.or_none().unless_there(None)}
    rows = checked("trade_off", table, columns)
    values = [
        {
            "paid": row["paid"],
            "bought": row["bought"],
            "proof": "proved" if row["proved"] else "not proved",
            "what": "knee" if row["knee"] else "trade-off",
            "bound": None if row["proved"] else row["bound"],
        }
        for row in rows
    ]
    most = max(row["paid"] for row in rows)
    # Vega would label halves on an axis of few moves, in spite of tickMinStep.
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
    return titled(
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
        ),
        f"what {paid} buy in {bought}",
        "each dot is proved" if all(row["proved"] for row in rows) else "open dots are not proved",
        width=WIDTH,
        height=300,
    )


def sizes(
    table: Table, *, target: float | None = None, what: str = "partitions"
) -> alt.LayerChart:
    """What the members with most and with least have, for each number of members.

    Parameters
    ----------
    table : a row a number of members: `members`; `most` and `least`, what the members with most
        and with least have in the best assignment; `least` may be left out
    target : the most that a member should have, drawn as a line; None: no line
    what : unit: partitions, or records of lag
    """
    columns = {"members": NUMBER, "most": NUMBER, "least": NUMBER.unless_there(None)}
    rows = checked("sizes", table, columns)
    has_least = any(row["least"] is not None for row in rows)
    values = rows if has_least else [row | {"least": row["most"]} for row in rows]
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
    if has_least:
        notes[0] += "; shade: down to the one with least"
    if target is not None:
        rule = alt.Chart(alt.InlineData(values=[{"target": target}]))
        layers.append(
            rule.mark_rule(strokeDash=[5, 3], color=ORANGE, strokeWidth=2).encode(y="target:Q")
        )
        notes.append(f"dashed: the target, {target:,}")
    return titled(
        alt.layer(*layers),
        f"{what} per member, by the number of members",
        *notes,
        width=WIDTH,
        height=280,
    )


def _shade_of(named: list[str], *, others: bool) -> alt.Color | alt.ColorValue:
    """Return a shade for each topic; the last name is grey if it stands for all others."""
    if not named:
        return alt.ColorValue(BLUE)
    shades = [shade for shade in SHADES if shade != PALE_GREY or not others]
    shown = [*shades[: len(named) - others], *[PALE_GREY] * others]
    scale = alt.Scale(domain=named, range=shown)
    return alt.Color("topic:N", sort=named, scale=scale).title("topic")


def _color_of(panels: list[str]) -> alt.Color:
    """Return colours: now is orange, the best blue, others are grey, then pale."""
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
    """Return the topics that get a colour, then a name for all others, if there are any."""
    every = greatest_first(size)
    if len(every) <= MOST_TOPICS:
        return every
    kept = every[: MOST_TOPICS - 1]
    return [*kept, f"{len(every) - len(kept)} other topics"]


def _shown(shown: Collection[str], members: Collection[str]) -> str | None:
    return f"{len(shown)} of {len(members)} members" if len(shown) < len(members) else None
