"""Recount: look for an assignment that refutes a proof which is no certificate.

For a small group, all assignments are counted again. For any other, a few simple assignments are
tried: a better one refutes the claim, otherwise nothing is known.
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
    """Require that no assignment tried is below the bounds; return whether all were tried.

    Parameters
    ----------
    solution : a solution that `optimal.certificate.check` accepts

    Raises
    ------
    ProofError
        If an assignment is below a bound; the message names the tier and the better value.
    """
    if solution.assignment is None:
        return False
    try:
        require_data(group, (*solution.objective, *solution.at_most))
    except BadInput:
        # The tiers' data may be known for this assignment but not for others.
        return False
    from optimal.enumeration import best_so_far, is_enumerable

    tiers = (*solution.objective, *solution.at_most)
    if is_enumerable(group) and all(TIERS[tier].greatest(group) < SAFE_TOTAL for tier in tiers):
        *_, (least, _) = best_so_far(group, solution.objective, solution.at_most)
        if least is not None:
            _require_not_below(solution, least)
            return True
    case = Case(group, solution.assignment.owner.tolist())
    for held in _simple_assignments(case, solution):
        other = Case(case.group, held)
        if all(other.value(tier) <= most for tier, most in solution.at_most.items()):
            _require_not_below(solution, tuple(map(other.value, solution.objective)))
    return False


def _require_not_below(solution: Solution, reached: tuple[int, ...]) -> None:
    """Raise ProofError if the values reached are lexicographically below the bounds."""
    for term, value in zip(solution.terms, reached, strict=True):
        if term.bound is None or value > term.bound:
            return
        if value < term.bound:
            what = f"the bound {term.bound} is wrong: an assignment has {value}"
            raise ProofError(f"terms.{term.name}: {what}")


def _simple_assignments(case: Case, solution: Solution) -> Iterator[list[int]]:
    """Yield simple assignments, each a member for every partition, -1 nobody.

    Owners keep what they own and the rest is dealt out; everything is dealt out; and everything
    is dealt out by lag or weight, the heaviest first.
    """
    if len(case.held) * len(case.reads) > MOST_CELLS:
        return
    nobody = [-1] * len(case.held)
    yield _deal_out(case, case.owner, dict.fromkeys(case.read, 1))
    yield _deal_out(case, nobody, dict.fromkeys(case.read, 1))
    for what in ("lag", "weight"):
        if any(TIERS[tier].needs == what for tier in solution.objective):
            size = {p: max(0, case.columns[what][p]) for p in case.read}
            yield _deal_out(case, nobody, size)


def _deal_out(case: Case, start: list[int], size: dict[int, int]) -> list[int]:
    """Return the assignment in which each partition without a member goes to its idlest reader."""
    held, loads = list(start), [(0, 0)] * len(case.reads)
    for p in sorted(case.read, key=lambda p: (held[p] < 0, -size[p], p)):
        if held[p] < 0:
            held[p] = min(case.readers[case.topic[p]], key=lambda m: (loads[m], m))
        carried, number = loads[held[p]]
        loads[held[p]] = carried + size[p], number + 1
    return held
