"""Bin completion: the least peak where members hold few partitions each.

Parts are given to one member after the other: `first_deal` looks at all deals, `likely_deal` at
those that leave most ways to go on. Each partition has
a price, of either sign, and no part costs more than its slack: then what is left to deal costs no
more than the slack that is left, or it cannot be dealt. So a list of prices is one more budget. By
linear programming duality such prices show every deal hopeless that not even fractions of parts
could go on with.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from optimal.answer import SEED
from optimal.loads.incumbent import Incumbent
from optimal.loads.parts import extreme_first, first_free, parts_within
from optimal.time_left import TimeLeft

if TYPE_CHECKING:
    from collections.abc import Iterator

    from groups.arrays import Floats, Int64
    from optimal.loads.candidates import Candidates
    from optimal.loads.parts import Bits, Parts


# Ways that are continued at once.
AT_ONCE = 2**14
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
class Deals:
    """Ways to give parts to some of the members, no partition twice.

    The next member always gets a part with the first partition that is left: members are alike,
    so every assignment is met once.

    Attributes
    ----------
    dealt : how many members have their part
    taken : (words, ways) uint64, the partitions that are given
    left : (budgets, ways) int64, what is left of each budget
    before : the deals that these continue, None at the start
    of : (ways,) int64, which of them each continues
    part : (ways,) int64, number of the part that was given last
    """

    dealt: int
    taken: Bits
    left: Int64
    before: Deals | None
    of: Int64
    part: Int64

    def __len__(self) -> int:
        """Return the number of ways."""
        return len(self.part)

    def some(self, which: Int64 | slice) -> Deals:
        """Return some of the ways."""
        taken, left = self.taken[:, which], self.left[:, which]
        return Deals(self.dealt, taken, left, self.before, self.of[which], self.part[which])

    def parts_of(self, way: int) -> list[int]:
        """Return the numbers of the parts of one way, the last one first."""
        numbers, deals = [], self
        while deals.before is not None:
            numbers.append(int(deals.part[way]))
            deals, way = deals.before, int(deals.of[way])
        return numbers


def nothing_dealt(parts: Parts) -> Deals:
    """Return the one way to give nobody anything."""
    none = np.zeros(1, np.int64)
    taken = np.zeros((len(parts.bits), 1), np.uint64)
    return Deals(0, taken, parts.budget[:, None], None, none, none)


def continuations(parts: Parts, deals: Deals) -> tuple[Int64, Int64]:
    """Return the (way, part) of every deal to one more member, (continuations,) int64 each."""
    ways, numbers = [], []
    for some, start, end in _alike(parts, deals):
        fits = deals.left[0, some, None] >= parts.slack[0, start:end]
        for taken, bits in zip(deals.taken, parts.bits, strict=True):
            fits &= (taken[some, None] & bits[start:end]) == 0
        way, number = np.nonzero(fits)
        ways.append(some[way])
        numbers.append(start + number)
    none = np.zeros(0, np.int64)
    way, number = np.concatenate((none, *ways)), np.concatenate((none, *numbers))
    for left, slack in zip(deals.left[1:], parts.slack[1:], strict=True):
        enough = left[way] >= slack[number]
        way, number = way[enough], number[enough]
    return way, number


def _alike(parts: Parts, deals: Deals) -> Iterator[tuple[Int64, int, int]]:
    """Yield ways of one first partition that is left, and the range of parts to try for them."""
    first = first_free(deals.taken, len(parts.size))
    # Short integers are sorted by counting.
    order = np.argsort(first.astype(np.uint16), kind="stable")
    at = np.searchsorted(first[order], np.arange(len(parts.size) + 1))
    for p in np.flatnonzero(np.diff(at)).tolist():
        of_p = order[at[p] : at[p + 1]]
        start, end = int(parts.starts[p]), int(parts.starts[p + 1])
        most = int(deals.left[0, of_p].max())
        tried = int(np.searchsorted(parts.slack[0, start:end], most, side="right"))
        if tried:
            yield of_p, start, start + tried


def continued(parts: Parts, deals: Deals, way: Int64, part: Int64) -> Deals:
    """Return the deals in which some ways go on with some parts."""
    taken = deals.taken[:, way] | parts.bits[:, part]
    left = deals.left[:, way] - parts.slack[:, part]
    return Deals(deals.dealt + 1, taken, left, deals, way, part)


def complete(parts: Parts, deals: Deals) -> Int64:
    """(ways,) int64: the ways in which everything is given to all members."""
    if deals.dealt != parts.members:
        return np.zeros(0, np.int64)
    return np.flatnonzero((deals.taken == parts.everything[:, None]).all(axis=0))


class Undecided(Exception):
    """Too many deals to look at them all."""


def first_deal(parts: Parts, time_left: TimeLeft, most: int) -> list[int] | None:
    """Return the parts of an assignment that keeps to the peak; None if there is none.

    Depth first, many ways at a time: set partitioning by enumeration, as Schreiber, Korf and
    Moffitt do for number partitioning (2018, doi:10.1145/3184400).

    Parameters
    ----------
    most : how many deals are looked at

    Raises
    ------
    Undecided
        If there are more of them, or the time is up.
    """
    waiting, seen = [nothing_dealt(parts)], 0
    while waiting:
        deals = waiting.pop()
        if len(deals) > AT_ONCE:
            waiting.append(deals.some(slice(AT_ONCE, None)))
            deals = deals.some(slice(AT_ONCE))
        found: Deals = continued(parts, deals, *continuations(parts, deals))
        seen += len(found)
        if seen > most or time_left.is_up:
            raise Undecided
        if found.dealt == parts.members:
            done = complete(parts, found)
            if len(done):
                return found.parts_of(int(done[0]))
        elif len(found):
            waiting.append(found)
    return None


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
    """Return the parts of an assignment that keeps to the peak; None if none is found.

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


# Partitions in all and with one member, beyond which nobody holds few.
MOST_PARTITIONS, MOST_HELD = 512, 6
# What the first round may look at, how much more the next ones may, and how many there are.
DEALS, WORK = 200_000, 10_000
# So many deals are looked at before prices are made to look at fewer.
FEW_DEALS = 20_000
MORE_DEALS, MORE_WORK = 8, 3
# Most deals that a round looks at, and of how many parts of the time left they get one; less
# where the bound did not rise in the round before.
MOST_DEALS, SHARE, STUCK_SHARE = 10**8, 2, 20
ROUNDS = 8
# By what part of the way that it came from the average the peak rises that is ruled out next.
RISE = 0.15


def are_few(candidates: Candidates) -> bool:
    """Return whether all members may hold the same, and few partitions each."""
    if len(candidates.least) != 1 or not candidates.members or not candidates.may.all():
        return False
    least, most = candidates.least[0], candidates.most[0]
    alike = bool((least == least[0]).all() and (most == most[0]).all())
    return (
        alike
        and 1 <= int(least[0]) <= int(most[0]) <= MOST_HELD
        and len(candidates.size) <= MOST_PARTITIONS
    )


class Dealing:
    """What is known of the least peak while parts are dealt.

    Attributes
    ----------
    incumbent : the best assignment so far
    bound : no peak is below it: all deals below were looked at
    """

    def __init__(self, incumbent: Incumbent, bound: int) -> None:
        """Start from an assignment and a bound."""
        self.incumbent, self.bound = incumbent, bound
        candidates = incumbent.candidates
        self.counts = range(int(candidates.least[0, 0]), int(candidates.most[0, 0]) + 1)
        self.order = extreme_first(candidates.size)
        self.average = -(-candidates.total // candidates.members)
        self.rng = np.random.default_rng(SEED)

    @property
    def is_closed(self) -> bool:
        """Whether the assignment is as good as the bound."""
        return self.incumbent.peak <= self.bound

    def run(self, time_left: TimeLeft) -> None:
        """Raise the bound and lower the peak in turns, each time with more effort."""
        deals, work, risen = DEALS, WORK, True
        for _ in range(ROUNDS):
            share = SHARE if risen else STUCK_SHARE
            risen = self._rule_out(TimeLeft.of(time_left.share(share)), deals)
            deals = min(MORE_DEALS * deals, MOST_DEALS)
            above = self._step if risen else 0
            while self.bound + above < self.incumbent.peak and not time_left.is_up:
                parts = self._parts(self.bound + above)
                if parts is None:
                    break
                found = likely_deal(parts, self.rng, time_left, work)
                if found is not None:
                    self._take(parts, found)
                    break
                above = max(2 * above, self._step)
            work *= MORE_WORK
            if self.is_closed or time_left.is_up:
                return

    @property
    def _step(self) -> int:
        """How far above the bound the next peak is tried."""
        return max(1, ceil(RISE * (self.bound - self.average)))

    def _rule_out(self, time_left: TimeLeft, most: int) -> bool:
        """Look at all deals of one peak after the other, from the bound; say if it rose."""
        before, step = self.bound, 0
        while not self.is_closed:
            parts = self._parts(min(self.incumbent.peak - 1, self.bound + step))
            if parts is None:
                break
            try:
                found = self._dealt(parts, time_left, most)
            except Undecided:
                break
            if found is None:
                self.bound = parts.peak + 1
                step = self._step - 1
            else:
                self._take(parts, found)
        return self.bound > before

    def _dealt(self, parts: Parts, time_left: TimeLeft, most: int) -> list[int] | None:
        """Look at all deals, with prices where they are not few."""
        try:
            return first_deal(parts, time_left, FEW_DEALS)
        except Undecided:
            return first_deal(with_prices(parts, time_left), time_left, most)

    def _parts(self, peak: int) -> Parts | None:
        candidates = self.incumbent.candidates
        return parts_within(candidates.size[self.order], candidates.members, self.counts, peak)

    def _take(self, parts: Parts, found: list[int]) -> None:
        """Let each member hold one of the parts."""
        holder = np.empty(len(self.order), np.int64)
        member, partition = np.nonzero(parts.holds(found))
        holder[self.order[partition]] = member
        self.incumbent = Incumbent(self.incumbent.candidates, holder)


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
