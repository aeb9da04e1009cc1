"""Explanation: an optimum, what is there now, and the counts that say why it is not better."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from compare.reasons.blocks import Block, blocks_of
from compare.reasons.moves import Moves, moves_of
from groups.assignment import Assignment
from groups.tiers import values
from optimal.proof import ProofKind
from optimal.solution import Status

if TYPE_CHECKING:
    from groups.group import Group
    from optimal.solution import Solution


@dataclass(frozen=True, eq=False)
class Explanation:
    """Why a solution cannot be better.

    Attributes
    ----------
    solution : the optimum
    best : its assignment
    now : what the members hold now, raw claims as they are
    blocks : the fullest first; none where the certificate says nothing of loads, or there is none
    moves : why partitions must move; None where the certificate is not about that alone
    """

    solution: Solution
    best: Assignment
    now: Assignment
    blocks: tuple[Block, ...]
    moves: Moves | None

    @property
    def group(self) -> Group:
        """The group that it is about."""
        return self.solution.group

    @property
    def is_there(self) -> bool:
        """Whether what the members hold now is as good as the optimum."""
        found = values(self.now, self.solution.objective)
        return self.now.is_valid and found == tuple(term.value for term in self.solution.terms)


def explain(solution: Solution) -> Explanation | None:
    """Return why an assignment cannot be better; None where it is not proved that it cannot.

    What follows from the certificate is there where balance comes first in the objective: the
    blocks; and for ``balance > stickiness`` and ``balance`` what must move. `assay check` holds
    the certificate itself against the group.
    """
    best = solution.assignment
    if best is None or solution.status is not Status.OPTIMAL:
        return None
    tiers = solution.objective
    certified = solution.proof.kind is ProofKind.CERTIFICATE and solution.proof.level is not None
    levelled = certified and tiers[0] == "balance" and not solution.at_most
    return Explanation(
        solution=solution,
        best=best,
        now=Assignment.current(solution.group),
        blocks=blocks_of(solution) if levelled else (),
        moves=moves_of(solution) if levelled and tiers == ("balance", "stickiness") else None,
    )
