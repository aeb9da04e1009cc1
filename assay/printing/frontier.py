"""The trade-offs of two tiers: a sentence, a row a point, the knee."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.printing.one_group import BALANCE
from assay.printing.table import Table
from assay.printing.terminal import tell
from compare.gains import what_moves_buy
from compare.sentences import spread
from groups.wording import counted
from optimal.frontier.knee import knee

if TYPE_CHECKING:
    from groups.group import Group
    from optimal import Frontier, Point

MOVING = ("stickiness", "moved_weight")


def document(group: Group, tiers: tuple[str, str], points: Frontier) -> dict[str, object]:
    """Return the ``assay-frontier/1`` document."""
    return {
        "format": "assay-frontier/1",
        "group": group.name,
        "tiers": list(tiers),
        "points": [
            {
                "values": list(point.at),
                "bounds": [point.first_bound, point.second_bound],
                "proved": point.proved,
                "proof": str(point.proof),
                "complete": point.complete,
            }
            for point in points
        ],
        "left_out": points.left_out,
        "knee": knee(points),
        "assumed": list(group.assumed),
    }


def print_frontier(group: Group, tiers: tuple[str, str], points: Frontier) -> None:
    """Print what is known, then a row a point, from the one that costs least."""
    if not points:
        tell(f"{group.name}: nothing was found in time; give it more with --time-limit")
        return
    # What is spent comes first: moves where one of the two is about moves, else the second tier.
    spent = 0 if tiers[0] in MOVING and tiers[1] not in MOVING else 1
    names = ["moves" if tier == "stickiness" else tier for tier in tiers]
    paid, bought = names[spent], names[1 - spent]
    if len(points) == 1:
        at = points[0].at
        tell(
            f"{group.name}: nothing to trade, one assignment is best in both: "
            f"{bought} {at[1 - spent]}, {paid} {at[spent]}"
        )
        return
    rows = [(point.at[spent], point.at[1 - spent], point) for point in points]
    rows.sort(key=lambda row: row[0])
    at_knee = knee(points)
    best = None if at_knee is None else points[at_knee]
    tell(f"{group.name}: {_headline(paid, bought, rows[0][:2], rows[-1][:2], best, spent)}")
    table = Table(paid, bought, "loads", "gain", "", "proof", right=[3], gives_way=[2, 5])
    worst, least = rows[0][1], rows[-1][1]
    for cost, value, point in rows:
        gain = f"{100 * (worst - value) // (worst - least)}%"
        mark = "knee" if point is best else ""
        loads = spread(point.assignment.loads)
        table.add(cost, value, loads, gain, mark, _proof(point, spent))
    table.show()
    if points.left_out is not None:
        tell(_left_out(points.left_out))
    if "balance" in tiers:
        tell(BALANCE)


def _left_out(reason: str) -> str:
    """Return the sentence of what is not shown, with the options that would show more."""
    more = {"at most": "--points gives more", "the time": "--time-limit gives more"}
    hint = next((f"; {option}" for start, option in more.items() if reason.startswith(start)), "")
    return f"Not all points: {reason}{hint}."


def _headline(
    paid: str,
    bought: str,
    cheapest: tuple[int, int],
    dearest: tuple[int, int],
    best: Point | None,
    spent: int,
) -> str:
    (least, worst), (most, at_most) = cheapest, dearest
    text = f"{bought} {worst} for {_spent(least, paid)}, {at_most} for {_spent(most, paid)}."
    if best is None:
        return f"{text} No knee: no point is better than the straight line between the two."
    cost, value = best.at[spent], best.at[1 - spent]
    if paid == "moves" and least == 0:
        return f"{text} {what_moves_buy(cost, worst - value, most, worst - at_most)}."
    return f"{text} The knee: {value} for {_spent(cost, paid)}."


def _spent(number: int, unit: str) -> str:
    return counted(number, "move") if unit == "moves" else f"{unit} {number}"


def _proof(point: Point, spent: int) -> str:
    if point.proved:
        return str(point.proof)
    bound = (point.first_bound, point.second_bound)[1 - spent]
    return "not proved" if bound is None else f"not proved, at least {bound}"
