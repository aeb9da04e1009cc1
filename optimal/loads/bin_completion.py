"""Bin completion: the least peak where members hold few partitions each.

A part is a set of partitions that one member may hold under a peak (`optimal.loads.parts`); a deal
gives a part to each of the first few members. `first_deal` looks at all deals, `likely_deal` at
those that leave most ways to go on.

Prices, one for each partition and of either sign, show deals hopeless. No part costs more than its
slack, so if the partitions left cost more than the slack left, they cannot be dealt. So a list of
prices is one more budget. By linear programming duality, such prices exist for every deal that
could not even be completed with fractions of parts.
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
# The exponent of the deviation of the weights left (1 by the normal law).
MIDDLING = 1.75
# Continuing a way takes as much work as trying so many parts.
LEAST_TRIED, MOST_TRIED = 4, 256
# At most so many times as many ways are kept as for the member before.
MORE = 4
# The last members get so many times the work of the first: few parts are left for them to try.
GROWTH = 100
MOST_WAYS = 500_000
# Up to this budget, the logarithms of factorials are tabulated.
MOST_BUDGET = 1_000_000


@dataclass(frozen=True, eq=False)
class Deals:
    """Ways to give parts to the first members, no partition twice.

    The next member always gets a part that holds the first partition left. Members are alike, so
    every assignment is met once.

    Attributes
    ----------
    dealt : how many members have their part
    taken : (words, ways) uint64, the partitions that are given, as bits
    left : (budgets, ways) int64, what is left of each budget
    before : the deals to one member fewer that these continue, None at the start
    of : (ways,) int64, which way of `before` each continues
    part : (ways,) int64, index of the part that was given last
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

    def only(self, which: Int64 | slice) -> Deals:
        """Return the chosen ways."""
        taken, left = self.taken[:, which], self.left[:, which]
        return Deals(self.dealt, taken, left, self.before, self.of[which], self.part[which])

    def parts_of(self, way: int) -> list[int]:
        """Return the indices of the parts of one way, the last one first."""
        indices, deals = [], self
        while deals.before is not None:
            indices.append(int(deals.part[way]))
            deals, way = deals.before, int(deals.of[way])
        return indices


def nothing_dealt(parts: Parts) -> Deals:
    """Return the deals to no member: one way, in which nothing is given."""
    none = np.zeros(1, np.int64)
    taken = np.zeros((len(parts.bits), 1), np.uint64)
    return Deals(0, taken, parts.budget[:, None], None, none, none)


def continuations(parts: Parts, deals: Deals) -> tuple[Int64, Int64]:
    """Return the (way, part) of every deal to one more member, (continuations,) int64 each."""
    ways, indices = [], []
    for alike, start, end in _ways_by_first_partition(parts, deals):
        fits = deals.left[0, alike, None] >= parts.slack[0, start:end]
        for taken, bits in zip(deals.taken, parts.bits, strict=True):
            fits &= (taken[alike, None] & bits[start:end]) == 0
        way, part = np.nonzero(fits)
        ways.append(alike[way])
        indices.append(start + part)
    none = np.zeros(0, np.int64)
    way, part = np.concatenate((none, *ways)), np.concatenate((none, *indices))
    for left, slack in zip(deals.left[1:], parts.slack[1:], strict=True):
        enough = left[way] >= slack[part]
        way, part = way[enough], part[enough]
    return way, part


def _ways_by_first_partition(parts: Parts, deals: Deals) -> Iterator[tuple[Int64, int, int]]:
    """Yield the ways with the same first partition left, and the range of parts to try next."""
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
    """Return the deals in which each way is continued with the part of the same position."""
    taken = deals.taken[:, way] | parts.bits[:, part]
    left = deals.left[:, way] - parts.slack[:, part]
    return Deals(deals.dealt + 1, taken, left, deals, way, part)


def complete(parts: Parts, deals: Deals) -> Int64:
    """Return the indices of the ways that give all partitions, and each member a part, int64."""
    if deals.dealt != parts.members:
        return np.zeros(0, np.int64)
    return np.flatnonzero(first_free(deals.taken, len(parts.size)) == len(parts.size))


class Undecided(Exception):
    """There are too many deals to look at them all, or the time is up."""


def first_deal(parts: Parts, time_left: TimeLeft, most: int) -> list[int] | None:
    """Return the parts of an assignment that keeps to the peak; None if there is none.

    Set partitioning by enumeration, as Schreiber, Korf and Moffitt do for number partitioning
    (2018, doi:10.1145/3184400): depth first, many ways at a time.

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
            waiting.append(deals.only(slice(AT_ONCE, None)))
            deals = deals.only(slice(AT_ONCE))
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


def _likelihood(logs: Floats, left: Int64, members: int, away: Floats, count: Int64) -> Floats:
    """(ways,) float64: logarithm of an estimate of the ways to deal the rest, up to a constant.

    If members' loads were distributed normally, the number would be that of the ways to spread the
    budget over the members left, times the density of each load. So the less the weights of the
    partitions left differ, the more ways there are.

    Parameters
    ----------
    logs : logarithms of the factorials of 0, 1, 2, ...
    left : (ways,) int64, what is left of the budget
    members : how many members have no part yet
    away, count : (ways,), the sum of (weight - average weight) squared of the partitions left, and
        their number
    """
    spread = logs[left + members] - logs[left] - logs[members]
    deviation = np.sqrt(np.maximum(away / np.maximum(count, 1), 1.0))
    return np.asarray(spread - MIDDLING * (members - 1) * np.log(deviation), np.float64)


def likely_deal(parts: Parts, time_left: TimeLeft, work: int) -> list[int] | None:
    """Return the parts of an assignment that keeps to the peak; None if none is found.

    Beam search: of all deals to one more member, those with the best likelihood are kept.

    Parameters
    ----------
    work : how many parts are tried for the first member over all ways; more for later members
    """
    if parts.budget[0] > MOST_BUDGET:
        return None
    factors = np.arange(1, int(parts.budget[0]) + parts.members + 1)
    logs = np.concatenate(([0.0], np.cumsum(np.log(factors))))
    off, holds = parts.size - parts.size.mean(), parts.holds()
    away_of, held = holds @ (off * off), holds.sum(axis=1)
    deals, away, count = nothing_dealt(parts), np.array([off @ off]), np.array([len(off)])
    while deals.dealt < parts.members:
        tries = int(work * GROWTH ** (deals.dealt / parts.members))
        way, part = continuations(parts, deals)
        if not len(way) or time_left.is_up:
            return None
        away, count = away[way] - away_of[part], count[way] - held[part]
        left, members = deals.left[0, way] - parts.slack[0, part], parts.members - deals.dealt - 1
        likely = _likelihood(logs, left, members, away, count)
        most = min(1 + tries // LEAST_TRIED, MORE * len(deals) + tries // MOST_TRIED, MOST_WAYS)
        best = _best(likely, most)
        deals = continued(parts, deals, way[best], part[best])
        kept = slice(_affordable(parts, deals, tries))
        deals, away, count = deals.only(kept), away[best][kept], count[best][kept]
    done = complete(parts, deals)
    return deals.parts_of(int(done[0])) if len(done) else None


def _best(likely: Floats, most: int) -> Int64:
    """(most,) int64: indices of the greatest values, in descending order."""
    indices = np.arange(len(likely))
    if most < len(likely):
        indices = np.argpartition(-likely, most)[:most]
    return indices[np.argsort(-likely[indices], kind="stable")]


def _affordable(parts: Parts, deals: Deals, tries: int) -> int:
    """Return how many of the first deals can be continued with so many tries, 1 or more."""
    first = first_free(deals.taken, len(parts.size))
    tried = np.diff(parts.starts, append=parts.starts[-1])[first]
    return max(1, int(np.searchsorted(np.cumsum(tried + LEAST_TRIED), tries)))


# Deals are tried up to so many partitions in all and with one member.
MOST_PARTITIONS, MOST_HELD = 512, 6
# Deals looked at and parts tried in the first round.
DEALS, WORK = 200_000, 10_000
# So many deals are looked at before prices are computed.
FEW_DEALS = 20_000
# The factors by which deals and parts grow from round to round.
MORE_DEALS, MORE_WORK = 8, 3
# Most deals that a round looks at. A round has 1/SHARE of the time left for them, or 1/STUCK_SHARE
# if the bound did not rise in the round before.
MOST_DEALS, SHARE, STUCK_SHARE = 10**8, 2, 20
ROUNDS = 8
# The next peak tried is above the bound by this part of the bound's distance from the average.
RISE = 0.15


def are_few(candidates: Candidates) -> bool:
    """Return whether all members may hold the same partitions, and few of them each."""
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
    """A search for the least peak by dealing parts, with the best assignment and bound so far.

    Attributes
    ----------
    incumbent : the best assignment so far
    bound : a lower bound on the peak: all deals below it were looked at
    """

    def __init__(self, incumbent: Incumbent, bound: int) -> None:
        """Start from an assignment and a bound."""
        self.incumbent, self.bound = incumbent, bound
        candidates = incumbent.candidates
        self.counts = range(int(candidates.least[0, 0]), int(candidates.most[0, 0]) + 1)
        self.order = extreme_first(candidates.size)
        self.average = -(-candidates.total // candidates.members)

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
                found = likely_deal(parts, time_left, work)
                if found is not None:
                    self._take(parts, found)
                    break
                above = max(2 * above, self._step)
            work *= MORE_WORK
            if self.is_closed or time_left.is_up:
                return

    @property
    def _step(self) -> int:
        """By how much the next peak tried is above the bound."""
        return max(1, ceil(RISE * (self.bound - self.average)))

    def _rule_out(self, time_left: TimeLeft, most: int) -> bool:
        """Look at all deals of one peak after the other, from the bound; return if it rose."""
        before, step = self.bound, 0
        while not self.is_closed:
            parts = self._parts(min(self.incumbent.peak - 1, self.bound + step))
            if parts is None:
                break
            try:
                found = self._first_deal(parts, time_left, most)
            except Undecided:
                break
            if found is None:
                self.bound = parts.peak + 1
                step = self._step - 1
            else:
                self._take(parts, found)
        return self.bound > before

    def _first_deal(self, parts: Parts, time_left: TimeLeft, most: int) -> list[int] | None:
        """Look at all deals; compute prices only if there are more than `FEW_DEALS`."""
        try:
            return first_deal(parts, time_left, FEW_DEALS)
        except Undecided:
            return first_deal(with_prices(parts, time_left), time_left, most)

    def _parts(self, peak: int) -> Parts | None:
        candidates = self.incumbent.candidates
        return parts_within(candidates.size[self.order], candidates.members, self.counts, peak)

    def _take(self, parts: Parts, found: list[int]) -> None:
        """Make the incumbent the assignment in which each member holds one of the parts."""
        holder = np.empty(len(self.order), np.int64)
        member, partition = np.nonzero(parts.holds(found))
        holder[self.order[partition]] = member
        self.incumbent = Incumbent(self.incumbent.candidates, holder)


# Deals sampled for each number of members dealt, and lists of prices computed from them.
WAYS_SAMPLED, LISTS = 4000, 2
# The share of the deals that a list has to show hopeless to be kept.
USEFUL = 0.1
# Beyond so many parts, prices take longer than they save; seconds for a list.
MOST_PARTS, SECONDS = 2000, 1.0
# Linear programs compute in floats, which are exact up to this.
EXACT_FLOATS = 2**53


def with_prices(parts: Parts, time_left: TimeLeft) -> Parts:
    """Return the parts with further budgets: lists of prices that show many deals hopeless.

    Deals are sampled, to one more member at a time. Prices maximise the average worth of the
    partitions that the sampled deals leave.
    """
    if (
        parts.slack.shape[1] > MOST_PARTS
        or int(parts.size.max()) * len(parts.size) >= EXACT_FLOATS
    ):
        return parts
    rng, pricing = np.random.default_rng(SEED), Pricing(parts)
    holds = pricing.holds
    deals, left = nothing_dealt(parts), np.ones((1, len(parts.size)), np.int64)
    lists: list[Int64] = []
    while deals.dealt + 1 < parts.members and not time_left.is_up:
        way, part = continuations(parts, deals)
        if len(way) > WAYS_SAMPLED:
            drawn = np.sort(rng.choice(len(way), WAYS_SAMPLED, replace=False))
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
        deals, left = deals.only(np.flatnonzero(hopeful)), left[hopeful]
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

    It is built once and solved with one objective after the other.

    Attributes
    ----------
    parts : what can be dealt
    holds : (parts, partitions) int64, 1 where a part holds a partition
    """

    def __init__(self, parts: Parts) -> None:
        """Build the program."""
        # Loading takes half a second, which other groups need not wait for.
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
        """(partitions,) int64: prices at which the partitions left cost most; None if not found.

        Parameters
        ----------
        left : (deals, partitions) int64, 1 where a deal leaves a partition
        """
        for price, share in zip(self._prices, left.mean(axis=0).tolist(), strict=True):
            self._solver.Objective().SetCoefficient(price, share)
        if self._solver.Solve() != self._solver.OPTIMAL:
            return None
        found = np.floor([price.solution_value() for price in self._prices]).astype(np.int64)
        # Rounded down they hold for integers; subtracting `over` from each corrects float errors.
        over = int((self.holds @ found - self.parts.slack[0]).max(initial=0))
        return np.asarray(found - max(0, over), np.int64)
