"""Lag in tables: the peak of each row beside the lowest there can be, and each member's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from compare.lag.behind import behind
from groups.wording import duration, rounded

if TYPE_CHECKING:
    from collections.abc import Sequence

    from compare.lag.behind import Behind
    from compare.lag.lowest import LowestPeak
    from compare.scores import Score
    from optimal.solution import Solution

Column = list[tuple[str, str]]


def lag_columns(
    solution: Solution, scores: Sequence[Score], lowest: LowestPeak
) -> dict[str, Column]:
    """Return what the optimum and each row make of lag, by the heads of the columns.

    The peak with what it has more than the lowest; the time to catch up where rates are known.
    """
    best = None if solution.assignment is None else behind(solution.assignment)
    peaks = [None if best is None else best.peak, *(score.peak_lag for score in scores)]
    times = [None if best is None else best.longest, *(s.catch_up_seconds for s in scores)]
    columns: dict[str, Column] = {}
    if "peak_lag" not in solution.objective:
        columns["peak lag"] = [_above(peak, lowest) for peak in peaks]
    if any(times):
        columns["catch-up"] = [("-" if s is None else duration(s), "") for s in times]
    return columns


def members_behind(now: Behind | None, then: Behind | None) -> dict[str, list[str]]:
    """Return lag, and time to catch up, of each member before and after, by heads of columns.

    Nothing where a lag is not known.
    """
    if now is None or then is None or now.unknown or then.unknown:
        return {}
    sides = {"now": now, "best": then}
    columns = {f"lag {n}": [f"{r:,}" for r in one.records] for n, one in sides.items()}
    if None not in (now.longest, then.longest) and (now.longest or then.longest):
        for name, one in sides.items():
            columns[f"catch-up {name}"] = [duration(seconds or 0) for seconds in one.seconds]
    return columns


def _above(peak: int | None, lowest: LowestPeak) -> tuple[str, str]:
    if peak is None:
        return "-", ""
    more, most = peak - lowest.records, peak - lowest.bound
    if more < 0:
        return rounded(peak), f" (-{rounded(-more)})"
    if lowest.proved:
        return rounded(peak), f" (+{rounded(more)})" if more else ""
    return rounded(peak), f" (+{rounded(more)}..{rounded(most)})"
