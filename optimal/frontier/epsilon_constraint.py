"""Epsilon constraint: the trade-offs between two ends, by the epsilon-constraint method.

Balance within so many moves is a flow, which proves most points; the rest is CP-SAT.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from groups.assignment import Assignment
from groups.tiers import values
from optimal.budgets.constrained_problem import ConstrainedProblem
from optimal.cpsat import least_within
from optimal.frontier.point import Point
from optimal.proof import ProofKind
from optimal.solve import solve

if TYPE_CHECKING:
    from groups.arrays import Int32
    from groups.group import Group
    from groups.tiers import Objective
    from optimal.time_left import TimeLeft


# Readers of all partitions added up: a program of more takes long to build and is never proved.
MOST_CANDIDATES = 20_000
# A search that proves nothing gets this part of the time left, so that others have a turn.
_TURNS = 12


def searched(
    group: Group,
    objective: Objective,
    ends: tuple[Point, Point],
    time_left: TimeLeft,
    points: int | None,
) -> tuple[Point, ...]:
    """Return the points that the epsilon-constraint method finds between the ends.

    Where CP-SAT would take too long, only what a flow finds, proved or not.
    """
    left, right = ends
    found = [left]
    across = left.second_value - right.second_value
    step = 1 if points is None else max(1, math.ceil(across / (points - 1)))
    small = group.n_candidates <= MOST_CANDIDATES
    by_flow = objective == ("balance", "stickiness")
    while (small or by_flow) and not time_left.is_up:
        at = found[-1]
        box = Box.below(at, right, at.second_value - step)
        if box.is_empty:
            found[-1] = replace(at, complete=step == 1)
            break
        turns = min(_TURNS, 1 + (at.second_value - right.second_value) // step)
        even = most_even_point(group, box.second[1], time_left) if by_flow else None
        even = even if even is not None and box.holds(even) else None
        point, proved = even, even is not None and even.proved
        if small and not proved:
            start = (at if even is None else even).assignment.owner
            point, proved = box.best(group, objective, start, time_left, turns)
            point = point if point is None and proved else _better(point, even)
        if point is None:
            found[-1] = replace(at, complete=proved and step == 1)
            break
        dropped = False
        while found and found[-1].first_value >= point.first_value:
            found.pop()
            dropped = True
        if found:
            proved = proved and not dropped and step == 1
            found[-1] = replace(found[-1], complete=proved)
        found.append(point)
    if found[0].first_value not in (left.first_value, left.first_bound):
        found[0] = replace(found[0], complete=False)
    if found[-1].second_value <= right.second_value:
        last = found[-1]
        least = last.second_value == right.second_bound
        return (*found[:-1], replace(last, complete=least))
    return (*found, right)


def _better(found: Point | None, even: Point | None) -> Point | None:
    """Return the better of two points of one box, with the greater bound on the first tier."""
    if found is None or even is None or found.proved:
        return even if found is None else found
    best = min(found, even, key=lambda point: point.at)
    bounds = [one.first_bound for one in (found, even) if one.first_bound is not None]
    return replace(best, first_bound=max(bounds, default=None))


@dataclass(frozen=True)
class Box:
    """The values that a point between two others may have, least and greatest of each tier."""

    first: tuple[int, int]
    second: tuple[int, int]

    @staticmethod
    def below(at: Point, right: Point, most: int) -> Box:
        """Return where a point after `at` may be, with a second value of at most `most`."""
        first = at.first_value + 1 if at.proved else at.first_bound
        second = right.second_value + 1 if right.proved else right.second_bound
        return Box((first or 0, right.first_value - 1), (second or 0, most))

    @property
    def is_empty(self) -> bool:
        """Whether no point can be there."""
        return self.first[0] > self.first[1] or self.second[0] > self.second[1]

    def holds(self, point: Point) -> bool:
        """Whether a point is there."""
        (low, high), (least, most) = self.first, self.second
        return low <= point.first_value <= high and least <= point.second_value <= most

    def best(
        self, group: Group, objective: Objective, start: Int32, time_left: TimeLeft, turns: int
    ) -> tuple[Point | None, bool]:
        """Find the least of the first tier, then of the second; say if the former is proved.

        That there is none at all is proved, too. Each of the two gets one of `turns` equal parts
        of the time left.
        """
        first, second = objective
        limits = {first: self.first, second: self.second}
        one = least_within(group, first, limits, start=start, seconds=time_left.share(turns))
        if one.owner is None:
            return None, one.bound > self.first[1]
        reached = values(Assignment(group, one.owner), objective)
        limits = {first: (one.bound, reached[0]), second: (self.second[0], reached[1])}
        other = least_within(
            group, second, limits, start=one.owner, seconds=time_left.share(turns)
        )
        owner = one.owner if other.owner is None else other.owner
        assignment = Assignment(group, owner)
        assignment.require_valid()
        at_first, at_second = values(assignment, objective)
        proved = (at_first, at_second) == (one.bound, other.bound)
        kind = ProofKind.SOLVER if proved else ProofKind.NONE
        point = Point(at_first, at_second, one.bound, other.bound, assignment, kind)
        return point, at_first == one.bound


def most_even_point(group: Group, moves: int, time_left: TimeLeft) -> Point | None:
    """Return the most even assignment within so many moves; None where the time is up."""
    at_most, objective = {"stickiness": moves}, ("balance", "stickiness")
    for found in ConstrainedProblem(group, objective, at_most, time_left, solve).most_even():
        if found.assignment is not None:
            (one, first_bound), (other, second_bound) = ((t.value, t.bound) for t in found.terms)
            return Point(one, other, first_bound, second_bound, found.assignment, found.proof.kind)
    return None
