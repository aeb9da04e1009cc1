"""Peaks: the least peak lag of judged groups, with a little work for each of many."""

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
    """Return the lowest peak of each group that the best-balanced assignments allow.

    Where the objective has `peak_lag`, its own optimum. Most groups need no search: what is there
    now, what is best in the objective or what is advised has a peak that no assignment can be
    below. The others are searched, each with the same share of the rounds.

    Parameters
    ----------
    assume_equal : where subscriptions are unknown, judge as if whoever is unknown reads all that
        is in demand
    rounds : of search, for all of them together
    seconds : for all of them together, after which none is searched any more

    Returns
    -------
    (groups,) None where a lag is not known, where it is open who reads what, or nobody is there
    """
    found: list[LowestPeak | None] = [None] * len(judged)
    to_search: list[tuple[int, LowestPeak, Solution]] = []
    for i, one in enumerate(judged):
        best = one.lowest if assume_equal or one.verdict.condition else one.best
        found[i] = near = None if best is None else _at_hand(one, best, objective)
        if best is not None and near is not None and not near.proved and PEAK not in objective:
            to_search.append((i, near, best))
    share = rounds_each(rounds, len(to_search))
    time_left = TimeLeft.of(seconds)
    for i, near, best in to_search:
        # With more readers, loads as even as these may have a lower peak.
        lowest = judged[i].lowest
        others = [] if lowest is None or best is lowest else [lowest]
        found[i] = _searched(near, best, others, share, time_left)
    return found


def with_lowest(
    scored: Sequence[ScoredGroup], objective: Objective, *, assume_equal: bool
) -> list[ScoredGroup]:
    """Return scored groups, each with its lowest peak, as `lowest_peaks` has it."""
    judged = [one.judged for one in scored]
    peaks = lowest_peaks(judged, objective, assume_equal=assume_equal)
    return [replace(one, lowest=peak) for one, peak in zip(scored, peaks, strict=True)]


def _at_hand(judged: Judged, best: Solution, objective: Objective) -> LowestPeak | None:
    """Return the lowest peak of what is there now, the best and the advised, and a quick bound."""
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
        # What can be had bounds nothing where more readers could have less.
        bounding = judged.reference if best is judged.best else best
        bound = None if bounding is None else bounding.terms[objective.index(PEAK)].bound
        before = objective[: objective.index(PEAK)]
        bound = least_for_somebody(group) if bound is None else bound
        return LowestPeak(peak, bound, target, before)
    now = Assignment(group, judged.now.owner) if judged.now.is_valid else target
    there = [now, target] if _balance(now) == _balance(target) else [target]
    if now in there and judged.fall is not None:
        there.append(Assignment(group, judged.fall.assignment.owner))
    lowest = min(there, key=lambda one: peak_lag(one) or 0)
    return LowestPeak(peak_lag(lowest) or 0, least_for_somebody(group), lowest)


def _searched(
    near: LowestPeak,
    best: Solution,
    others: Sequence[Solution],
    rounds: int,
    time_left: TimeLeft,
) -> LowestPeak:
    """Return the lower of a known peak and of what some rounds find.

    Parameters
    ----------
    best : the solution whose readers are to make do
    others : what more readers could have, to which the bound has to apply, too
    """
    bounds: list[int] = []
    found = near
    for one in (best, *others) if rounds else ():
        answer = lowest_of(one.group, BALANCED, rounds, time_left)
        if answer is None:
            return replace(found, in_time=found.in_time and not time_left.is_up)
        found = replace(found, in_time=found.in_time and answer.in_time)
        if _balance(answer.assignment) != _balance(near.assignment):
            return found
        bounds.append(answer.bound)
        if one is best and answer.records < found.records:
            found = replace(found, records=answer.records, assignment=answer.assignment)
    return replace(found, bound=max(min(bounds, default=0), near.bound))


def _balance(assignment: Assignment) -> tuple[int, ...]:
    return values(assignment, BALANCED[:1])
