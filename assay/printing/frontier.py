"""The trade-offs of two tiers: a sentence, a row a point, the knee."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from assay.printing.one_group import BALANCE
from assay.printing.table import Table
from assay.printing.terminal import tell
from compare.gains import what_moves_buy
from compare.lag.behind import behind
from compare.sentences import called, spread
from groups.tiers import LAG_PEAKS, PEAKS
from groups.wording import counted, duration
from optimal.frontier.point import knee

if TYPE_CHECKING:
    from collections.abc import Sequence

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
                "gain_per_move": gain,
                "catch_up_seconds": _catch_up(point),
            }
            for point, gain in zip(points, gains_per_move(tiers, points), strict=True)
        ],
        "left_out": points.left_out,
        "knee": knee(points),
        "assumed": list(group.assumed),
    }


def gains_per_move(tiers: tuple[str, str], points: Sequence[Point]) -> list[int | None]:
    """Return what each moved partition buys of the other tier since the point with fewer moves.

    (points,) rounded down; None of the point with the fewest moves, and where no tier is moves.
    """
    if "stickiness" not in tiers:
        return [None] * len(points)
    moves = tiers.index("stickiness")
    found: dict[int, int] = {}
    ascending = sorted(points, key=lambda point: point.at[moves])
    for before, after in pairwise(ascending):
        fewer = before.at[1 - moves] - after.at[1 - moves]
        found[id(after)] = fewer // (after.at[moves] - before.at[moves])
    return [found.get(id(point)) for point in points]


def _catch_up(point: Point) -> int | None:
    late = behind(point.assignment)
    return None if late is None else late.longest


def print_frontier(group: Group, tiers: tuple[str, str], points: Frontier) -> None:
    """Print what is known, then a row a point, from the one that costs least."""
    if not points:
        tell(f"{group.name}: nothing was found in time; give it more with --time-limit")
        return
    # What is spent comes first: moves where one of the two is about moves, else the second tier.
    spent = 0 if tiers[0] in MOVING and tiers[1] not in MOVING else 1
    names = [called(tier) for tier in tiers]
    paid, bought = names[spent], names[1 - spent]
    if len(points) == 1:
        at = points[0].at
        tell(
            f"{group.name}: nothing to trade, one assignment is best in both: "
            f"{bought} {at[1 - spent]:,}, {paid} {at[spent]:,}"
        )
        return
    gains = gains_per_move(tiers, points)
    rows = [(one.at[spent], one.at[1 - spent], one, gains[i]) for i, one in enumerate(points)]
    rows.sort(key=lambda row: row[0])
    at_knee = knee(points)
    best = None if at_knee is None else points[at_knee]
    tell(f"{group.name}: {_headline(paid, bought, rows[0][:2], rows[-1][:2], best, spent)}")
    per_move = paid == "moves" and {*tiers} & {*PEAKS}
    times = bool({*tiers} & {*LAG_PEAKS}) and None not in (_catch_up(point) for point in points)
    heads = [paid, bought, *["catch-up"] * times, "loads", *["per move"] * bool(per_move)]
    table = Table(*heads, "gain", "", "proof", right=range(len(heads) + 1), gives_way=[2, 5])
    worst, least = rows[0][1], rows[-1][1]
    for cost, value, point, gain in rows:
        cells: list[object] = [f"{cost:,}", f"{value:,}"]
        cells += [duration(_catch_up(point) or 0)] * times
        cells.append(spread(point.assignment.loads))
        cells += [None if gain is None else f"{gain:,}"] * bool(per_move)
        share = f"{100 * (worst - value) // (worst - least)}%"
        table.add(*cells, share, "knee" if point is best else "", _proof(point, spent, paid))
    table.show()
    if any(_proof(point, spent, paid).startswith("at least") for point in points):
        tell(f"at least: not proved; for so much no assignment has less {bought}")
    if per_move:
        tell(f"per move: what each partition moved buys of {bought}, since the row above")
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
    text = f"{bought} {worst:,} for {_spent(least, paid)}, {at_most:,} for {_spent(most, paid)}."
    if best is None:
        return f"{text} No knee: no point is better than the straight line between the two."
    cost, value = best.at[spent], best.at[1 - spent]
    if paid == "moves" and least == 0:
        return f"{text} {what_moves_buy(cost, worst - value, most, worst - at_most)}."
    return f"{text} The knee: {value:,} for {_spent(cost, paid)}."


def _spent(number: int, unit: str) -> str:
    return counted(number, "move") if unit == "moves" else f"{unit} {number:,}"


def _proof(point: Point, spent: int, paid: str) -> str:
    if point.proved:
        return str(point.proof)
    if point.at[1 - spent] == (point.first_bound, point.second_bound)[1 - spent]:
        return f"{paid} not proved"
    bound = (point.first_bound, point.second_bound)[1 - spent]
    return "not proved" if bound is None else f"at least {bound:,}"
