"""Frontier: what one tier costs in units of another, point by point."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated

import typer

from assay.commands.options import (
    DEFAULT_SECONDS,
    Asked,
    Format,
    GroupOptions,
    OneOf,
    Views,
    one_group,
    seconds_option,
    tell_how_it_stands,
)
from assay.commands.solve import tell_proofs
from assay.streams import note_assumed, show_json
from assay.tables import noted
from assay.terminal import Column, show_table, tell
from compare.gains import (
    TradeOff,
    best_balance,
    frontier_document,
    trade_offs,
    what_moves_buy,
)
from compare.remedy import who_moves_for_lag
from compare.sentences import BALANCE, spread
from groups.errors import BadInput
from groups.tiers import LAG_PEAKS, PEAKS, TIERS, called, tier_named
from groups.wording import counted, duration, percent
from optimal import Frontier
from optimal import frontier as found_points
from optimal.frontier import pays_first

if TYPE_CHECKING:
    from groups.group import Group

MOST_POINTS = 25
MOST_ENDS = 2


def frontier(
    files: Views,
    first: Annotated[str, typer.Argument(metavar="TIER", help="one tier, as in balance")],
    second: Annotated[str, typer.Argument(metavar="TIER", help="another, as in moves")],
    *,
    group: OneOf = None,
    points: Annotated[
        int, typer.Option(metavar="N", min=2, max=10_000, help="at most so many, spread evenly")
    ] = MOST_POINTS,
    options: GroupOptions,
    format_: Format = "table",
    time_limit: Annotated[float, seconds_option("for all points together")] = DEFAULT_SECONDS,
) -> None:
    """Show what each move buys: the trade-offs of two tiers.

    With moves and peak_lag: how low the lag of the busiest member gets within so many moves.
    """
    third = next((file for file in files if file in (*TIERS, "moves")), None)
    if third is not None and not os.path.exists(third):
        raise BadInput(f"{third}: a third tier, expected FILE... and two tiers")
    one = one_group(files, group, options)
    tiers = tier_named(first), tier_named(second)
    found = found_points(one, *tiers, time_limit=time_limit, points=points)
    note_assumed(one.assumed)
    if format_ == "json":
        show_json(frontier_document(one, tiers, found))
    else:
        tell_how_it_stands(one)
        asked = Asked(sources=files, group=group, options=options, time_limit=time_limit)
        show_frontier(one, tiers, found, asked)


def show_frontier(group: Group, tiers: tuple[str, str], points: Frontier, asked: Asked) -> None:
    """Print a summary, then a row for each point, cheapest first."""
    if not group.members:
        tell(f"{group.name}: no members, so there is nothing to trade.")
        return
    if not points:
        tell(f"{group.name}: nothing was found in time; give it more with --time-limit")
        return
    rows = trade_offs(tiers, points)
    bought, paid = (called(tier) for tier in (reversed(tiers) if pays_first(tiers) else tiers))
    cheapest, dearest = rows[0], rows[-1]
    if len(rows) == 1:
        sure = cheapest.point.proved and points.left_out is None
        best = "nothing to trade, one assignment is best in both"
        tell(
            f"{group.name}: {best if sure else 'one assignment is the best found in both'}: "
            f"{bought} {cheapest.bought:,}, {paid} {cheapest.spent:,}"
        )
        if not sure:
            why = points.left_out
            tell("That it is best is not proved." if why is None else _left_out(why))
        return
    at_knee = next((row for row in rows if row.is_knee), None)
    tell(
        f"{group.name}: {bought} {cheapest.bought:,} for {_spent(cheapest.spent, paid)}, "
        f"{dearest.bought:,} for {_spent(dearest.spent, paid)}. "
        f"{_at_knee(paid, cheapest, dearest, at_knee) if len(rows) > MOST_ENDS else ''}".rstrip()
    )
    per_move = bool(paid == "moves" and {*tiers} & {*PEAKS})
    times = bool({*tiers} & {*LAG_PEAKS}) and None not in (row.catch_up for row in rows)
    even = None if "balance" in tiers else best_balance(group)
    least = 0 if even is None else even
    uneven = even is not None and any(row.balance > least for row in rows)
    most, every = cheapest.bought, max(1, cheapest.bought - dearest.bought)
    show_table(
        rows,
        Column(paid, lambda row: row.spent),
        Column(bought, lambda row: row.bought),
        Column("catch-up", lambda row: row.catch_up, format_number=duration, shown=times),
        Column("loads", lambda row: spread(row.point.assignment.loads), right=True, gives_way=1),
        Column("balance", lambda row: noted(row.balance, row.balance - least), shown=uneven),
        Column("per move", lambda row: row.per_move, right=True, shown=per_move),
        Column("gain", lambda row: percent(most - row.bought, every), right=True),
        Column("", lambda row: "knee" if row.is_knee else ""),
        Column("proof", lambda row: _proof(row, paid)),
    )
    if at_knee is not None:
        tell(f"knee: up to here {bought} falls by more than in proportion to {paid}, then by less")
    tell_proofs(row.point.proof for row in rows)
    if any(_proof(row, paid).startswith("at least") for row in rows):
        tell(f"at least: not proved; for so much no assignment has less {bought}")
    if per_move:
        moved = f"each {group.nouns.partition} moved"
        tell(f"per move: what {moved} buys of {bought}, since the row above")
    if points.left_out is not None:
        tell(_left_out(points.left_out))
    if "balance" in tiers or uneven:
        tell(BALANCE)
    if uneven:
        lag = next((tier for tier in tiers if tier in LAG_PEAKS), None)
        kept = "" if lag is None else asked.solve(f"balance > {lag} > moves")
        but = kept and f"; the lowest {lag} with the best balance: {kept}"
        tell(f"in brackets: how much worse than the best balance, which no row has to keep{but}")
    if "moves" in (bought, paid) and {*tiers} & {*LAG_PEAKS}:
        tell(who_moves_for_lag(group))
    row = at_knee or rows[1]
    told = ("--objective", f"{bought} > {paid}", "--at-most", f"{paid}={row.spent}")
    shows = asked.command("solve", *told)
    tell(f"an assignment with {_spent(row.spent, paid)}, in full: {shows}")


def _left_out(reason: str) -> str:
    """Return why points are left out, with the option that shows more."""
    more = {"at most": "--points gives more", "the time": "--time-limit gives more"}
    hint = next((f"; {option}" for start, option in more.items() if reason.startswith(start)), "")
    return f"Not all points: {reason}{hint}."


def _at_knee(paid: str, cheapest: TradeOff, dearest: TradeOff, best: TradeOff | None) -> str:
    if best is None:
        return "No point between stands out: each buys in proportion to what it costs, or less."
    if paid == "moves" and cheapest.spent == 0:
        gain, most = (cheapest.bought - row.bought for row in (best, dearest))
        return f"{what_moves_buy(best.spent, gain, dearest.spent, most)}."
    return f"The knee: {best.bought:,} for {_spent(best.spent, paid)}."


def _spent(number: int, unit: str) -> str:
    return counted(number, "move") if unit == "moves" else f"{unit} {number:,}"


def _proof(row: TradeOff, paid: str) -> str:
    if row.point.proved:
        return str(row.point.proof)
    if row.bound == row.bought:
        return f"{paid} not proved"
    return "not proved" if row.bound is None else f"at least {row.bound:,}"
