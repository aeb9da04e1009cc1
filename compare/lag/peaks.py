"""Peaks: the lowest peak lag of each of many judged groups, with little work for each."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from compare.lag.behind import peak_lag
from compare.lag.lowest import (
    BALANCED,
    PEAK,
    ROUNDS,
    SECONDS,
    LowestPeak,
    least_for_somebody,
    lowest_of,
    rounds_each,
)
from compare.verdict import NOT_PROVED
from groups import Assignment, values
from groups.errors import BadInput
from groups.needs import require_data
from optimal.time_left import TimeLeft

if TYPE_CHECKING:
    from collections.abc import Sequence

    from compare.judged import Judged
    from compare.scores import ScoredGroup
    from groups.tiers import Objective
    from optimal.solution import Solution


def lowest_peaks(
    judged: Sequence[Judged],
    objective: Objective,
    *,
    assume_equal: bool = False,
    rounds: int = ROUNDS,
    seconds: float = SECONDS,
) -> list[LowestPeak | None]:
    """Return the lowest peak of each group among the assignments with the best balance.

    If the objective has `peak_lag`, it is the peak of its optimum. Most groups need no search, as
    the current, the optimal or the advised assignment meets a quick lower bound. Each of the
    others is searched for the same share of the rounds.

    Parameters
    ----------
    assume_equal : take members of unknown subscription to read every topic in demand
    rounds : of search, for all groups together
    seconds : for all groups together; no search starts after that

    Returns
    -------
    (groups,) None if a lag is unknown, if the verdict depends on who reads what, or if there is
    nothing to solve
    """
    found: list[LowestPeak | None] = [None] * len(judged)
    to_search: list[tuple[int, LowestPeak, Solution]] = []
    for i, one in enumerate(judged):
        best = one.lowest if assume_equal or one.verdict.condition else one.best
        found[i] = near = None if best is None else _known_peak(one, best, objective)
        if best is not None and near is not None and not near.proved and PEAK not in objective:
            to_search.append((i, near, best))
    share = rounds_each(rounds, len(to_search))
    time_left = TimeLeft.of(seconds)
    for i, near, best in to_search:
        # If members read more, other assignments as balanced may have a lower peak.
        lowest = judged[i].lowest
        others = [] if lowest is None or best is lowest else [lowest]
        found[i] = _with_search(near, best, others, share, time_left)
    return found


def with_lowest(
    scored: Sequence[ScoredGroup], objective: Objective, *, assume_equal: bool
) -> list[ScoredGroup]:
    """Return scored groups, each with its lowest peak from `lowest_peaks`."""
    judged = [one.judged for one in scored]
    peaks = lowest_peaks(judged, objective, assume_equal=assume_equal)
    return [replace(one, lowest=peak) for one, peak in zip(scored, peaks, strict=True)]


def _known_peak(judged: Judged, best: Solution, objective: Objective) -> LowestPeak | None:
    """Return the lowest peak of the current, the optimal and the advised assignment."""
    target, verdict = best.assignment, judged.verdict
    if target is None or verdict.question is not None or verdict.says == NOT_PROVED:
        return None
    group = target.group
    try:
        require_data(group, (PEAK,))
    except BadInput:
        return None
    peak = peak_lag(target)
    if peak is None:
        return None
    if PEAK in objective:
        # The bound has to hold also if members read more: `best` alone does not give that.
        bounding = judged.reference if best is judged.best else best
        bound = None if bounding is None else bounding.terms[objective.index(PEAK)].bound
        before = objective[: objective.index(PEAK)]
        bound = least_for_somebody(group) if bound is None else bound
        return LowestPeak(peak, bound, target, before)
    now = Assignment(group, judged.now.owner) if judged.now.is_valid else target
    known = [now, target] if _balance(now) == _balance(target) else [target]
    if now in known and judged.fall is not None:
        known.append(Assignment(group, judged.fall.assignment.owner))
    lowest = min(known, key=lambda one: peak_lag(one) or 0)
    return LowestPeak(peak_lag(lowest) or 0, least_for_somebody(group), lowest)


def _with_search(
    near: LowestPeak,
    best: Solution,
    others: Sequence[Solution],
    rounds: int,
    time_left: TimeLeft,
) -> LowestPeak:
    """Return the lower of a known peak and the one that a search finds, with the search's bound.

    Parameters
    ----------
    near : the known peak
    best : the solution in whose group the assignment is searched
    others : solutions of groups in which members read more; the bound has to hold for these, too
    """
    bounds: list[int] = []
    found = near
    for solution in (best, *others) if rounds else ():
        answer = lowest_of(solution.group, BALANCED, rounds, time_left)
        if answer is None:
            return replace(found, in_time=found.in_time and not time_left.is_up)
        found = replace(found, in_time=found.in_time and answer.in_time)
        if _balance(answer.assignment) != _balance(near.assignment):
            return found
        bounds.append(answer.bound)
        if solution is best and answer.records < found.records:
            found = replace(found, records=answer.records, assignment=answer.assignment)
    return replace(found, bound=max(min(bounds, default=0), near.bound))


def _balance(assignment: Assignment) -> tuple[int, ...]:
    return values(assignment, BALANCED[:1])
