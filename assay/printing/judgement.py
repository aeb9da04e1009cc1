"""Judgement: what a status rests on once a solution was checked, in a few words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from optimal.budgets.budget import shown
from optimal.proof import ProofKind
from optimal.solution import Status

if TYPE_CHECKING:
    from collections.abc import Mapping

    from groups.tiers import Objective
    from optimal.solution import Solution

WORD = {ProofKind.SOLVER: "the solver", ProofKind.EXHAUSTION: "the search"}


def asked(objective: Objective, at_most: Mapping[str, int]) -> str:
    """Return a question as people read it: ``balance > racks, with stickiness at most 3``."""
    return " > ".join(objective) + (f", with {shown(at_most)}" if at_most else "")


def judged(solution: Solution, *, checked: bool) -> str:
    """Return the status with what it rests on.

    Parameters
    ----------
    checked : whether everything could be checked that the bounds say
    """
    status, kind = solution.status, solution.proof.kind
    if not checked:
        word = WORD.get(kind) if status is Status.OPTIMAL else None
        return f"{status} by the word of {word}: not checked" if word else f"{status}"
    if kind is ProofKind.CERTIFICATE:
        return f"{status}: the certificate proves it"
    found = "none is better" if status is Status.OPTIMAL else "the bounds hold"
    return f"{status}: all assignments were counted again, and {found}"
