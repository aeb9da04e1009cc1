"""Gains: how much of the gain of all moves a few of them bring."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from compare.lag.behind import behind
from compare.what_if import fewest
from groups.assignment import Assignment
from groups.tiers import LAG_PEAKS, values
from groups.wording import agreed, counted, percent
from optimal.frontier import knee, pays_first
from optimal.solve import solve
from optimal.time_left import TimeLeft

if TYPE_CHECKING:
    from collections.abc import Sequence

    from compare.judged import Judged
    from groups.group import Group
    from optimal import Frontier, Point

WITH_MOVES = ("balance", "stickiness")
# Percent of the full gain that is enough to stop at.
ENOUGH = 80
# With more readers the flows for a few numbers of moves take more than about 0.1 seconds.
MOST_READERS = 8_000


def early_gain(judged: Judged) -> str | None:
    """Return a sentence on how few moves bring most of the gain in balance of all moves.

    If the moves are for lag, too, it says how many are enough for balance.

    None if the gain is not sure, if all moves are needed, if the objective has other tiers than
    balance, moves and lag, or if the group is large: the readers of all partitions are more than
    8,000, with members that read the same counted once. Each number of moves is tried by a flow,
    which finds an assignment, so the gain is a real one.
    """
    target, verdict = judged.target, judged.verdict
    if not verdict.is_improvable or verdict.tier != "balance":
        return None
    if judged.best is None or target is None:
        return None
    group, every, asked = target.group, len(target.moved), {*judged.best.objective}
    if asked & {*LAG_PEAKS} and asked <= {*WITH_MOVES, *LAG_PEAKS}:
        few = solve(group, WITH_MOVES).terms[-1].value
        lead = f"{counted(few, 'move')} {agreed(few, 'are')} enough for loads as even"
        return f"{lead}; the others are for less lag." if few < every else None
    if not verdict.sure or asked != {*WITH_MOVES}:
        return None
    readers = np.bincount(group.subscription_topics, minlength=len(group.topics))
    if int((readers * group.partitions).sum()) > MOST_READERS:
        return None
    from optimal.budgets.trades import most_even

    now, best = (values(one, ("balance",))[0] for one in (judged.now, target))
    gains: dict[int, int] = {every: now - best}
    no_limit = TimeLeft.of(None)

    def brings_most(few: int) -> bool:
        owner, _ = most_even(group, few, no_limit)
        gains[few] = now - values(Assignment(group, owner), ("balance",))[0]
        return 100 * gains[few] >= ENOUGH * gains[every]

    few = fewest(0, every, brings_most, no_limit)
    return f"{what_moves_buy(few, gains[few], every, now - best)}." if few < every else None


def what_moves_buy(few: int, gain: int, every: int, most: int) -> str:
    """Return the clause on the share of the gain that a part of the moves brings.

    Parameters
    ----------
    few, gain : a number of moves, and how far they bring a tier down
    every, most : the number of all moves, and how far these do
    """
    moves = f"{counted(few, 'move')} {agreed(few, 'give')}"
    return f"{moves} {percent(gain, most)} of what {every} would"


class TradeOff(NamedTuple):
    """A point of a frontier, as a row of its table.

    Attributes
    ----------
    spent : value of the tier that is paid with: moves, if one of the two tiers is
    bought : value of the other tier
    bound : lower bound on `bought` for what is spent; None if unknown
    per_move : gain in `bought` of each moved partition since the point with fewer moves, rounded
        down; None for the first point, and if no tier is moves
    is_knee : whether it is the knee, as `optimal.frontier.knee` finds it
    catch_up : seconds until the last member has caught up; None if unknown
    balance : KIP-54's score, also if it is neither tier
    """

    point: Point
    spent: int
    bought: int
    bound: int | None
    per_move: int | None
    is_knee: bool
    catch_up: int | None
    balance: int


def trade_offs(tiers: tuple[str, str], points: Sequence[Point]) -> list[TradeOff]:
    """Return the points of a frontier, the cheapest first."""
    return sorted(_rows(tiers, points), key=lambda one: one.spent)


def _rows(tiers: tuple[str, str], points: Sequence[Point]) -> list[TradeOff]:
    """Return the points of a frontier in their order."""
    spent, at_knee = 0 if pays_first(tiers) else 1, knee(points)
    gains = gains_per_move(tiers, points)
    late = [behind(point.assignment) for point in points]
    return [
        TradeOff(
            point=point,
            spent=point.at[spent],
            bought=point.at[1 - spent],
            bound=(point.first_bound, point.second_bound)[1 - spent],
            per_move=gains[i],
            is_knee=i == at_knee,
            catch_up=None if (one := late[i]) is None else one.longest,
            balance=values(point.assignment, WITH_MOVES[:1])[0],
        )
        for i, point in enumerate(points)
    ]


def frontier_document(group: Group, tiers: tuple[str, str], points: Frontier) -> dict[str, object]:
    """Return the ``assay-frontier/1`` document."""
    return {
        "format": "assay-frontier/1",
        "group": group.name,
        "tiers": list(tiers),
        "points": [
            {
                "values": list(one.point.at),
                "bounds": [one.point.first_bound, one.point.second_bound],
                "proved": one.point.proved,
                "proof": str(one.point.proof),
                "complete": one.point.complete,
                "gain_per_move": one.per_move,
                "catch_up_seconds": one.catch_up,
                "balance": one.balance,
            }
            for one in _rows(tiers, points)
        ],
        "left_out": points.left_out,
        "knee": knee(points),
        "best_balance": best_balance(group),
        "assumed": list(group.assumed),
    }


def gains_per_move(tiers: tuple[str, str], points: Sequence[Point]) -> list[int | None]:
    """Return the gain of each moved partition since the point with fewer moves.

    (points,) in the unit of the other tier, rounded down; None for the point with the fewest
    moves, and if no tier is moves.
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


def best_balance(group: Group) -> int | None:
    """Return the least balance of any assignment; None if the group has no members."""
    return solve(group, WITH_MOVES[:1]).terms[0].value if group.members else None
