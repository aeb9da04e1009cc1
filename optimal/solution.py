"""Solution: an assignment, what is known of it, and the proof."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

import numpy as np

from groups.arrays import GREATEST, kept
from groups.assignment import Assignment
from groups.documents import fields
from groups.errors import BadInput, InvalidAssignment, ProofError
from groups.tiers import TIERS, Objective, parse_objective
from optimal.budgets.budget import parse_budgets
from optimal.exchange.floor import Floor

if TYPE_CHECKING:
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

    `time-limit` is every end without a proof: the time was up, or nothing that the solver said
    held and there was no other way to ask it.
    """

    PROOF = "proof"
    TIME_LIMIT = "time-limit"


class ProofKind(StrEnum):
    """What a bound rests on.

    A certificate can be checked without a solver; exhaustion looked at every assignment; solver
    is a solver's word.
    """

    CERTIFICATE = "certificate"
    EXHAUSTION = "exhaustion"
    SOLVER = "solver"
    NONE = "none"


@dataclass(frozen=True)
class Term:
    """The value of one tier and a true lower bound on it, given the earlier tiers' optimum.

    `bound` is None where an earlier tier is open or nothing is known.
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
class Proof:
    """What the bounds rest on.

    Attributes
    ----------
    kind : the kind of proof
    level, price : (members,) int64, the certificate (docs/proof.md), else None; one that rests
        on a budget has no prices
    scale : how many units of price one unit of each tier that the prices are about is worth
    floor : why no assignment has a lower peak, where the objective ends with one
    """

    kind: ProofKind
    level: Int64 | None = None
    price: Int64 | None = None
    scale: tuple[int, ...] = ()
    floor: Floor | None = None

    def __post_init__(self) -> None:
        """Require integers; arrays are copied, so that those passed in stay the caller's."""
        if type(self.kind) is not ProofKind:
            raise ProofError(f"proof.kind: {self.kind!r} is no ProofKind")
        for name in ("level", "price"):
            column = getattr(self, name)
            if column is None:
                continue
            if type(column) is not np.ndarray or column.dtype != np.int64 or column.ndim != 1:
                raise ProofError(f"{name}: {fields.shown(column)}, expected one column of int64")
            object.__setattr__(self, name, kept(column, np.int64))
        if type(self.scale) is not tuple or any(type(unit) is not int for unit in self.scale):
            raise ProofError(f"scale: {self.scale!r}, expected a tuple of integers")
        if self.floor is not None:
            if type(self.floor) is not Floor:
                raise ProofError(f"floor: {self.floor!r} is no Floor")
            self.floor.__post_init__()

    def levels(self) -> Int64:
        """Return the integer per member of a certificate that rests on a budget.

        Raises
        ------
        ProofError
            Where it is missing.
        """
        if self.level is None:
            raise ProofError("level is missing")
        return self.level

    def columns(self) -> tuple[Int64, Int64]:
        """Return level and price, the two integers per member of a certificate.

        Raises
        ------
        ProofError
            Where one of them is missing.
        """
        if self.level is None or self.price is None:
            raise ProofError("level or price is missing")
        return self.level, self.price

    def to_dict(self, group: Group) -> dict[str, object]:
        """Return the ``proof`` of the ``assay-solution/1`` document."""
        document: dict[str, object] = {"kind": str(self.kind)}
        for key, column in (("level", self.level), ("price", self.price)):
            if column is not None:
                document[key] = dict(zip(group.members, column.tolist(), strict=True))
        if self.scale not in ((), (1,)):
            document["scale"] = list(self.scale)
        if self.floor is not None:
            document["floor"] = self.floor.to_dict(group)
        return document


@dataclass(frozen=True, eq=False)
class Solution:
    """The answer to one group: what `method` found, what is known of it and why it stopped.

    `at_most` holds the budgets that it keeps to: it is judged among the assignments that do.
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
        """Require that every part is what it should be; whether it is true is for the checker."""
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
    def from_dict(group: Group, document: object) -> Solution:
        """Read an ``assay-solution/1`` document as an answer to `group`.

        Raises
        ------
        BadInput
            Where a rule of the format is broken; the message names the place.
        InvalidAssignment
            Where the assignment names a member that the group does not have.
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
            status=Status(_one_of(Status, top["status"], "status")),
            stopped=Stopped(_one_of(Stopped, top["stopped"], "stopped")),
            method=fields.name(top["method"], "method"),
            seconds=_seconds(top.get("seconds", 0)),
            terms=_terms(top["terms"], objective, empty=given is None),
            assignment=(
                None
                if given is None
                else Assignment.from_dict(group, fields.mapping(given, "assignment"))
            ),
            proof=_proof(group, top["proof"], objective, priced=not at_most),
            at_most=at_most,
        )
        _check_unassigned(solution, top.get("unassigned"))
        return solution


def _one_of(words: type[StrEnum], value: object, place: str) -> str:
    known = [str(word) for word in words]
    if not isinstance(value, str) or value not in known:
        fields.refuse(place, f"{fields.shown(value)}, expected one of {', '.join(known)}")
    return str(value)


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


def _proof(group: Group, value: object, objective: Objective, *, priced: bool) -> Proof:
    keys = {"kind", "level", "price", "scale", "floor"}
    found = fields.mapping(value, "proof", allowed=keys, required=("kind",))
    kind = ProofKind(_one_of(ProofKind, found["kind"], "proof.kind"))
    if kind is not ProofKind.CERTIFICATE:
        return Proof(kind)
    floor = Floor.from_dict(group, found["floor"]) if "floor" in found else None
    if "balance" not in objective:
        return Proof(kind, floor=floor)
    scale = fields.listed(found.get("scale", []), "proof.scale")
    level, price = _per_member(group, found.get("level"), "proof.level"), None
    if priced or "price" in found:
        price = _per_member(group, found.get("price"), "proof.price")
    return Proof(
        kind,
        level=level,
        price=price,
        scale=tuple(fields.integer(v, f"proof.scale[{i}]") for i, v in enumerate(scale)),
        floor=floor,
    )


def _per_member(group: Group, value: object, place: str) -> Int64:
    found = fields.mapping(value, place, allowed=set(group.members), required=group.members)
    least = -GREATEST
    return np.array(
        [fields.integer(found[m], f"{place}.{m}", least=least) for m in group.members], np.int64
    )


def _check_unassigned(solution: Solution, given: object) -> None:
    if given is None or solution.assignment is None:
        return
    expected = solution.assignment.unassigned
    if json.dumps(given, sort_keys=True) != json.dumps(expected, sort_keys=True):
        raise InvalidAssignment(
            f"unassigned: {fields.shown(given)}, but what nobody reads is {fields.shown(expected)}"
        )
