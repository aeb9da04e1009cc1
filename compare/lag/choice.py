"""Choice: of all assignments that are equally good, the one with the lowest peak lag."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from compare.lag.lowest import ROUNDS, SECONDS, least_lagging, rounds_each
from optimal.time_left import TimeLeft

if TYPE_CHECKING:
    from collections.abc import Sequence

    from compare.judged import Judged


# Verdicts on groups that need another assignment.
OTHERS = ("improvable", "not valid")


def going_for_least_lag(judged: Sequence[Judged], *, assume_equal: bool) -> list[Judged]:
    """Return verdicts with, of all that is equally good, the assignment that has least lag.

    Groups that need another one share the rounds of search, and a minute at the most.

    Parameters
    ----------
    assume_equal : where subscriptions are unknown, whoever is unknown reads all that is in demand
    """
    rounds = rounds_each(ROUNDS, sum(one.verdict.says in OTHERS for one in judged))
    time_left = TimeLeft.of(SECONDS)
    return [_going(one, rounds, time_left, assume_equal=assume_equal) for one in judged]


def _going(judged: Judged, rounds: int, time_left: TimeLeft, *, assume_equal: bool) -> Judged:
    """Return one of them.

    Where members are taken to read the same, the assignment may use it if it is no better
    otherwise.
    """
    best, lowest = judged.best, judged.lowest
    target = lowest if assume_equal else best
    if judged.verdict.says not in OTHERS or target is None:
        return judged
    found = least_lagging(target, rounds, time_left)
    if found is None:
        return judged
    chosen = replace(target, assignment=found.assignment)
    if lowest is best or (assume_equal and not judged.verdict.condition):
        return replace(judged, best=chosen, lowest=chosen, least_lag=found.proved)
    if assume_equal:
        return replace(judged, lowest=chosen, least_lag=found.proved)
    return replace(judged, best=chosen, least_lag=found.proved)
