"""Whether moving is worth it: a sentence, then the assignment that is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.printing.one_group import print_solution
from assay.printing.terminal import tell
from groups.tiers import values
from groups.wording import counted, duration

if TYPE_CHECKING:
    from compare.lag.worth import Worth

NAMES = {"peak_lag": "peak lag", "peak_time": "time to catch up", "peak_weight": "peak weight"}


def print_worth(worth: Worth) -> None:
    """Print whether to leave the group alone and why, else the fewest moves that are worth it."""
    solution, peak = worth.solution, worth.objective[-1]
    if solution is None or solution.assignment is None:
        tell(f"{worth.group}: {_left(worth)}")
        return
    moved = len(solution.assignment.moved)
    (reached,) = values(solution.assignment, (peak,))
    tell(
        f"{worth.group}: {counted(moved, 'move')} "
        f"{'brings' if moved == 1 else 'bring'} the {NAMES[peak]} from {_told(peak, worth.now)} "
        f"to {_told(peak, reached)}: {_lower(worth.now, reached)}. {_fewest(worth, moved)}"
    )
    print_solution(solution)


def _left(worth: Worth) -> str:
    peak, now = worth.objective[-1], worth.now
    if not now:
        return "leave it alone, nobody is behind."
    name = f"the {NAMES[peak]} is {_told(peak, now)} now"
    asked = f"{_told(peak, worth.wanted)} was asked for"
    bound, found = _told(peak, worth.bound), _told(peak, worth.found)
    if worth.found == worth.bound:
        least = f"the lowest possible is {found}: {_lower(now, worth.found)}"
    elif worth.sure:
        least = f"it cannot be below {bound}: {_lower(now, worth.bound)}"
    else:
        return (
            f"leave it alone, as far as known: {name}, the lowest found is {found}, and {asked}. "
            f"Not proved: it cannot be below {bound}."
        )
    return f"leave it alone: {name}, {least}, and {asked}."


def _fewest(worth: Worth, moved: int) -> str:
    if moved <= worth.fewest:
        return "Fewer are not enough."
    known = f": {counted(worth.fewest, 'move')} at least" if worth.fewest else ""
    return f"That fewer are not enough is not proved{known}."


def _lower(now: int, then: int) -> str:
    share = 100 * (now - then) // now
    if then == now:
        return "no lower"
    return f"{share}% lower" if share else "under 1% lower"


def _told(peak: str, value: int) -> str:
    return duration(value) if peak == "peak_time" else f"{value:,}"
