"""Likely deals: those that leave most ways to go on, for parts too many to try every deal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from optimal.exchange.few.deals import complete, continuations, continued, nothing_dealt
from optimal.exchange.few.parts import first_free

if TYPE_CHECKING:
    from groups.arrays import Int64
    from optimal.exchange.few.deals import Deals
    from optimal.exchange.few.parts import Parts
    from optimal.time_left import TimeLeft

Floats = np.ndarray[tuple[int, ...], np.dtype[np.float64]]

# How much more than by the normal law it counts that partitions of middling weight are left, and
# by how much (in the logarithm of the number of ways) what is kept is left to chance.
MIDDLING, CHANCE = 1.75, 0.3
# A way that goes on is as much work as so many parts that are tried.
LEAST_TRIED, MOST_TRIED = 4, 256
# At most so many times as many ways are kept as for the member before.
MORE = 4
# The last members get so many times the work of the first: few parts are left for them to try.
GROWTH = 100
MOST_WAYS = 500_000
# Most of a budget of which the logarithms of binomials are written down.
MOST_BUDGET = 1_000_000


@dataclass(frozen=True, eq=False)
class Outlook:
    """How many ways there are to deal the rest, by a rule of thumb.

    If what members carry were normal, as many deals would keep to the peak as there are ways to
    spread the budget over the members left, times the density of each of their sums: the more the
    less the partitions left differ in weight.

    Attributes
    ----------
    parts : what can be dealt
    away : (parts,) float64, sum of the squares by which their partitions are off the average
    held : (parts,) int64, how many partitions each has
    logs : (budget + members + 1,) float64, logarithms of factorials
    """

    parts: Parts
    away: Floats
    held: Int64
    logs: Floats

    @staticmethod
    def of(parts: Parts) -> Outlook:
        """Look at the weights of the parts."""
        off = parts.size - parts.size.mean()
        holds = parts.holds()
        count = int(parts.budget[0]) + parts.members + 1
        logs = np.concatenate(([0.0], np.cumsum(np.log(np.arange(1, count)))))
        return Outlook(parts, holds @ (off * off), holds.sum(axis=1), logs)

    def of_deals(self, left: Int64, members: int, away: Floats, count: Int64) -> Floats:
        """(ways,) float64: the logarithm of the number of ways to go on, but for a constant.

        Parameters
        ----------
        left : what is left of the budget
        members : how many have no part yet
        away, count : of the partitions left
        """
        spread = self.logs[left + members] - self.logs[left] - self.logs[members]
        deviation = np.sqrt(np.maximum(away / np.maximum(count, 1), 1.0))
        return np.asarray(spread - MIDDLING * (members - 1) * np.log(deviation), np.float64)


def likely_deal(
    parts: Parts, rng: np.random.Generator, time_left: TimeLeft, work: int
) -> list[int] | None:
    """Return the parts of an assignment that keeps to the peak; None where none is found.

    Beam search: of all deals to one more member those with the best outlook are kept.

    Parameters
    ----------
    work : how many parts are tried for the first member, all ways together; more for later ones
    """
    if parts.budget[0] > MOST_BUDGET:
        return None
    outlook = Outlook.of(parts)
    off = parts.size - parts.size.mean()
    deals, away, count = nothing_dealt(parts), np.array([off @ off]), np.array([len(off)])
    while deals.dealt < parts.members:
        tries = int(work * GROWTH ** (deals.dealt / parts.members))
        way, part = continuations(parts, deals)
        if not len(way) or time_left.is_up:
            return None
        away, count = away[way] - outlook.away[part], count[way] - outlook.held[part]
        left, members = deals.left[0, way] - parts.slack[0, part], parts.members - deals.dealt - 1
        likely = outlook.of_deals(left, members, away, count)
        likely += CHANCE * rng.gumbel(size=len(way))
        most = min(1 + tries // LEAST_TRIED, MORE * len(deals) + tries // MOST_TRIED, MOST_WAYS)
        best = _best(likely, most)
        deals = continued(parts, deals, way[best], part[best])
        some = slice(_affordable(parts, deals, tries))
        deals, away, count = deals.some(some), away[best][some], count[best][some]
    done = complete(parts, deals)
    return deals.parts_of(int(done[0])) if len(done) else None


def _best(likely: Floats, most: int) -> Int64:
    """(most,) int64: the likeliest, in that order."""
    some = np.arange(len(likely))
    if most < len(likely):
        some = np.argpartition(-likely, most)[:most]
    return some[np.argsort(-likely[some], kind="stable")]


def _affordable(parts: Parts, deals: Deals, tries: int) -> int:
    """Return how many of the deals, the first ones, can go on with so many tries."""
    first = first_free(deals.taken, len(parts.size))
    tried = np.diff(parts.starts, append=parts.starts[-1])[first]
    return max(1, int(np.searchsorted(np.cumsum(tried + LEAST_TRIED), tries)))
