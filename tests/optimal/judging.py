"""Verdicts of both checkers on a solution, and solutions with any claims, true or false.

The checker (`optimal.certificate`) reads lists, the audit (`optimal.audit`) reads columns.
`is_accepted` calls both, and fails if they disagree.
"""

from __future__ import annotations

import copy
from dataclasses import replace

import numpy as np

from groups import AssayError, Assignment, Group, InvalidAssignment, ProofError, values
from optimal import Proof, ProofKind, Solution, Status, Stopped, Term, check
from optimal.audit import confirm
from optimal.form import is_about_a_peak

KIP_54 = ("balance", "stickiness")
LARGE = 2**40
REFUSED = (ProofError, InvalidAssignment)
COLUMNS = {
    "fractional": lambda column: column + 0.375,
    "whole numbers as floats": lambda column: column.astype(float),
    "NaN": lambda column: np.full(len(column), np.nan),
    "infinite": lambda column: np.full(len(column), np.inf),
    "booleans": lambda column: column.astype(bool),
    "a list": lambda column: column.tolist(),
    "a tuple": lambda column: tuple(column.tolist()),
    "objects": lambda column: column.astype(object),
    "large objects": lambda column: np.array([10**400] * len(column), object),
    "texts": lambda column: column.astype(str),
    "complex": lambda column: column.astype(complex),
    "unsigned": lambda column: column.astype(np.uint64),
    "narrow": lambda column: column.astype(np.int8),
    "of another byte order": lambda column: column.astype(">i8"),
    "masked": lambda column: np.ma.array(column, mask=True),
    "too long": lambda column: np.append(column, 0),
    "too short": lambda column: column[:-1],
    "empty": lambda column: column[:0],
    "two-dimensional": lambda column: column[:, None],
    "without dimension": lambda column: np.array(0),
    "a number": lambda column: 0,
    "a text": lambda column: "000",
    "missing": lambda column: None,
}
NUMBERS = (0.5, -0.375, float("nan"), float("inf"), True, "1", None, [1], np.int64(1), 10**400)


def claimed(
    group: Group, owner, objective, level=None, price=None, kind=ProofKind.CERTIFICATE
) -> Solution:
    """Return a solution that claims that an assignment is optimal, with its true values."""
    assignment = Assignment(group, np.array(owner, np.int32))
    found = values(assignment, objective)
    columns = [None if c is None else np.array(c, np.int64) for c in (level, price)]
    return Solution(
        group=group,
        objective=objective,
        status=Status.OPTIMAL,
        stopped=Stopped.PROOF,
        method="flow",
        seconds=0.0,
        terms=tuple(map(Term, objective, found, found)),
        assignment=assignment,
        proof=Proof(kind, *columns),
    )


def forged(original, **fields):
    """Return a copy of a frozen object with other field values, which no constructor checks."""
    changed = copy.copy(original)
    for name, value in fields.items():
        object.__setattr__(changed, name, value)
    return changed


def changed(solution: Solution, **columns) -> Solution:
    return replace(solution, proof=replace(solution.proof, **columns))


def with_owner(solution: Solution, owner) -> Solution:
    """Return the same claim for another assignment, with its true values."""
    assignment = Assignment(solution.group, np.array(owner, np.int32))
    found = values(assignment, solution.objective)
    terms = tuple(map(Term, solution.objective, found, found))
    return replace(solution, assignment=assignment, terms=terms)


def verdict_of(checker, group: Group, solution: Solution) -> tuple[str, ...] | AssayError | None:
    """Return what a checker returns, or the `AssayError` that it raises."""
    try:
        return checker(group, solution)
    except AssayError as error:
        return error


def is_accepted(group: Group, solution: Solution) -> bool:
    """Whether the checker accepts a solution; fails if the audit decides otherwise.

    The audit may leave peaks and large numbers to the checker.
    """
    plain, columnar = (verdict_of(checker, group, solution) for checker in (check, confirm))
    if isinstance(plain, AssayError):
        assert columnar is None or isinstance(columnar, AssayError), (plain, columnar)
        return False
    if columnar is None:
        assert is_about_a_peak(solution) or is_large(group, solution)
    else:
        assert columnar == plain
    return True


def is_large(group: Group, solution: Solution) -> bool:
    """Whether numbers are so large that the audit may leave their sums to the checker."""
    columns = [group.lag_records, group.weight, solution.proof.price]
    known = [column.tolist() for column in columns if column is not None]
    greatest = max(abs(number) for column in known for number in (0, *column))
    return greatest * max(solution.proof.scale, default=1) * max(len(group.owner), 1) > LARGE
