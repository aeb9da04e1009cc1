"""Worlds: a group with unknown subscriptions, and the least peak that it can have.

The true group lies between two: in `least`, members of unknown subscription read only the topics
that they hold, and in `most` every topic in demand. An assignment of the first is always possible;
a bound of the second always holds. If all subscriptions are known, both are the same.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from compare.advice.advice import Peak
from compare.judged import solved_between
from compare.lag.lowest import least_for_somebody
from compare.what_if import TURN
from groups.tiers import MOVES, Objective, values
from groups.unknown import reading_least
from optimal.solve import solve

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from groups.assignment import Assignment
    from groups.group import Group
    from optimal.solution import Solution

# Balance comes first, as in all assignors that look at it. The best balance also has the least
# peak of partitions.
TIERS_OF: dict[str, Objective] = {
    "peak_load": ("balance", MOVES),
    "peak_lag": ("balance", "peak_lag"),
    "peak_weight": ("peak_weight",),
}


@dataclass(frozen=True, eq=False)
class Worlds:
    """A group, once with members that read the least that they may, and once the most.

    Attributes
    ----------
    least, most : the same object if all subscriptions are known
    """

    least: Group
    most: Group

    @staticmethod
    def of(group: Group) -> Worlds:
        """Return the worlds of a group."""
        return Worlds(reading_least(group), group.with_equal_subscriptions())

    @property
    def known(self) -> bool:
        """Whether all subscriptions are known."""
        return self.least is self.most

    def changed(self, change: Callable[[Group], Group]) -> Worlds:
        """Return both groups after a change."""
        least = change(self.least)
        return Worlds(least, least if self.known else change(self.most))


@dataclass(frozen=True, eq=False)
class Best:
    """The least peak of a group, and an assignment with it.

    For lag it is the least with loads as even as can be.

    Attributes
    ----------
    solution, lowest : where members read the least, and the most, that they may; the same object
        if all subscriptions are known
    """

    peak: Peak
    assignment: Assignment
    solution: Solution
    lowest: Solution


def least_peaks(
    worlds: Sequence[Worlds], lower: str, seconds: float | None = TURN
) -> list[Best | None]:
    """Return the least peak of each group; None if nothing was found in time.

    Parameters
    ----------
    lower : `peak_load`, `peak_lag` or `peak_weight`
    seconds : for each
    """
    solved = solved_between([(one.least, one.most) for one in worlds], TIERS_OF[lower], seconds)
    return [_best(least, most, lower) for least, most in solved]


def least_peak(worlds: Worlds, lower: str, seconds: float | None = TURN) -> Best | None:
    """Return the least peak of one group; None if nothing was found in time."""
    (best,) = least_peaks([worlds], lower, seconds)
    return best


def with_few_moves(best: Best, lower: str, seconds: float | None = TURN) -> Best:
    """Return the best with an assignment of the same peak and fewer moves, if one is found."""
    if lower == "peak_load" or not len(best.assignment.moved):
        return best
    tiers = TIERS_OF[lower]
    found = solve(best.assignment.group, (*tiers, MOVES), time_limit=seconds).assignment
    if found is None or len(found.moved) >= len(best.assignment.moved):
        return best
    if values(found, tiers) > values(best.assignment, tiers):
        return best
    return replace(best, assignment=found)


def peak_of(assignment: Assignment, lower: str) -> int:
    """Return the peak of an assignment: what the busiest member has."""
    if lower == "peak_load":
        return int(assignment.loads.max(initial=0))
    return values(assignment, (lower,))[0]


def _best(least: Solution, most: Solution, lower: str) -> Best | None:
    if least.assignment is None:
        return None
    value = peak_of(least.assignment, lower)
    bound = _bound(most, lower)
    if lower == "peak_lag" and least.terms[:1] != most.terms[:1]:
        # If members read more, balance can be better, and its bound on lag does not apply here.
        bound = 0
    if lower == "peak_lag":
        bound = max(bound, least_for_somebody(least.group))
    proof = str(most.proof.kind if value == bound else "none")
    return Best(Peak(value, bound, proof=proof), least.assignment, least, most)


def _bound(solution: Solution, lower: str) -> int:
    """Return a lower bound on the peak; for lag, of assignments with the best balance."""
    terms, group = solution.terms, solution.group
    if lower != "peak_load":
        return 0 if not terms or terms[-1].bound is None else terms[-1].bound
    if solution.assignment is not None and terms[0].bound == terms[0].value:
        return int(solution.assignment.loads.max(initial=0))
    read = int(group.partitions[group.readers > 0].sum())
    return -(-read // max(1, len(group.members)))
