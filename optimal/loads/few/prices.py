"""Prices: what partitions are worth in slack, so that hopeless deals are seen early.

Say each partition has a price, of either sign, and no part costs more than its slack. Then what is
left to deal costs no more than the slack that is left, or it cannot be dealt. So a list of prices
is one more budget: its slack is that of each part less what the part costs. By linear programming
duality such prices show every deal hopeless that not even fractions of parts could go on with.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from optimal.loads.few.deals import continuations, continued, nothing_dealt
from optimal.seed import SEED

if TYPE_CHECKING:
    from groups.arrays import Int64
    from optimal.loads.few.parts import Parts
    from optimal.time_left import TimeLeft

Floats = np.ndarray[tuple[int, ...], np.dtype[np.float64]]

# Deals that are looked at for each number of members dealt, and lists of prices made of them.
SAMPLED, LISTS = 4000, 2
# The part of the deals that a list has to show hopeless to be kept.
USEFUL = 0.1
# Parts beyond which prices take longer than they save, and seconds for a list.
MOST_PARTS, SECONDS = 2000, 1.0
# Linear programs compute in floats.
TOLD_APART = 2**53


def with_prices(parts: Parts, time_left: TimeLeft) -> Parts:
    """Return the parts with budgets for lists of prices that show many deals hopeless.

    Deals are drawn for one member more at a time; the prices are those at which what they leave
    is worth most on average.
    """
    if parts.slack.shape[1] > MOST_PARTS or int(parts.size.max()) * len(parts.size) >= TOLD_APART:
        return parts
    rng, pricing = np.random.default_rng(SEED), Pricing(parts)
    holds = pricing.holds
    deals, left = nothing_dealt(parts), np.ones((1, len(parts.size)), np.int64)
    lists: list[Int64] = []
    while deals.dealt + 1 < parts.members and not time_left.is_up:
        way, part = continuations(parts, deals)
        if len(way) > SAMPLED:
            drawn = np.sort(rng.choice(len(way), SAMPLED, replace=False))
            way, part = way[drawn], part[drawn]
        left, deals = left[way] - holds[part], continued(parts, deals, way, part)
        hopeful = np.ones(len(deals), bool)
        for known in lists:
            hopeful &= left @ known <= deals.left[0]
        for _ in range(LISTS):
            price = pricing.worth_most(left[hopeful]) if hopeful.any() else None
            hopeless = hopeful & (left @ price > deals.left[0]) if price is not None else ~hopeful
            if price is None or hopeless.sum() < USEFUL * hopeful.sum():
                break
            lists.append(price)
            hopeful &= ~hopeless
        if not hopeful.any():
            break
        deals, left = deals.some(np.flatnonzero(hopeful)), left[hopeful]
    worth = np.array(lists, np.int64).reshape(len(lists), len(parts.size))
    slack = parts.slack[0] - worth @ holds.T
    budget = parts.budget[0] - worth.sum(axis=1)
    return replace(
        parts,
        slack=np.concatenate((parts.slack, slack)),
        budget=np.concatenate((parts.budget, budget)),
    )


class Pricing:
    """The linear program of all prices at which no part costs more than its slack.

    It is written down once and solved for one deal after the other.

    Attributes
    ----------
    parts : what can be dealt
    holds : (parts, partitions) int64, 1 where a part holds a partition
    """

    def __init__(self, parts: Parts) -> None:
        """Write the program down."""
        # Only here: half a second that other groups need not wait for.
        from ortools.linear_solver import pywraplp

        self.parts, self.holds = parts, parts.holds()
        self._solver = solver = pywraplp.Solver.CreateSolver("GLOP")
        most = int(parts.size.max()) + 1
        self._prices = [solver.NumVar(-most, most, "") for _ in parts.size]
        part, held = np.nonzero(self.holds)
        paid = [solver.Constraint(-solver.infinity(), s) for s in parts.slack[0].tolist()]
        for row, p in zip(part.tolist(), held.tolist(), strict=True):
            paid[row].SetCoefficient(self._prices[p], 1)
        solver.Objective().SetMaximization()
        solver.SetTimeLimit(int(1000 * SECONDS))

    def worth_most(self, left: Int64) -> Int64 | None:
        """(partitions,) int64: prices at which what deals leave costs most; None if not found.

        Parameters
        ----------
        left : (deals, partitions) int64, 1 where a deal leaves a partition
        """
        for price, share in zip(self._prices, left.mean(axis=0).tolist(), strict=True):
            self._solver.Objective().SetCoefficient(price, share)
        if self._solver.Solve() != self._solver.OPTIMAL:
            return None
        found = np.floor([price.solution_value() for price in self._prices]).astype(np.int64)
        # Rounded down, they hold for integers too; what floats leave over is taken from all alike.
        over = int((self.holds @ found - self.parts.slack[0]).max(initial=0))
        return np.asarray(found - max(0, over), np.int64)
