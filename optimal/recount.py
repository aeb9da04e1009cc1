"""Recount: where a proof is no certificate, whether an assignment is plainly better than it says.

Of a small group all assignments are counted again. Of another one a few are looked at that anybody
would try: one that is better refutes the claim, none that is better says nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from groups.errors import BadInput, ProofError
from groups.needs import require_data
from groups.tiers import SAFE_TOTAL, TIERS
from optimal.case import Case

if TYPE_CHECKING:
    from collections.abc import Iterator

    from groups.group import Group
    from optimal.solution import Solution

# Partitions times members up to which a few assignments are tried, in less than a second.
MOST_CELLS = 2**20


def count_again(group: Group, solution: Solution) -> bool:
    """Require that no assignment looked at is below the bounds; say whether all were looked at.

    Parameters
    ----------
    solution : one that `optimal.certificate.check` has let pass

    Raises
    ------
    ProofError
        If one is: the message names the tier and the better value.
    """
    if solution.assignment is None:
        return False
    try:
        require_data(group, (*solution.objective, *solution.at_most))
    except BadInput:
        # What is held has all that it needs, but another assignment may not.
        return False
    case = Case(group, solution.assignment.owner.tolist())
    least = _least_of_all(case, solution)
    if least is not None:
        _require_not_below(solution, least)
        return True
    for held in _plain(case, solution):
        other = Case(case.group, held)
        if all(other.value(tier) <= most for tier, most in solution.at_most.items()):
            _require_not_below(solution, tuple(map(other.value, solution.objective)))
    return False


def _require_not_below(solution: Solution, reached: tuple[int, ...]) -> None:
    """Require of an assignment that is as good up to a tier that it is above the bound there."""
    for term, value in zip(solution.terms, reached, strict=True):
        if term.bound is None or value > term.bound:
            return
        if value < term.bound:
            what = f"the bound {term.bound} is wrong: an assignment has {value}"
            raise ProofError(f"terms.{term.name}: {what}")


def _least_of_all(case: Case, solution: Solution) -> tuple[int, ...] | None:
    """Return what the best of all assignments costs; None if there are too many to count."""
    from optimal.enumeration import best_so_far, is_enumerable

    group, objective = case.group, solution.objective
    tiers = (*objective, *solution.at_most)
    if not is_enumerable(group) or any(
        TIERS[tier].greatest(group) >= SAFE_TOTAL for tier in tiers
    ):
        return None
    *_, (least, _) = best_so_far(group, objective, solution.at_most)
    return least


def _plain(case: Case, solution: Solution) -> Iterator[list[int]]:
    """Yield assignments that anybody would try, (all partitions,) members, -1 nobody each.

    What everybody owns and the rest dealt out; all dealt out; and all dealt out by what they
    weigh, the heaviest first.
    """
    if len(case.held) * len(case.reads) > MOST_CELLS:
        return
    nobody = [-1] * len(case.held)
    yield _dealt(case, case.owner, dict.fromkeys(case.read, 1))
    yield _dealt(case, nobody, dict.fromkeys(case.read, 1))
    for what in ("lag", "weight"):
        if any(TIERS[tier].needs == what for tier in solution.objective):
            size = {p: max(0, case.columns[what][p]) for p in case.read}
            yield _dealt(case, nobody, size)


def _dealt(case: Case, start: list[int], size: dict[int, int]) -> list[int]:
    """Return who holds what once each partition that nobody holds is with its idlest reader."""
    held, loads = list(start), [(0, 0)] * len(case.reads)
    for p in sorted(case.read, key=lambda p: (held[p] < 0, -size[p], p)):
        if held[p] < 0:
            held[p] = min(case.readers[case.topic[p]], key=lambda m: (loads[m], m))
        carried, number = loads[held[p]]
        loads[held[p]] = carried + size[p], number + 1
    return held
