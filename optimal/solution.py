"""Solution: an assignment, its values and bounds, and the proof."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

import numpy as np

from groups.arguments import taking
from groups.arrays import GREATEST
from groups.assignment import Assignment
from groups.documents import fields
from groups.errors import BadInput, InvalidAssignment, ProofError
from groups.framed import Framed
from groups.tiers import TIERS, Objective, parse_objective
from optimal.budgets.budget import parse_budgets
from optimal.proof import Proof, one_of, proof_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from groups.arrays import Int64
    from groups.group import Group

FORMAT = "assay-solution/1"
_KEYS = {
    "format", "group", "objective", "at_most", "status", "stopped", "method", "seconds", "terms",
    "assignment", "unassigned", "proof", "assumed",
}  # fmt: skip


class Status(StrEnum):
    """What is known of a solution."""

    OPTIMAL = "optimal"
    FEASIBLE = "feasible"
    UNKNOWN = "unknown"


class Stopped(StrEnum):
    """Why a method stopped.

    `time-limit` is every end without a proof: the time was up, or the solver's answers did not
    hold and no other formulation was left to try.
    """

    PROOF = "proof"
    TIME_LIMIT = "time-limit"


@dataclass(frozen=True)
class Term:
    """The value of one tier and a true lower bound on it, given the earlier tiers' optimum.

    `bound` is None if an earlier tier is not proved optimal or no bound is known.
    """

    name: str
    value: int
    bound: int | None

    def __post_init__(self) -> None:
        """Require a name and whole numbers, which no boolean and no float is."""
        if not isinstance(self.name, str) or type(self.value) is not int:
            raise InvalidAssignment(f"terms.{self.name}: {self.value!r} is no whole number")
        if self.bound is not None and type(self.bound) is not int:
            raise InvalidAssignment(f"terms.{self.name}: the bound {self.bound!r} is no integer")


@dataclass(frozen=True, eq=False)
class Solution(Framed):
    """The answer to one group: the assignment, its values and bounds, and why the method stopped.

    `at_most` holds the budgets that the assignment keeps to; it is optimal among those that do.
    """

    group: Group
    objective: Objective
    status: Status
    stopped: Stopped
    method: str
    seconds: float
    terms: tuple[Term, ...]
    assignment: Assignment | None
    proof: Proof
    at_most: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Require that every field has the right type; `check` decides whether it is true."""
        for name, kind in (("status", Status), ("stopped", Stopped), ("proof", Proof)):
            if type(getattr(self, name)) is not kind:
                raise ProofError(f"{name}: {getattr(self, name)!r} is no {kind.__name__}")
        tiers = self.objective
        if type(tiers) is not tuple or not tiers or not all(isinstance(t, str) for t in tiers):
            raise ProofError(f"objective: {tiers!r}, expected a tuple of tiers")
        if len(set(tiers)) < len(tiers) or not TIERS.keys() >= set(tiers):
            raise ProofError(f"objective: {tiers!r}, expected different tiers, all of them known")
        if type(self.terms) is not tuple or any(type(term) is not Term for term in self.terms):
            raise InvalidAssignment(f"terms: {self.terms!r}, expected a tuple of Term")
        if self.assignment is not None and type(self.assignment) is not Assignment:
            raise InvalidAssignment(f"assignment: {self.assignment!r}, expected an Assignment")
        try:
            object.__setattr__(self, "at_most", parse_budgets(self.at_most))
        except BadInput as error:
            raise ProofError(str(error)) from None

    def __repr__(self) -> str:
        terms = ", ".join(f"{term.name} {term.value}" for term in self.terms)
        return f"Solution({self.group.name}: {self.status}{', ' * bool(terms)}{terms})"

    def to_rows(self) -> Iterator[dict[str, object]]:
        """Return one row per member.

        The columns are `member`, `now` and `best` (partitions that it holds now, and in the
        solution), and `gained` and `lost` (partitions that move to it and away from it). All but
        the first two are None if no assignment was found.
        """
        now, found = Assignment(self.group, self.group.owner), self.assignment
        gained = lost = best = None
        if found is not None:
            best = found.loads
            moved = now.owner != found.owner
            gained, lost = (
                np.bincount(owner[moved & (owner >= 0)], minlength=len(best))
                for owner in (found.owner, now.owner)
            )
        columns = {"best": best, "gained": gained, "lost": lost}
        for at, member in enumerate(self.group.members):
            counts = {name: None if n is None else int(n[at]) for name, n in columns.items()}
            yield {"member": member, "now": int(now.loads[at]), **counts}

    @property
    def in_a_line(self) -> str:
        """The solution in one line."""
        return repr(self)

    def to_dict(self) -> dict[str, object]:
        """Return the ``assay-solution/1`` document."""
        found = self.assignment
        return {
            "format": FORMAT,
            "group": self.group.name,
            "objective": list(self.objective),
            **({"at_most": dict(self.at_most)} if self.at_most else {}),
            "status": str(self.status),
            "stopped": str(self.stopped),
            "method": self.method,
            "seconds": round(self.seconds, 6),
            "terms": [{"name": t.name, "value": t.value, "bound": t.bound} for t in self.terms],
            "assignment": None if found is None else found.to_dict(),
            "unassigned": {} if found is None else found.unassigned,
            "proof": self.proof.to_dict(self.group),
            "assumed": list(self.group.assumed),
        }

    @staticmethod
    @taking
    def from_dict(group: Group, document: object) -> Solution:
        """Read an ``assay-solution/1`` document as an answer to `group`.

        Raises
        ------
        BadInput
            If a rule of the format is broken; the message names the place.
        InvalidAssignment
            If the assignment names a member that the group does not have.
        """
        found = document.get("format") if isinstance(document, Mapping) else None
        if isinstance(document, Mapping) and found != FORMAT:
            fields.refuse("format", f"{fields.shown(found)}, expected {FORMAT!r}")
        required = ("objective", "status", "stopped", "method", "terms", "assignment", "proof")
        top = fields.mapping(document, "", allowed=_KEYS, required=required)
        if top.get("group", group.name) != group.name:
            fields.refuse("group", f"{top['group']!r}, but the group is {group.name!r}")
        objective = parse_objective(fields.strings(top["objective"], "objective"))
        fields.strings(top.get("assumed", []), "assumed", repeats=True)
        at_most = parse_budgets(top.get("at_most", {}))
        given = top["assignment"]
        solution = Solution(
            group=group,
            objective=objective,
            status=Status(one_of(Status, top["status"], "status")),
            stopped=Stopped(one_of(Stopped, top["stopped"], "stopped")),
            method=fields.name(top["method"], "method"),
            seconds=_seconds(top.get("seconds", 0)),
            terms=_terms(top["terms"], objective, empty=given is None),
            assignment=(
                None
                if given is None
                else Assignment.from_dict(group, fields.mapping(given, "assignment"))
            ),
            proof=proof_of(group, top["proof"], objective, priced=not at_most),
            at_most=at_most,
        )
        _check_unassigned(solution, top.get("unassigned"))
        return solution


@dataclass(frozen=True, eq=False)
class Standbys:
    """The standbys placed beside active tasks, and the proof that none are better beside these.

    Attributes
    ----------
    actives : the active tasks
    replicas : how many standbys are asked for; a task that keeps state has so many, or one on
        each process other than that of its active task
    task, member : (standbys,) int64, a partition of the group and the member that has a standby
        of it; by ascending task, then process
    terms : `load_squares`, the sum over members of the square of their active and standby tasks
        together; `host_balance`, the same over processes, weighted as for active tasks;
        `restores`, the number of standbys on a process without a copy. Each is the least among
        standbys that are optimal in the terms before it
    proof : the price that each member and process asks for a standby
    """

    actives: Assignment
    replicas: int
    task: Int64
    member: Int64
    terms: tuple[Term, ...]
    proof: Proof


def _seconds(value: object) -> float:
    if (
        isinstance(value, bool)
        or not isinstance(value, (int, float))
        or not (0 <= value <= GREATEST)
    ):
        fields.refuse("seconds", f"{fields.shown(value)}, expected a number of 0 or more")
    return float(value)


def _terms(value: object, objective: Objective, *, empty: bool) -> tuple[Term, ...]:
    terms = []
    for i, item in enumerate(fields.listed(value, "terms")):
        keys = ("name", "value", "bound")
        found = fields.mapping(item, f"terms[{i}]", allowed=set(keys), required=keys)
        bound = found["bound"]
        terms.append(
            Term(
                name=fields.name(found["name"], f"terms[{i}].name"),
                value=fields.integer(found["value"], f"terms[{i}].value"),
                bound=None if bound is None else fields.integer(bound, f"terms[{i}].bound"),
            )
        )
    if not (empty and not terms) and tuple(t.name for t in terms) != objective:
        fields.refuse("terms", f"expected one for each of {' > '.join(objective)}, in this order")
    return tuple(terms)


def _check_unassigned(solution: Solution, given: object) -> None:
    if given is None or solution.assignment is None:
        return
    expected = solution.assignment.unassigned
    if json.dumps(given, sort_keys=True) != json.dumps(expected, sort_keys=True):
        raise InvalidAssignment(
            f"unassigned: {fields.shown(given)}, but what nobody reads is {fields.shown(expected)}"
        )
