"""Lowest: the least peak lag that balanced loads allow, within a little time for many groups."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from compare.lag.behind import behind, peak_lag
from compare.verdict import worst_first
from groups import Assignment, values
from groups.errors import BadInput
from groups.needs import require_data
from groups.tiers import TIERS
from optimal.time_left import TimeLeft

if TYPE_CHECKING:
    from collections.abc import Sequence

    from compare.verdict import Judged
    from groups.group import Group
    from groups.tiers import Objective
    from optimal.solution import Solution

PEAK = "peak_lag"
# What is asked where the objective says nothing of lag.
BALANCED: Objective = ("balance", PEAK)
# A group gets no more of the time than this, so that others have a turn.
TURN = 0.25
# Members times partitions: a search through more takes longer than a turn.
MOST_CELLS = 2**20


@dataclass(frozen=True, eq=False)
class LowestPeak:
    """The lowest peak lag that was found, and what is known of it.

    Attributes
    ----------
    records : the lag of the member with most, of an assignment that can be had
    bound : no assignment that is as good in the tiers before has less
    assignment : the one with that peak
    """

    records: int
    bound: int
    assignment: Assignment

    @property
    def proved(self) -> bool:
        """Whether it is proved to be the lowest."""
        return self.records == self.bound


def lowest_peaks(
    judged: Sequence[Judged],
    objective: Objective,
    seconds: float,
    *,
    assume_equal: bool = False,
) -> list[LowestPeak | None]:
    """Return the lowest peak of each group that the best-balanced assignments allow.

    Where the objective has `peak_lag`, its own optimum. Most groups need no search: what is there
    now, or what is best in the objective, has a peak that no assignment can be below. The others
    are searched, those with the worst verdicts first, while there is time.

    Parameters
    ----------
    seconds : for all of them together
    assume_equal : where subscriptions are unknown, judge as if whoever is unknown reads all that
        is in demand

    Returns
    -------
    (groups,) None where a lag is not known, where it is open who reads what, or nobody is there
    """
    found: list[LowestPeak | None] = [None] * len(judged)
    time_left = TimeLeft.of(seconds)
    for i in worst_first(judged):
        one = judged[i]
        best = one.lowest if assume_equal or one.verdict.condition else one.best
        near = None if best is None else _at_hand(one, best, objective)
        if near is None or near.proved or PEAK in objective or best is None:
            found[i] = near
            continue
        # With more readers, loads as even as these may have a lower peak.
        others = [] if best is one.lowest or one.lowest is None else [one.lowest]
        found[i] = _searched(near, best, others, time_left)
    return found


def hottest(group: Group) -> tuple[int, int] | None:
    """(partition, its lag) of the partition with most lag that somebody reads; None without lag.

    No assignment can put less than that on its member, and no number of members changes it.
    """
    lag = group.lag_records
    if lag is None or not len(lag):
        return None
    read = np.where(group.readers[group.topic] > 0, lag, -1)
    at = int(np.argmax(read))
    return (at, int(read[at])) if read[at] > 0 else None


def _at_hand(judged: Judged, best: Solution, objective: Objective) -> LowestPeak | None:
    """Return the lower peak of what is there now and of the best, with a bound that is quick."""
    target, verdict = best.assignment, judged.verdict
    if target is None or verdict.question is not None or verdict.says == "not proved":
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
        bound = best.terms[objective.index(PEAK)].bound
        return LowestPeak(peak, 0 if bound is None else bound, target)
    most, lag = hottest(group), group.lag_records
    total = 0 if lag is None else int(lag[group.readers[group.topic] > 0].sum())
    bound = max(0 if most is None else most[1], -(-total // max(1, len(group.members))))
    now = Assignment(group, judged.now.owner) if judged.now.is_valid else target
    even = _balance(now) == _balance(target)
    lowest = min((now, target), key=lambda one: peak_lag(one) or 0) if even else target
    return LowestPeak(peak_lag(lowest) or 0, bound, lowest)


def _searched(
    near: LowestPeak, best: Solution, others: Sequence[Solution], time_left: TimeLeft
) -> LowestPeak:
    """Return the lower of a known peak and of what is found in time.

    Parameters
    ----------
    best : the solution whose readers are to make do
    others : what more readers could have, to which the bound has to apply, too
    """
    from optimal import solve

    bounds: list[int] = []
    found = near
    for one in (best, *others):
        group, seconds = one.group, min(TURN, time_left.share(1) or 0.0)
        if len(group.members) * group.n_partitions > MOST_CELLS or not seconds:
            return found
        answer = lowest_of(solve(group, BALANCED, time_limit=seconds))
        same = answer is not None and _balance(answer.assignment) == _balance(near.assignment)
        if answer is None or not same:
            return found
        bounds.append(answer.bound)
        if one is best and answer.records < found.records:
            found = LowestPeak(answer.records, near.bound, answer.assignment)
    return LowestPeak(found.records, max(min(bounds), near.bound), found.assignment)


def _balance(assignment: Assignment) -> tuple[int, ...]:
    return values(assignment, BALANCED[:1])


def lowest_of(solution: Solution) -> LowestPeak | None:
    """Return what a solution says of its peak, its last tier.

    None where it has no assignment, or an earlier tier is not proved.
    """
    if solution.assignment is None or any(t.bound != t.value for t in solution.terms[:-1]):
        return None
    term = solution.terms[-1]
    return LowestPeak(term.value, term.bound or 0, solution.assignment)


def least_lagging(solution: Solution, seconds: float) -> Solution:
    """Return a solution with the assignment that has the lowest peak lag of all as good as it.

    The solution as it is where none is found in time, a lag is not known or the objective speaks
    of lag.
    """
    if solution.assignment is None or any(TIERS[t].needs == "lag" for t in solution.objective):
        return solution
    group, known = solution.group, [(term.name, term.value) for term in solution.terms]
    if len(group.members) * group.n_partitions > MOST_CELLS or not hottest(group):
        return solution
    try:
        from optimal import solve

        found = solve(group, (*solution.objective, PEAK), time_limit=seconds)
    except BadInput:
        return solution
    as_good = [(term.name, term.value) for term in found.terms[:-1]] == known
    return replace(solution, assignment=found.assignment) if as_good else solution


def lag_document(now: Assignment, lowest: LowestPeak | None) -> dict[str, object] | None:
    """Return the ``lag`` of the ``assay-scores/1`` document; None where no lag is known."""
    here = behind(now)
    if here is None:
        return None
    most = hottest(now.group)
    named = None
    if most is not None:
        group, (at, records) = now.group, most
        topic, number = group.topics[group.topic[at]], int(group.number[at])
        named = {"topic": topic, "partition": number, "records": records}
    return {
        "peak": here.peak,
        "lowest": None if lowest is None else lowest.records,
        "bound": None if lowest is None else lowest.bound,
        "most_in_one_partition": named,
    }
