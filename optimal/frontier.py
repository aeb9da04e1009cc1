"""Frontier: what one tier costs in units of another, trade-off by trade-off."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import pairwise
from time import monotonic
from typing import TYPE_CHECKING

from groups.assignment import Assignment
from groups.errors import BadInput, SolverContradiction
from groups.tiers import parse_objective, require_data, values
from optimal.solution import ProofKind
from optimal.solve import solve

if TYPE_CHECKING:
    from groups.group import Group, Int32
    from groups.tiers import Objective
    from optimal.solution import Solution
    from optimal.trades import Trades

# Readers of all partitions added up: beyond, a model would take long to build and never be closed.
MOST_CHOICES = 20_000
# A search that does not close gets this part of the time left, so that others have a turn.
_TURNS = 12


@dataclass(frozen=True, eq=False)
class Point:
    """A trade-off of two tiers and what is known of it.

    Attributes
    ----------
    first_value, second_value : the values of the two tiers
    first_bound : no assignment with so small a second value has less in the first tier; None
        where nothing is known
    second_bound : no assignment with so small a first value has less in the second tier
    assignment : an assignment with these values
    proof : what the bounds rest on where both meet their values, else of kind ``none``
    complete : whether it is proved that no efficient trade-off lies between this point and the
        next one; of the last point, that no assignment has less in the second tier
    """

    first_value: int
    second_value: int
    first_bound: int | None
    second_bound: int | None
    assignment: Assignment
    proof: ProofKind
    complete: bool = False

    @property
    def proved(self) -> bool:
        """Whether it is proved that nothing is better in one tier and as good in the other."""
        return self.proof is not ProofKind.NONE


def frontier(
    group: Group,
    first: str,
    second: str,
    *,
    time_limit: float | None = None,
    points: int | None = None,
) -> tuple[Point, ...]:
    """Return the efficient trade-offs of two tiers, from the least of `first` to that of `second`.

    From one point to the next `first` grows and `second` shrinks: what the next unit of the one
    costs in the other. The two ends are the answers of `solve` to ``first > second`` and
    ``second > first``, with a certificate where both tiers are flows. The points between follow
    from sorting for moves or moved weight against racks, and for balance against stickiness
    where all members read alike. Everything else is searched with CP-SAT by the epsilon-constraint
    method (Haimes, Lasdon & Wismer 1971): the least of `first` with `second` below the last
    point, then the least of `second` with that. Weighted flows would find only the points on the
    convex hull, and not even those of balance: away from its optimum KIP-54's score is no flow
    cost.

    Parameters
    ----------
    first, second : names of two tiers
    time_limit : seconds for everything together; when they are up the points found so far are
        returned, with `complete` False where some may be missing
    points : at most so many, 2 or more, spread over the range of `second`; None: all. Each
        holds an assignment of its own.

    Returns
    -------
    points : none of them is dominated by another or comes twice. Those that are proved
        are efficient; where all are proved and complete these are all trade-offs there are. Of a
        group with more than `MOST_CHOICES` readers of partitions only the ends are returned
        where the rest would have to be searched. Empty where the time was up before anything was
        found.

    Raises
    ------
    BadInput
        Where a tier is not known or comes twice, the group lacks what one needs, or its values
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
    >>> [(point.first_value, point.second_value) for point in points]
    [(1, 2), (3, 1), (5, 0)]
    """
    objective = parse_objective((first, second))
    require_data(group, objective)
    if points is not None and points < 2:
        raise BadInput(f"points: {points}, expected 2 or more")
    clock = _Clock(None if time_limit is None else monotonic() + time_limit)
    left = _end(solve(group, objective, time_limit=clock.share(4)))
    right = _end(solve(group, objective[::-1], time_limit=clock.share(3)), turned=True)
    if left is None or right is None:
        return tuple(end for end in (left, right) if end is not None)
    if _weakly_dominates(left, right) or _weakly_dominates(right, left):
        return (_only(left, right),)
    if left.proved and right.proved:
        from optimal.trades import trades

        most = dict(zip(objective, (right.first_value, left.second_value), strict=True))
        known = trades(group, objective, most)
        if known is not None:
            return _picked(group, objective, (left, right), known, clock, points)
    return _searched(group, objective, (left, right), clock, points)


@dataclass(frozen=True)
class _Clock:
    """The time until a deadline of the monotonic clock; None: no limit."""

    deadline: float | None

    @property
    def is_up(self) -> bool:
        """Whether nothing is left."""
        return self.deadline is not None and monotonic() >= self.deadline

    def share(self, parts: int) -> float | None:
        """Return one of so many equal parts of the seconds left."""
        return None if self.deadline is None else max(0.0, self.deadline - monotonic()) / parts


def _values(point: Point) -> tuple[int, int]:
    return point.first_value, point.second_value


def _end(solution: Solution, *, turned: bool = False) -> Point | None:
    """Return what a solution says as a point; `turned`: its objective is the second tier first.

    The bound on its second tier is one on the point only where its first tier is closed.
    """
    if solution.assignment is None:
        return None
    one, other = solution.terms
    bounds = (one.bound, other.bound if one.bound == one.value else None)
    found = (one.value, other.value)
    if turned:
        bounds, found = bounds[::-1], found[::-1]
    return Point(
        *found,
        *bounds,
        assignment=solution.assignment,
        proof=solution.proof.kind,
        complete=turned and one.bound == one.value,
    )


def _weakly_dominates(one: Point, other: Point) -> bool:
    return one.first_value <= other.first_value and one.second_value <= other.second_value


def _only(left: Point, right: Point) -> Point:
    """Return the one of two ends that is as good as the other in both tiers.

    It is the only trade-off where no assignment has less in either of the tiers.
    """
    best = left if _weakly_dominates(left, right) else right
    if best is left and right.proved and _weakly_dominates(right, left):
        best = right
    ideal = (left.first_bound, right.second_bound)
    return replace(best, complete=_values(best) == ideal)


def _picked(
    group: Group,
    objective: Objective,
    ends: tuple[Point, Point],
    known: Trades,
    clock: _Clock,
    points: int | None,
) -> tuple[Point, ...]:
    """Return the points that sorting finds, as many as asked for, between the ends."""
    left, right = ends
    picked = list(range(known.count))
    if points is not None and points < known.count:
        picked = [i * (known.count - 1) // (points - 1) for i in range(points)]
    if known.moved == objective[1]:
        picked = [known.count - 1 - i for i in picked]
    found = [left]
    for before, i in pairwise(picked):
        if clock.is_up:
            return (*found, right)
        point = _sorted_out(group, objective, known, i)
        if _weakly_dominates(found[-1], point) or _weakly_dominates(point, found[-1]):
            raise SolverContradiction(
                f"{group.name}: of the trade-offs {_values(found[-1])} and {_values(point)} one "
                "dominates the other"
            )
        found[-1] = replace(found[-1], complete=abs(i - before) == 1)
        found.append(point)
    one = _sorted_out(group, objective, known, picked[0])
    if (_values(one), _values(found[-1])) != (_values(left), _values(right)):
        raise SolverContradiction(
            f"{group.name}: sorting finds trade-offs from {_values(one)} to {_values(found[-1])}, "
            f"but solve finds {_values(left)} and {_values(right)}"
        )
    return (*found[:-1], right)


def _sorted_out(group: Group, objective: Objective, known: Trades, number: int) -> Point:
    assignment = Assignment(group, known.owner(number))
    assignment.require_valid()
    first, second = values(assignment, objective)
    return Point(first, second, first, second, assignment, ProofKind.SOLVER)


def _searched(
    group: Group,
    objective: Objective,
    ends: tuple[Point, Point],
    clock: _Clock,
    points: int | None,
) -> tuple[Point, ...]:
    """Return the points that the epsilon-constraint method finds between the ends."""
    left, right = ends
    found = [left]
    across = left.second_value - right.second_value
    step = 1 if points is None else max(1, math.ceil(across / (points - 1)))
    small = int((group.readers * group.partitions).sum()) <= MOST_CHOICES
    while small and not clock.is_up:
        at = found[-1]
        box = _Box.below(at, right, at.second_value - step)
        if box.is_empty:
            found[-1] = replace(at, complete=step == 1)
            break
        turns = min(_TURNS, 1 + (at.second_value - right.second_value) // step)
        point, closed = box.best(group, objective, at.assignment.owner, clock, turns)
        if point is None:
            found[-1] = replace(at, complete=closed and step == 1)
            break
        dropped = False
        while found and found[-1].first_value >= point.first_value:
            found.pop()
            dropped = True
        if found:
            closed = closed and not dropped and step == 1
            found[-1] = replace(found[-1], complete=closed)
        found.append(point)
    if found[0].first_value not in (left.first_value, left.first_bound):
        found[0] = replace(found[0], complete=False)
    if found[-1].second_value <= right.second_value:
        last = found[-1]
        least = last.second_value == right.second_bound
        return (*found[:-1], replace(last, complete=least))
    return (*found, right)


@dataclass(frozen=True)
class _Box:
    """The values that a point between two others may have, least and greatest of each tier."""

    first: tuple[int, int]
    second: tuple[int, int]

    @staticmethod
    def below(at: Point, right: Point, most: int) -> _Box:
        """Return where a point after `at` may be, with a second value of at most `most`."""
        first = at.first_value + 1 if at.proved else at.first_bound
        second = right.second_value + 1 if right.proved else right.second_bound
        return _Box((first or 0, right.first_value - 1), (second or 0, most))

    @property
    def is_empty(self) -> bool:
        """Whether no point can be there."""
        return self.first[0] > self.first[1] or self.second[0] > self.second[1]

    def best(
        self, group: Group, objective: Objective, start: Int32, clock: _Clock, turns: int
    ) -> tuple[Point | None, bool]:
        """Find the least of the first tier, then of the second; say if the former is proved.

        That there is none at all is proved, too. Each of the two gets one of `turns` equal parts
        of the time left.
        """
        from optimal.cpsat import least_within

        first, second = objective
        limits = {first: self.first, second: self.second}
        one = least_within(group, first, limits, start=start, seconds=clock.share(turns))
        if one.owner is None:
            return None, one.bound > self.first[1]
        reached = values(Assignment(group, one.owner), objective)
        limits = {first: (one.bound, reached[0]), second: (self.second[0], reached[1])}
        other = least_within(group, second, limits, start=one.owner, seconds=clock.share(turns))
        owner = one.owner if other.owner is None else other.owner
        assignment = Assignment(group, owner)
        assignment.require_valid()
        at_first, at_second = values(assignment, objective)
        proved = (at_first, at_second) == (one.bound, other.bound)
        kind = ProofKind.SOLVER if proved else ProofKind.NONE
        point = Point(at_first, at_second, one.bound, other.bound, assignment, kind)
        return point, at_first == one.bound
