"""Frontier: the efficient trade-offs of two tiers, each point the best within a budget."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, replace
from importlib import import_module
from itertools import accumulate, pairwise
from math import inf
from typing import TYPE_CHECKING

from groups.assignment import Assignment
from groups.errors import BadInput, SolverContradiction
from groups.framed import Framed
from groups.needs import require_data
from groups.tiers import MOVES, PEAKS, parse_objective, tier_named, values
from optimal.proof import ProofKind
from optimal.solve import solve
from optimal.time_left import TimeLeft

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from groups.group import Group
    from groups.tiers import Objective
    from optimal.solution import Solution

# If one of the two tiers is one of these, budgets are on it.
MOVING = (MOVES, "moved_weight")
# Seconds for a peak within each budget on moves: what is not proved by then rarely is.
TURN = 1.0
# A budget gets 1/TURNS of the time left or more; for a peak and moves, the ends get 1/ENDS each.
TURNS, ENDS = 12, 6
# Loads are evened out with up to so many candidates, in deterministic time of about so many
# seconds; with more, that rarely suffices.
MOST_EVENED, EVENING = 1_500, 0.2


@dataclass(frozen=True, eq=False)
class Point:
    """A trade-off of two tiers, with bounds and a proof.

    Attributes
    ----------
    first_value, second_value : the values of the two tiers
    first_bound : a lower bound on the first tier among assignments with at most this second
        value; None if nothing is known
    second_bound : a lower bound on the second tier among assignments with at most this first
        value; None if nothing is known
    assignment : an assignment with these values
    proof : what the bounds rest on if both meet their values, else of kind ``none``
    complete : whether it is proved that no efficient trade-off lies between this point and the
        next one; for the last point, that no assignment has less in the second tier
    tiers : names of the two tiers; ``point["moves"]`` is the value of one
    """

    first_value: int
    second_value: int
    first_bound: int | None
    second_bound: int | None
    assignment: Assignment
    proof: ProofKind
    complete: bool = False
    tiers: tuple[str, str] = ("first", "second")

    def __getitem__(self, tier: str) -> int:
        """Return the value of a tier, by its name; ``moves`` is `stickiness`.

        Raises
        ------
        KeyError
            If the point is about two other tiers.
        """
        return dict(zip(self.tiers, self.at, strict=True))[tier_named(tier)]

    @property
    def proved(self) -> bool:
        """Whether it is proved that nothing is better in one tier and as good in the other."""
        return self.proof is not ProofKind.NONE

    @property
    def at(self) -> tuple[int, int]:
        """The values of both tiers."""
        return self.first_value, self.second_value


class Frontier(Framed, tuple[Point, ...]):
    """The trade-offs that were found, and why others may be missing.

    Attributes
    ----------
    left_out : which points may be missing and why, in words; None if it is proved that none are
    """

    left_out: str | None

    def __new__(cls, points: Iterable[Point], left_out: str | None = None) -> Frontier:
        """Build the frontier of these points, in this order."""
        made = super().__new__(cls, points)
        made.left_out = left_out
        return made

    def to_rows(self) -> Iterator[dict[str, object]]:
        """Return one row per point.

        The columns are the two tiers by their names, ``NAME_bound`` of each, None if nothing is
        known, and the point's `proved` and `complete`.
        """
        for point in self:
            bounds = (point.first_bound, point.second_bound)
            named = zip(point.tiers, bounds, strict=True)
            yield {
                **dict(zip(point.tiers, point.at, strict=True)),
                **{f"{tier}_bound": bound for tier, bound in named},
                "proved": point.proved,
                "complete": point.complete,
            }


def frontier(
    group: Group,
    first: str,
    second: str,
    *,
    time_limit: float | None = None,
    points: int | None = None,
    assume_equal: bool = False,
) -> Frontier:
    """Return the efficient trade-offs of two tiers, from the least of `first` to that of `second`.

    From one point to the next, `first` grows and `second` shrinks. The two ends are the answers of
    `solve` to ``first > second`` and ``second > first``, with a certificate if both tiers are
    flows. All points between are found by the epsilon-constraint method (Haimes, Lasdon & Wismer
    1971): each is the answer of `solve` with a budget on one of the tiers (`at_most`) that the
    point before exceeds. For balance against stickiness, a flow or sorting finds most with a
    certificate; for racks against moves or moved weight, sorting finds them. Weighted flows would
    find only the points on the convex hull, and not even those of balance: away from its optimum
    KIP-54's score is no flow cost.

    For a peak against stickiness, each point is the lowest peak within 1, 2, 3 and so on moves,
    then in steps that grow. If the readers of all partitions add up to at most 1,500, a short
    search evens out the loads of each point (`balance`), without a proof.

    Parameters
    ----------
    first, second : names of two tiers
    time_limit : seconds for everything together; when they are up, the points found so far are
        returned, with `complete` False where some may be missing
    points : at most so many, 2 or more, spread over the range of `second`, or of moves if one
        tier is about moves; None: all. Each holds an assignment of its own.
    assume_equal : take unknown subscriptions as all topics of the group

    Returns
    -------
    points : none is dominated by another, none comes twice. Points that are proved are efficient.
        `left_out` is None if these are all trade-offs, otherwise it says which may be missing, and
        why. If the points between the ends need a search, and the readers of all partitions add
        up to more than 20,000, the points are only the ends and what flows find. There are none
        if the time was up before anything was found.

    Raises
    ------
    BadInput
        If a tier is not known or comes twice, the group lacks what one needs, or its values
        leave the integers that a solver tells apart.

    Examples
    --------
    >>> from assay import Group, frontier
    >>> group = Group.from_dict(
    ...     {
    ...         "format": "assay-group/1",
    ...         "group": "orders",
    ...         "topics": {"t0": 2, "t1": 3},
    ...         "members": {
    ...             "c0": {"subscription": ["t0", "t1"], "owned": {"t0": [0, 1], "t1": [0, 1, 2]}},
    ...             "c1": {"subscription": ["t1"]},
    ...         },
    ...     }
    ... )
    >>> points = frontier(group, "balance", "stickiness")
    >>> [(point["balance"], point["stickiness"]) for point in points]
    [(1, 2), (3, 1), (5, 0)]
    >>> print(points.left_out)
    None
    >>> frontier(group, "balance", "stickiness", points=2).left_out
    'at most 2 points were asked for: there may be others between them'
    """
    if assume_equal:
        group = group.with_equal_subscriptions()
    objective = parse_objective((first, second))
    require_data(group, objective)
    if points is not None and points < 2:
        raise BadInput(f"points: {points}, expected 2 or more")
    swapped = pays_first(objective)
    search = _Search(
        group, objective[::-1] if swapped else objective, TimeLeft.of(time_limit), points
    )
    found = search.found()
    kept, closed = _efficient(group, found)
    if swapped:
        kept, closed = kept[::-1], closed[::-1]
    made = []
    for (within, bound, fewest), complete in zip(kept, closed[1:], strict=True):
        at, bounds = (within.value, within.spent), (bound, fewest)
        kind = ProofKind.NONE
        if at == bounds:
            kind = within.proof if within.proved else ProofKind.SOLVER
        if swapped:
            at, bounds = at[::-1], bounds[::-1]
        tiers = (objective[0], objective[1])
        # A bound of 0 says nothing about a value above 0.
        first_bound, second_bound = (
            bound if bound or not value else None for value, bound in zip(at, bounds, strict=True)
        )
        point = (*at, first_bound, second_bound, within.assignment, kind, complete, tiers)
        made.append(Point(*point))
    return Frontier(made, None if made and all(closed) else search.left_out(len(made)))


@dataclass(frozen=True, eq=False)
class _Within:
    """The best assignment found in one tier within a budget on another.

    Attributes
    ----------
    most : the budget, infinite if there is none
    value, spent : the values of the assignment in the first tier and in the tier of the budget
    bound : a lower bound on the first tier within the budget
    fewest : a lower bound on the budget's tier among assignments with at most this value; 0 if
        nothing is known
    least : a lower bound on the budget's tier among all assignments
    """

    most: float
    value: int
    spent: int
    bound: int
    fewest: int
    assignment: Assignment
    proof: ProofKind
    least: int = 0

    @property
    def proved(self) -> bool:
        """Whether both bounds are met and have a proof."""
        met = (self.bound, self.fewest) == (self.value, self.spent)
        return met and self.proof is not ProofKind.NONE

    @staticmethod
    def of(solution: Solution, tiers: Objective, most: float | None) -> _Within | None:
        """Return the values and bounds of a solution in two tiers; None if it found nothing.

        A solution's bound on a term holds only if the terms before it are proved optimal.

        Parameters
        ----------
        most : its budget; None: the budget's tier came first in its objective
        """
        if solution.assignment is None:
            return None
        value, spent = values(solution.assignment, tiers)
        known: dict[str, int] = {}
        for term in solution.terms:
            known[term.name] = term.bound or 0
            if term.bound != term.value:
                break
        bound, fewest = (known.get(tier, 0) for tier in tiers)
        return _Within(
            spent if most is None else most,
            value,
            spent,
            bound,
            fewest,
            solution.assignment,
            solution.proof.kind,
            fewest if most is None else 0,
        )


@dataclass(frozen=True, eq=False)
class _Search:
    """A search for trade-offs of two tiers, with budgets on the second.

    Attributes
    ----------
    points : at most so many, None: all
    """

    group: Group
    tiers: Objective
    time_left: TimeLeft
    points: int | None

    @property
    def is_about_peaks(self) -> bool:
        """Whether the first tier is a peak and the budgets are on moves."""
        return self.tiers[0] in PEAKS and self.tiers[1] == MOVES

    def found(self) -> list[_Within]:
        """Return both ends, and the points found between them."""
        parts = ENDS if self.is_about_peaks else 4
        # The fewest moves of the least peak are rarely proved, so that end is only the least peak.
        best_of = self.tiers[:1] if self.is_about_peaks else self.tiers
        solutions = {
            tiers: solve(self.group, tiers, time_limit=self.time_left.share(parts - i))
            for i, tiers in enumerate((self.tiers[::-1], best_of))
        }
        cheapest = _Within.of(solutions[self.tiers[::-1]], self.tiers, None)
        best = _Within.of(solutions[best_of], self.tiers, inf)
        if cheapest is None or best is None:
            return [end for end in (best, cheapest) if end is not None]
        if not self.is_about_peaks:
            return [best, cheapest, *self._between(cheapest, best, solutions)]
        if cheapest.value == best.value:
            return [best, cheapest]
        found = [best, cheapest, *self._lowest_peaks(cheapest, best, solutions)]
        return [self._even_out(one) for one in found]

    def _between(
        self, cheapest: _Within, best: _Within, ends: Mapping[Objective, Solution]
    ) -> Iterator[_Within]:
        """Yield the best assignment within each budget that the one before exceeds."""
        if self._is_too_large:
            return
        # Budgets below the cheapest are left out if it is proved to be the cheapest.
        low = cheapest.spent + 1 if cheapest.spent == cheapest.least else cheapest.least
        high = best.spent if best.value < cheapest.value else low
        budgets: Sequence[int] = range(low, high)
        if self.points is not None and self.points - 2 < len(budgets):
            across, parts = best.spent - cheapest.spent, self.points - 1
            budgets = [cheapest.spent + i * across // parts for i in range(1, parts)]
        left = len(budgets)
        while left and not self.time_left.is_up:
            most = budgets[left - 1]
            one = None
            # If the first try finds nothing new, the second gets half of the time left.
            for parts in (min(TURNS, 1 + left), 2):
                if one is None or one.bound < cheapest.value <= one.value:
                    seconds = self.time_left.share(parts)
                    one = self._search_within(most, seconds, ends)
            if one is None:
                return
            yield one
            if one.value >= cheapest.value:
                return
            left = bisect_left(budgets, min(one.spent, most))

    def _lowest_peaks(
        self, cheapest: _Within, best: _Within, ends: Mapping[Objective, Solution]
    ) -> Iterator[_Within]:
        """Yield the lowest peak within 1, 2, ... moves, until it is the lowest without a budget.

        Half of the budgets are tried one by one, then they grow.
        """
        budgets, lowest = _budgets(best.spent, self.points), cheapest.value
        for i, most in enumerate(budgets):
            if self.time_left.is_up or lowest <= best.bound:
                break
            # Loaded here, so that loading does not take time from the first budget.
            import_module("optimal.cpsat")
            share = self.time_left.share(len(budgets) - i)
            one = self._search_within(most, TURN if share is None else min(share, TURN), ends)
            if one is not None:
                lowest = min(lowest, one.value)
                yield one

    def _search_within(
        self,
        most: int,
        seconds: float | None,
        ends: Mapping[Objective, Solution],
    ) -> _Within | None:
        """Return the best assignment found within a budget, None if none is found.

        Parameters
        ----------
        ends : solutions of objectives without a budget
        """
        from optimal.answer import NothingWithin
        from optimal.budgets.constrained_problem import ConstrainedProblem

        def plain(group: Group, objective: Objective, /, *, time_limit: float | None) -> Solution:
            known = ends.get(objective)
            return solve(group, objective, time_limit=time_limit) if known is None else known

        problem = ConstrainedProblem(
            self.group, self.tiers, {self.tiers[1]: most}, TimeLeft.of(seconds), plain
        )
        try:
            return _Within.of(problem.best_by("auto"), self.tiers, most)
        except NothingWithin:
            return None

    def _even_out(self, one: _Within) -> _Within:
        """Return a point that is no worse in either tier, evened out by a short search."""
        if self.group.n_candidates > MOST_EVENED or self.time_left.is_up:
            return one
        from optimal.cpsat import least_within

        tiers = (*self.tiers, "balance")
        limits = {
            tier: (0, most)
            for tier, most in zip(tiers, values(one.assignment, tiers), strict=True)
        }
        try:
            owner, _ = least_within(
                self.group,
                "balance",
                limits,
                start=one.assignment.owner,
                seconds=self.time_left.share(2),
                effort=EVENING,
            )
        except BadInput:
            return one
        if owner is None:
            return one
        made = Assignment(self.group, owner)
        made.require_valid()
        value, spent = values(made, self.tiers)
        return replace(one, value=value, spent=spent, assignment=made)

    @property
    def _is_too_large(self) -> bool:
        from optimal.budgets.constrained_problem import MOST_CANDIDATES, is_about_racks

        by_flow = self.tiers == ("balance", MOVES) or is_about_racks(self.tiers, self.tiers[1:])
        return self.group.n_candidates > MOST_CANDIDATES and not by_flow

    def left_out(self, found: int) -> str:
        """Return which points may be missing, and why; `found` is the number of points."""
        from optimal.budgets.constrained_problem import MOST_CANDIDATES

        between = "there may be others between them"
        if self.points is not None and found >= self.points:
            return f"at most {self.points} points were asked for: {between}"
        many = self.group.n_candidates
        if many > MOST_CANDIDATES and found >= 2 and not self.is_about_peaks:
            here = "the ends" if self._is_too_large else "the ends, and what flows find"
            return (
                f"only {here}: the readers of all partitions add up to {many:,}, and no more "
                f"than {MOST_CANDIDATES:,} are searched for what is between"
            )
        if self.time_left.is_up:
            return f"the time was up: {between}" if found > 1 else "the time was up"
        return f"not everything is proved: {between}"


def _budgets(most: int, points: int | None) -> list[int]:
    """Return budgets between 0 and `most`, ascending: all small ones, then in growing steps."""
    every = range(1, most)
    room = len(every) if points is None else max(0, points - 2)
    if len(every) <= room:
        return [*every]
    near = (room + 1) // 2
    growth = (most / max(1, near)) ** (1 / (room - near + 1))
    far = [round(near * growth**i) for i in range(1, room - near + 1)]
    return sorted({*every[:near], *far})


def _efficient(
    group: Group, found: Sequence[_Within]
) -> tuple[list[tuple[_Within, int, int]], list[bool]]:
    """Return the trade-offs that no other dominates, least value first, and what is complete.

    Each has its bounds on value and spent, from all points found. The second list says whether it
    is proved that there is no other before the first, between each and the next, and after the
    last.

    Raises
    ------
    SolverContradiction
        If one has less than the bound of another allows.
    """
    # A fact (budget, bound) says: within the budget, no value is below the bound.
    facts: list[tuple[float, float]] = [(one.most, one.bound) for one in found]
    facts += [(one.fewest - 1, one.value + 1) for one in found]
    facts += [(max((one.least for one in found), default=0) - 1, inf)]
    facts.sort()
    budgets = [most for most, _ in facts]
    bounds = [*accumulate((bound for _, bound in reversed(facts)), max)][::-1]
    falling = [-bound for bound in bounds]

    def bound_within(most: float) -> float:
        at = bisect_left(budgets, most)
        return bounds[at] if at < len(bounds) else 0

    def spent_at_least(value: int) -> float:
        # Bounds fall as budgets grow: find the greatest budget whose bound is above the value.
        at = bisect_left(falling, -value)
        return budgets[at - 1] + 1 if at else 0

    kept: list[tuple[_Within, int, int]] = []
    for one in sorted(found, key=lambda one: (one.value, one.spent, not one.proved)):
        bound, fewest = bound_within(one.spent), spent_at_least(one.value)
        if bound > one.value or fewest > one.spent:
            raise SolverContradiction(
                f"{group.name}: a trade-off of {one.value} and {one.spent}, but no less than "
                f"{bound} and {fewest} is proved"
            )
        if not kept or one.spent < kept[-1][0].spent:
            kept.append((one, int(bound), int(fewest)))
    if not kept:
        return [], []
    closed = [bound_within(inf) >= kept[0][0].value]
    for (one, _, _), (later, _, _) in pairwise(kept):
        closed.append(bound_within(one.spent - 1) >= later.value)
    closed.append(bound_within(kept[-1][0].spent - 1) == inf)
    return kept, closed


def pays_first(tiers: Sequence[str]) -> bool:
    """Return whether budgets are on the first of two tiers, since it is about moves."""
    return tiers[0] in MOVING and tiers[1] not in MOVING


def knee(points: Sequence[Point]) -> int | None:
    """Return the index of the knee, None if no point is below the line between the ends.

    The knee is the point furthest below that line, with each tier measured as a share of its
    range; of several the first. (V. Satopää et al., Finding a "Kneedle" in a Haystack, 2011,
    doi:10.1109/ICDCSW.2011.20, without its smoothing.)

    Parameters
    ----------
    points : as `frontier` returns them

    Examples
    --------
    >>> from assay import Group, frontier
    >>> from optimal.frontier import knee
    >>> document = {"format": "assay-group/1", "group": "orders", "topics": {"t0": 6}}
    >>> members = {"c0": {"subscription": ["t0"], "owned": {"t0": [0, 1, 2, 3, 4, 5]}}}
    >>> members |= {c: {"subscription": ["t0"]} for c in ("c1", "c2", "c3")}
    >>> group = Group.from_dict(document | {"members": members})
    >>> points = frontier(group, "balance", "stickiness")
    >>> [(point.first_value, point.second_value) for point in points]
    [(4, 4), (6, 3), (12, 2), (16, 1), (18, 0)]
    >>> knee(points)
    1
    """
    if len(points) < 3:
        return None
    first, last = points[0], points[-1]
    wide = last.first_value - first.first_value
    high = first.second_value - last.second_value
    below = [
        wide * high
        - (point.first_value - first.first_value) * high
        - (point.second_value - last.second_value) * wide
        for point in points
    ]
    most = max(below)
    return below.index(most) if most > 0 else None
