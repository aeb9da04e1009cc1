"""Solutions forged in memory: a few parts replaced by others, of their type or of any type."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from groups import AssayError, Assignment, Group, InvalidAssignment, ProofError, values
from optimal import ProofKind, Solution, Status, Term, check, solve
from optimal.brute import brute
from tests.optimal.judging import forged, is_accepted, said_by

if TYPE_CHECKING:
    import random

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


def forgery(rng: random.Random, genuine: Solution) -> Solution:
    """A solution in which a few parts were replaced by others, of their type or of any type."""
    group, members = genuine.group, len(genuine.group.members)
    proof, solution = genuine.proof, genuine
    for _ in range(rng.randint(1, 3)):
        what = rng.choice(("owner", "owner", "level", "price", "price", "kind", "terms", "status"))
        if what == "owner":
            owner = solution.assignment.owner.copy()
            if len(owner):
                owner[rng.randrange(len(owner))] = rng.randint(-1, max(members - 1, -1))
            solution = forged(solution, assignment=Assignment(group, owner))
        elif what in ("level", "price"):
            column = getattr(proof, what)
            known = type(column) is np.ndarray and column.dtype == np.int64 and column.ndim == 1
            column = column.copy() if known else np.zeros(members, np.int64)
            if len(column):
                at = rng.randrange(len(column))
                near = [int(column[at]) + step for step in (-2, -1, 1, 2) for _ in range(2)]
                number = rng.choice((*near, 2**62, -(2**62), 2**63 - 1, -(2**63)))
                column[at] = min(max(number, -(2**63)), 2**63 - 1)
            if rng.random() < 0.2:
                column = COLUMNS[rng.choice(list(COLUMNS))](column)
            proof = forged(proof, **{what: column})
        elif what == "kind":
            proof = forged(proof, kind=rng.choice((*ProofKind, "certificate")))
        elif what == "status":
            solution = forged(solution, status=rng.choice((*Status, "optimal")))
        else:
            terms = list(solution.terms)
            at = rng.randrange(len(terms))
            name = rng.choice(("value", "bound"))
            terms[at] = forged(terms[at], **{name: rng.choice((*NUMBERS, 0, 1, 2, 3))})
            solution = forged(solution, terms=tuple(terms))
    if rng.random() < 0.7 and solution.assignment is not None:
        found = values(solution.assignment, solution.objective)
        solution = forged(solution, terms=tuple(map(Term, solution.objective, found, found)))
    return forged(solution, proof=proof)


def judge(rng: random.Random, group: Group, objective, count: int) -> Counter[str]:
    """Forge solutions of a group; count what was said of them, and that nothing said was wrong.

    Proved is an answer of which the checker leaves nothing unchecked.
    """
    met: Counter[str] = Counter()
    best = brute(group, objective).bounds
    genuine = solve(group, objective, method=rng.choice(("flow", "auto")))
    for _ in range(count):
        solution = forgery(rng, genuine)
        said = said_by(check, group, solution)
        met["accepted"] += is_accepted(group, solution)
        if isinstance(said, AssayError):
            assert isinstance(said, REFUSED), (said, group.to_dict())
            met[type(said).__name__] += 1
            continue
        assert solution.assignment.is_valid
        found = values(solution.assignment, objective)
        assert tuple(term.value for term in solution.terms) == found
        assert all(type(term.value) is int for term in solution.terms)
        if said == ():
            assert found == best, (group.to_dict(), objective, solution)
            met["proved"] += 1
        else:
            assert solution.proof.kind is not ProofKind.CERTIFICATE
            met["on somebody's word"] += 1
    return met
