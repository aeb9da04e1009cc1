"""Choice: of all assignments that are equally good, the one with the lowest peak lag."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from compare.lag.lowest import MOST_ROUNDS, least_lagging

if TYPE_CHECKING:
    from compare.judged import Judged
    from compare.lag.lowest import LowestPeak


def going_for_least_lag(
    judged: Judged, *, assume_equal: bool, rounds: int = MOST_ROUNDS
) -> tuple[Judged, LowestPeak | None]:
    """Return the verdict on one group, the best to go for the one that has the lowest peak lag.

    Where members are taken to read the same, that one may use it if it is no better otherwise.
    The second value is that peak, None where none was searched.

    Parameters
    ----------
    assume_equal : where subscriptions are unknown, whoever is unknown reads all that is in demand
    rounds : of search
    """
    best, lowest = judged.best, judged.lowest
    target = lowest if assume_equal else best
    if judged.verdict.says != "improvable" or target is None:
        return judged, None
    found = least_lagging(target, rounds)
    if found is None:
        return judged, None
    chosen = replace(target, assignment=found.assignment)
    if lowest is best or (assume_equal and not judged.verdict.condition):
        return replace(judged, best=chosen, lowest=chosen), found
    if assume_equal:
        return replace(judged, lowest=chosen), found
    return replace(judged, best=chosen), found
