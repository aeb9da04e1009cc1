"""Peaks: how low the peak gets within so many moves, budget by budget.

Each point is a solve with a budget on moves. What is proved of one budget bounds those below it,
too: fewer moves never do better.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

from groups.tiers import MOVES, PEAKS, values
from optimal.frontier.point import Point
from optimal.proof import ProofKind
from optimal.solve import solve

if TYPE_CHECKING:
    from groups.group import Group
    from groups.tiers import Objective
    from optimal.solution import Solution
    from optimal.time_left import TimeLeft

# Seconds that a budget gets: what is not proved by then rarely is.
TURN = 1.0
# The first parts of the time, one for each end.
ENDS = 6


@dataclass(frozen=True, eq=False)
class PeakWithin:
    """What a solve found within a budget on moves.

    Attributes
    ----------
    most : the budget; None: none
    peak, moves : of the assignment that was found
    bound : no assignment within the budget has a lower peak
    fewest : none with that peak takes fewer moves; 0 where nothing is known
    solution : what was found
    """

    most: int | None
    peak: int
    moves: int
    bound: int
    fewest: int
    solution: Solution

    @staticmethod
    def of(solution: Solution, most: int | None) -> PeakWithin | None:
        """Look at a solution for a peak, then moves, or the other way round; None without one."""
        if solution.assignment is None:
            return None
        peak_tier = next(term.name for term in solution.terms if term.name != MOVES)
        peak, moves = values(solution.assignment, (peak_tier, MOVES))
        bounds = {term.name: term.bound for term in solution.terms}
        fewest = moves if MOVES in bounds and solution.status == "optimal" else 0
        return PeakWithin(most, peak, moves, bounds[peak_tier] or 0, fewest, solution)


def is_about_peaks(objective: Objective) -> bool:
    """Return whether two tiers are moves and a peak."""
    return MOVES in objective and any(tier in PEAKS for tier in objective)


def peaks_within(
    group: Group, peak: str, time_left: TimeLeft, points: int | None
) -> tuple[Point, ...]:
    """Return how low a peak gets within so many moves, from none on.

    Half of the budgets are tried one by one, then they grow, until the lowest peak of all is
    reached or the time is up. The last point is the lowest peak that was found whatever moves.

    Parameters
    ----------
    peak : `peak_lag`, `peak_weight` or `peak_time`
    points : at most so many, None: as many as there are
    """
    still = PeakWithin.of(solve(group, (MOVES, peak), time_limit=time_left.share(ENDS)), 0)
    lowest = PeakWithin.of(solve(group, (peak,), time_limit=time_left.share(ENDS - 1)), None)
    if still is None or lowest is None:
        return tuple(_point(one, [one], 0) for one in (still, lowest) if one is not None)
    found = [still]
    budgets = _budgets(lowest.moves, points)
    for i, most in enumerate(budgets):
        if time_left.is_up or min(one.peak for one in found) <= lowest.bound:
            break
        share = time_left.share(len(budgets) - i)
        one = _within(group, peak, most, TURN if share is None else min(share, TURN))
        if one is None and not time_left.is_up:
            # The first solve may spend its turn on loading a solver.
            one = _within(group, peak, most, time_left.share(2))
        if one is not None:
            found.append(one)
    return _efficient([*found, lowest])


def _within(group: Group, peak: str, most: int, seconds: float | None) -> PeakWithin | None:
    tiers, at_most = (peak, MOVES), {MOVES: most}
    return PeakWithin.of(solve(group, tiers, at_most=at_most, time_limit=seconds), most)


def _budgets(most: int, points: int | None) -> list[int]:
    """Return the budgets between none and `most`, ascending: the small ones, then ever fewer."""
    every = range(1, most)
    room = len(every) if points is None else max(0, points - 2)
    if len(every) <= room:
        return [*every]
    near = (room + 1) // 2
    growth = (most / max(1, near)) ** (1 / (room - near + 1))
    far = [round(near * growth**i) for i in range(1, room - near + 1)]
    return sorted({*every[:near], *far})


def _efficient(found: list[PeakWithin]) -> tuple[Point, ...]:
    """Return the points that none of the others is as good as in both tiers."""
    kept: list[PeakWithin] = []
    for one in sorted(found, key=lambda one: (one.moves, one.peak)):
        if not kept or one.peak < kept[-1].peak:
            kept.append(one)
    numbered = [_point(one, found, i) for i, one in enumerate(kept)]
    for i, (point, later) in enumerate(pairwise(numbered)):
        # With one move less than the next point takes, nothing is below this one.
        closed = _bound(found, later.first_value - 1) >= point.second_value
        numbered[i] = replace(point, complete=closed)
    last = numbered[-1]
    lowest = last.second_value == _bound(found, None)
    return (*numbered[:-1], replace(last, complete=lowest))


def _bound(found: list[PeakWithin], most: int | None) -> int:
    """Return what the peak is at least within a budget; None: whatever moves."""
    return max(
        one.bound for one in found if one.most is None or (most is not None and one.most >= most)
    )


def _point(one: PeakWithin, found: list[PeakWithin], number: int) -> Point:
    """Return a point with what all solves together prove of it."""
    assert one.solution.assignment is not None
    fewest = one.fewest if one.bound == one.peak else 0
    for other in found:
        if other.most is not None and other.bound > one.peak:
            fewest = max(fewest, other.most + 1)
    within = [other for other in found if other.most is None or other.most >= one.moves]
    bound = max(other.bound for other in within)
    proved = (bound, fewest) == (one.peak, one.moves)
    kind = ProofKind.NONE
    if proved:
        own = one.solution.status == "optimal" and one.fewest == one.moves
        kind = one.solution.proof.kind if own else ProofKind.SOLVER
    return Point(one.moves, one.peak, fewest, bound, one.solution.assignment, kind)
