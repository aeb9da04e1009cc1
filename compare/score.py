"""Score: how an assignor fared on a group, one row; and the document of the rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from groups.errors import SolverContradiction

if TYPE_CHECKING:
    from collections.abc import Sequence

    from groups.assignment import Violation
    from groups.group import Group
    from optimal.solution import Solution

FORMAT = "assay-scores/1"
CURRENT = "current"
OPTIMUM = "optimum"
UNKNOWN = "subscriptions are not known: add --reads PATTERN=TOPICS, or --assume-equal"
# A run has no --reads.
UNKNOWN_IN_RUN = "subscriptions are not known: add --assume-equal, or say them in the snapshot"
Excess = int | tuple[int, int | None] | None


@dataclass(frozen=True)
class ScoreTerm:
    """The value of one tier, and how far it is from the optimum.

    `excess` is value - optimum up to and including the first tier in which they differ, None
    after it and where the assignment is not valid; ``(value - incumbent, value - bound)`` where
    the optimum is not proved.
    """

    name: str
    value: int
    excess: Excess


@dataclass(frozen=True)
class Score:
    """How an assignor fared on a group.

    Attributes
    ----------
    status : "scored", "refused", "failed", "timed-out" or "unavailable"
    reason : why it is not scored; None where it is
    valid, violations, terms : None, empty and None unless scored
    balanced : KIP-54's own predicate; None unless scored and valid
    rounds, revoked : rebalances until quiescence, partitions taken from a member on the way
    seconds : time inside the assignor
    loads : partitions per member, in the order of ids; None unless scored
    peak_lag : records that the member with most lag is behind; None where a lag is not known or
        the assignment is not valid
    catch_up_seconds : how long the member that takes longest needs to catch up; None where a lag
        or a member's `capacity` is not known, or the assignment is not valid
    """

    assignor: str
    status: Literal["scored", "refused", "failed", "timed-out", "unavailable"]
    reason: str | None = None
    valid: bool | None = None
    violations: tuple[Violation, ...] = ()
    terms: tuple[ScoreTerm, ...] | None = None
    balanced: bool | None = None
    rounds: int = 1
    revoked: int = 0
    seconds: float = 0.0
    loads: tuple[int, ...] | None = None
    peak_lag: int | None = None
    catch_up_seconds: int | None = None

    @property
    def is_optimal(self) -> bool:
        """Whether every tier is proved to be at its optimum."""
        return self.terms is not None and all(term.excess == 0 for term in self.terms)

    def to_dict(self) -> dict[str, object]:
        """Return the row of the ``assay-scores/1`` document."""
        terms = self.terms
        return {
            "assignor": self.assignor,
            "status": self.status,
            "reason": self.reason,
            "valid": self.valid,
            "violations": [vars(violation) for violation in self.violations],
            "terms": None if terms is None else [_term_document(term) for term in terms],
            "rounds": self.rounds,
            "revoked": self.revoked,
            "seconds": round(self.seconds, 6),
            "peak_lag": self.peak_lag,
            "catch_up_seconds": self.catch_up_seconds,
        }


def excess_of(found: Sequence[int], solution: Solution) -> tuple[Excess, ...]:
    """Return the excess of the values of a valid assignment, as `ScoreTerm` has it.

    Raises
    ------
    SolverContradiction
        Where a value is below a bound.
    """
    excess: list[Excess] = []
    comparable = bool(solution.terms)
    for value, term in zip(found, solution.terms or [None] * len(found), strict=True):
        if not comparable or term is None:
            excess.append(None)
            continue
        if term.bound is not None and value < term.bound:
            raise SolverContradiction(
                f"{solution.group.name}: {term.name} is {value}, below the bound {term.bound} "
                f"that {solution.method} claims"
            )
        if term.bound == term.value:
            excess.append(value - term.value)
            comparable = value == term.value
        else:
            above = None if term.bound is None else value - term.bound
            excess.append((value - term.value, above))
            comparable = False
    return tuple(excess)


def scores_document(group: Group, solution: Solution, rows: Sequence[Score]) -> dict[str, object]:
    """Return the ``assay-scores/1`` document."""
    answer = solution.to_dict()
    return {
        "format": FORMAT,
        "group": group.name,
        "objective": answer["objective"],
        "optimum": {"status": answer["status"], "terms": answer["terms"]},
        "scores": [row.to_dict() for row in rows],
    }


def _term_document(term: ScoreTerm) -> dict[str, object]:
    excess = list(term.excess) if isinstance(term.excess, tuple) else term.excess
    return {"name": term.name, "value": term.value, "excess": excess}
