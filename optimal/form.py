"""The form of a solution: types, lengths, and whether terms, bounds and status agree."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from groups.errors import InvalidAssignment, ProofError
from groups.group import Group
from optimal.case import BY_PARTITION, EVENS, PEAKS
from optimal.proof import ProofKind
from optimal.solution import Status

if TYPE_CHECKING:
    from collections.abc import Sequence

    from groups.assignment import Assignment
    from groups.tiers import Objective
    from optimal.solution import Solution


def require_form(group: Group, solution: Solution) -> None:
    """Require that a solution is a well-formed answer to `group`, even if it was altered.

    Raises
    ------
    InvalidAssignment
        If it is an answer to other members or partitions, has other terms than the objective, or
        its assignment names members or partitions that do not exist.
    ProofError
        If a field is not of the right type or length.
    """
    solution.__post_init__()
    solution.proof.__post_init__()
    for term in solution.terms:
        term.__post_init__()
    assignment, members = solution.assignment, len(group.members)
    for other in (solution.group, solution.group if assignment is None else assignment.group):
        alike = other is group or (
            type(other) is Group
            and (other.members, other.topics) == (group.members, group.topics)
            and np.array_equal(other.partitions, group.partitions)
        )
        if not alike:
            raise InvalidAssignment("group: other members, topics or partition counts")
    for name, column in (("level", solution.proof.level), ("price", solution.proof.price)):
        if column is not None and len(column) != members:
            raise ProofError(f"{name}: {len(column)} integers for {members} members")
    for kind, table in solution.proof.prices.items():
        wrong = kind == "member" and len(table) != members
        if wrong or table.shape[1] != len(solution.objective):
            raise ProofError(f"prices.{kind}: {table.shape} integers for {members} members")
    names = tuple(term.name for term in solution.terms)
    expected = () if assignment is None else solution.objective
    if names != expected:
        raise InvalidAssignment(f"terms: {', '.join(names)}, expected {', '.join(expected)}")
    if assignment is not None:
        _require_owners(assignment, members, len(group.owner))


def unchecked(solution: Solution, values: tuple[int, ...]) -> tuple[str, ...]:
    """Compare terms, bounds and status with the values found; return what is unchecked.

    Parameters
    ----------
    values : the value of each tier, empty if there is no assignment

    Returns
    -------
    a line for each claim that was not checked

    Raises
    ------
    InvalidAssignment
        If a term is not the value found.
    ProofError
        If a bound is above the value, or bounds and proof do not support the status.
    """
    status, kind = solution.status, solution.proof.kind
    if (solution.assignment is None) is not (status is Status.UNKNOWN):
        there = "no" if solution.assignment is None else "an"
        raise ProofError(f"status: {status}, but there is {there} assignment")
    if solution.assignment is None:
        return ("there is no assignment to check",)
    for term, value in zip(solution.terms, values, strict=True):
        if term.value != value:
            what = f"{term.value}, but the value is {value}"
            raise InvalidAssignment(f"terms.{term.name}: {what}")
        if term.bound is not None and term.bound > value:
            raise ProofError(f"terms.{term.name}: the bound {term.bound} is above {value}")
    closed = True
    for term in solution.terms:
        if term.bound is not None and not closed:
            raise ProofError(f"terms.{term.name}: a bound, but a tier before it is open")
        closed = closed and term.bound == term.value
    met = all(term.bound == term.value for term in solution.terms)
    if status is Status.OPTIMAL and (not met or kind is ProofKind.NONE):
        raise ProofError("status: optimal, but the bounds or the kind of proof do not say so")
    if kind is ProofKind.NONE:
        return ("no proof is given: the bounds were not checked",)
    if kind is not ProofKind.CERTIFICATE:
        return (f"proof of kind {kind}: the bounds are its word and were not checked",)
    return ()


def require_within(solution: Solution, values: Sequence[int]) -> None:
    """Require that the values of the budgets' tiers, in their order, are within the budgets."""
    for (tier, most), value in zip(solution.at_most.items(), values, strict=True):
        if value > most:
            raise InvalidAssignment(f"at_most.{tier}: {most}, but the value is {value}")


def is_about_a_peak(solution: Solution) -> bool:
    """Return whether a certificate is about a peak, even lag or weight, or moves under a peak."""
    return bool({*PEAKS, *EVENS} & set(solution.objective) or solution.proof.givers)


def rests_on_a_budget(solution: Solution) -> bool:
    """Return whether a solution has a certificate that holds only within its budget on moves."""
    kind, proof = solution.proof.kind, solution.proof
    if kind is not ProofKind.CERTIFICATE or proof.level is None or proof.price is not None:
        return False
    served = (("balance",), ("balance", "stickiness"))
    return "stickiness" in solution.at_most and solution.objective in served


def around_balance(objective: Objective) -> tuple[Objective, Objective]:
    """Return the tiers before balance, and those after it, which the prices are about.

    Raises
    ------
    ProofError
        If the objective has a tier that no certificate is defined for.
    """
    if objective in (("balance",), ("topic_balance",)):
        return (), ("stickiness",) if objective == ("balance",) else ()
    for tier in objective:
        if tier not in (*BY_PARTITION, "balance"):
            raise ProofError(f"no certificate is defined for an objective with {tier}")
    at = objective.index("balance") if "balance" in objective else len(objective)
    return objective[:at], objective[at + 1 :]


def _require_owners(assignment: Assignment, members: int, partitions: int) -> None:
    owner, strays = assignment.owner, assignment.strays
    if type(owner) is not np.ndarray or owner.dtype != np.int32 or owner.shape != (partitions,):
        raise InvalidAssignment(f"owner: expected an int32 for each of {partitions} partitions")
    if partitions and not -1 <= int(owner.min()) <= int(owner.max()) < members:
        raise InvalidAssignment(f"owner: an index outside the group's {members} members")
    match strays:
        case () if type(strays) is tuple:
            return
        case ((int(member), str(topic), int(number)), *_) if 0 <= member < members:
            group = assignment.group
            who = f"{topic}-{number} with {group.members[member]}"
            known = dict(zip(group.topics, group.partitions.tolist(), strict=True))
            there = 0 <= number < known.get(topic, 0)
            why = "another member has it, too" if there else "there is no such partition"
            raise InvalidAssignment(f"{who}: {why}")
    raise InvalidAssignment(f"strays: {strays!r}, expected none")
