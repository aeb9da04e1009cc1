"""Confirmation: from what a method answers to a solution that the checker accepts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from groups.assignment import Assignment
from groups.errors import InvalidAssignment, ProofError, SolverContradiction
from groups.tiers import values
from optimal.confirmation.audit import audit, values_of
from optimal.confirmation.books import Books
from optimal.proof import Proof, ProofKind
from optimal.solution import Solution, Status, Stopped, Term

if TYPE_CHECKING:
    from groups.group import Group
    from groups.tiers import Objective
    from optimal.answer import Answer
    from optimal.budgets.budget import Budgets


def confirmed(
    group: Group,
    objective: Objective,
    answer: Answer,
    method: str,
    seconds: float,
    at_most: Budgets | None = None,
) -> Solution:
    """Turn an answer into a solution that the checker has confirmed.

    Parameters
    ----------
    at_most : the budgets that it keeps to

    Raises
    ------
    SolverContradiction
        Where the checker rejects it.
    """
    assignment = None if answer.owner is None else Assignment(group, answer.owner)
    books = None if assignment is None else Books.of(group, assignment.owner)
    found = None if books is None else values_of(books, objective, answer.proof)
    if found is None:
        found = () if assignment is None else values(assignment, objective)
    bounds: tuple[int | None, ...] = answer.bounds
    if answer.proof.kind is ProofKind.CERTIFICATE or (
        method == "flow" and answer.stopped is Stopped.PROOF
    ):
        # The checker, or the flow's own word, stands for every tier.
        bounds = found
    terms = tuple(map(Term, objective, found, bounds))
    status = Status.UNKNOWN
    if assignment is not None:
        met = all(term.value == term.bound for term in terms)
        proved = met and answer.proof.kind is not ProofKind.NONE
        status = Status.OPTIMAL if proved else Status.FEASIBLE
    solution = Solution(
        group=group,
        objective=objective,
        status=status,
        stopped=answer.stopped,
        method=answer.method or method,
        seconds=seconds,
        terms=terms,
        assignment=assignment,
        proof=answer.proof if status is Status.OPTIMAL else Proof(ProofKind.NONE),
        at_most=at_most or {},
    )
    try:
        audit(group, solution, books)
    except (InvalidAssignment, ProofError) as error:
        raise SolverContradiction(
            f"{group.name}: {method} contradicts the checker: {error}"
        ) from error
    return solution
