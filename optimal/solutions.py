"""Solutions: the answers to the groups of a fleet as columns; one row of them is a Solution."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from groups.arrays import GREATEST, NOBODY, UNKNOWN, frozen
from groups.assignment import Assignment
from groups.errors import InvalidAssignment, ProofError, SolverContradiction
from groups.fleet import Fleet
from groups.framed import Framed
from optimal.audit import audit
from optimal.evidence import Evidence
from optimal.proof import Proof, ProofKind
from optimal.solution import Solution, Status, Stopped, Term

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import numpy.typing as npt

    from groups.arrays import Bools, Floats, Int32, Int64
    from groups.errors import AssayError
    from groups.group import Group
    from groups.tiers import Objective
    from optimal.answer import Answer
    from optimal.budgets.budget import Budgets

    Words = npt.NDArray[np.str_]

WORD = "<U16"
# What a group without an answer has in each column.
OF_GROUPS = {
    "status": str(Status.UNKNOWN),
    "stopped": str(Stopped.TIME_LIMIT),
    "method": "flow",
    "proof": str(ProofKind.NONE),
    "value": UNKNOWN,
    "bound": UNKNOWN,
    "scale": 1,
    "seconds": 0.0,
    "check_seconds": 0.0,
}
OF_MEMBERS = ("level", "price")


@dataclass(frozen=True, eq=False)
class Solutions(Framed, Sequence[Solution]):
    """The answers to the groups of a fleet, each checked; each item is a `Solution`.

    Members and partitions are numbered through the fleet: `fleet.member_start` and
    `fleet.partition_start` say where those of each group begin. An item is built when it is asked
    for; if its group has no answer, this raises the group's error.

    Attributes
    ----------
    assignment : of all groups together; partitions that nobody reads, and all partitions of
        a group without an answer, are with nobody
    status, stopped, method, proof : (groups,) strings: of `Status`, of `Stopped`, the name of
        the method that ran, and of `ProofKind`
    value, bound : (groups, tiers) int64, -1 where there is none
    level, price : (members,) int64, the certificates; 0 where the proof has none
    scale : (groups, tiers that the prices are about) int64, the units of price that one unit of
        each tier is worth
    seconds : (groups,) float64, the share of each group in the common time
    check_seconds : (groups,) float64, the part of `seconds` that the check took; 0 for a group
        that was solved by itself
    errors : why a group has no answer, by its index; its status is `unknown`
    """

    fleet: Fleet
    objective: Objective
    assignment: Assignment
    status: Words
    stopped: Words
    method: Words
    proof: Words
    value: Int64
    bound: Int64
    level: Int64
    price: Int64
    scale: Int64
    seconds: Floats
    check_seconds: Floats
    errors: Mapping[int, AssayError] = field(default_factory=dict)
    _rows: dict[int, Solution] = field(default_factory=dict)

    @property
    def owner(self) -> Int32:
        """(all partitions,) int32: the member that gets each partition, -1 nobody."""
        return self.assignment.owner

    @property
    def loads(self) -> Int64:
        """(members,) int64: how many partitions each member gets."""
        return self.assignment.loads

    def __repr__(self) -> str:
        found = ", ".join(
            f"{n} {word}" for word, n in sorted(Counter(self.status.tolist()).items())
        )
        return f"Solutions({' > '.join(self.objective)}: {found or 'no groups'})"

    def to_rows(self) -> Iterator[dict[str, object]]:
        """Return one row per group.

        The columns are `group`, `status`, `stopped`, `method`, `proof`, `seconds`, for each tier
        its value (under the tier's name) and ``NAME_bound``, None if there is none, and `reason`:
        why there is no answer.
        """
        for at in range(len(self)):
            row: dict[str, object] = {"group": self.fleet.alone(at).name}
            for name in ("status", "stopped", "method", "proof", "seconds"):
                row[name] = getattr(self, name)[at].item()
            for tier, value, bound in zip(
                self.objective, self.value[at].tolist(), self.bound[at].tolist(), strict=True
            ):
                row[tier] = None if value == UNKNOWN else value
                row[f"{tier}_bound"] = None if bound == UNKNOWN else bound
            reason = self.errors.get(at)
            yield {**row, "reason": None if reason is None else str(reason)}

    def __len__(self) -> int:
        """Return the number of groups."""
        return len(self.status)

    @overload
    def __getitem__(self, index: int) -> Solution: ...

    @overload
    def __getitem__(self, index: slice) -> list[Solution]: ...

    def __getitem__(self, index: int | slice) -> Solution | list[Solution]:
        """Return the answer to a group, or to a slice of groups.

        If a group has no answer, this raises the group's error.
        """
        if isinstance(index, slice):
            return [self.solution(at) for at in range(len(self))[index]]
        return self.solution(range(len(self))[index])

    def solution(self, index: int, group: Group | None = None) -> Solution:
        """Return the answer to one group by itself.

        Parameters
        ----------
        group : the group, if the caller has built it already

        Raises
        ------
        AssayError
            The reason why the group has no answer, if it has none.
        """
        if index in self.errors:
            raise self.errors[index]
        if index not in self._rows:
            self._rows[index] = self._build(index, group)
        return self._rows[index]

    def _build(self, index: int, group: Group | None) -> Solution:
        group = self.fleet.alone(index) if group is None else group
        status, assignment = Status(self.status[index]), None
        terms: tuple[Term, ...] = ()
        if status is not Status.UNKNOWN:
            assignment = self.assignment
            if group is not self.fleet.group:
                assignment = Assignment(group, frozen(self.fleet.owner_in(index, self.owner)))
            found = zip(
                self.objective, self.value[index].tolist(), self.bound[index].tolist(), strict=True
            )
            terms = tuple(
                Term(name, value, None if bound == UNKNOWN else bound)
                for name, value, bound in found
            )
        return Solution(
            group=group,
            objective=self.objective,
            status=status,
            stopped=Stopped(self.stopped[index]),
            method=str(self.method[index]),
            seconds=float(self.seconds[index]),
            terms=terms,
            assignment=assignment,
            proof=self._proof(index, self.fleet.members(index)),
        )

    def _proof(self, index: int, members: slice) -> Proof:
        kind = ProofKind(self.proof[index])
        if kind is not ProofKind.CERTIFICATE or "balance" not in self.objective:
            return Proof(kind)
        return Proof(
            kind,
            level=frozen(self.level[members].copy()),
            price=frozen(self.price[members].copy()),
            scale=tuple(self.scale[index].tolist()),
        )


class Columns:
    """A builder of `Solutions`: it starts with every answer unknown.

    Parameters
    ----------
    priced : how many tiers the prices of certificates are about
    """

    def __init__(self, fleet: Fleet, objective: Objective, priced: int) -> None:
        widths = {"value": len(objective), "bound": len(objective), "scale": priced}
        self._fleet, self._objective = fleet, objective
        self._columns: dict[str, npt.NDArray[Any]] = {
            name: np.full(
                (len(fleet), widths[name]) if name in widths else len(fleet),
                value,
                WORD if isinstance(value, str) else type(value),
            )
            for name, value in OF_GROUPS.items()
        }
        for name in OF_MEMBERS:
            self._columns[name] = np.zeros(len(fleet.group.members), np.int64)
        self._owner = np.full(fleet.group.n_partitions, NOBODY, np.int32)
        self._errors: dict[int, AssayError] = {}
        self._rows: dict[int, Solution] = {}

    def put(self, chosen: Bools, part: Solutions) -> None:
        """Put in the answers `part` to the chosen groups, (groups,) bool."""
        starts = self._fleet.member_start, self._fleet.partition_start
        member, partition = (np.repeat(chosen, np.diff(start)) for start in starts)
        for name, column in self._columns.items():
            column[member if name in OF_MEMBERS else chosen] = getattr(part, name)
        self._owner[partition] = np.append(np.flatnonzero(member), NOBODY)[part.owner]
        index = np.flatnonzero(chosen).tolist()
        self.fail({index[at]: error for at, error in part.errors.items()})

    def put_one(self, index: int, solution: Solution) -> None:
        """Put in the answer to one group."""
        columns, found = self._columns, solution.assignment
        for name in ("status", "stopped", "method", "seconds"):
            columns[name][index] = getattr(solution, name)
        columns["proof"][index] = str(solution.proof.kind)
        self._rows[index] = solution
        if found is None:
            return
        for at, term in enumerate(solution.terms):
            for name, number in (("value", term.value), ("bound", term.bound)):
                if number is not None and number > GREATEST:
                    columns[name] = columns[name].astype(object)
                columns[name][index, at] = UNKNOWN if number is None else number
        fleet = self._fleet
        self._owner[fleet.partitions(index)] = fleet.owner_through(index, found.owner)
        for name in OF_MEMBERS:
            column = getattr(solution.proof, name)
            if column is not None:
                columns[name][fleet.members(index)] = column

    def fail(self, errors: Mapping[int, AssayError]) -> None:
        """Record why groups have no answer, by their indices."""
        self._errors |= errors

    def done(self) -> Solutions:
        """Return the solutions; a group that failed has no answer."""
        failed = np.zeros(len(self._fleet), bool)
        failed[list(self._errors)] = True
        if failed.any():
            self._clear(failed)
        return Solutions(
            fleet=self._fleet,
            objective=self._objective,
            assignment=Assignment(self._fleet.group, frozen(self._owner)),
            errors=self._errors,
            _rows=self._rows,
            **{name: frozen(column) for name, column in self._columns.items()},
        )

    def _clear(self, failed: Bools) -> None:
        member, partition = (
            np.repeat(failed, np.diff(start))
            for start in (self._fleet.member_start, self._fleet.partition_start)
        )
        for name, value in OF_GROUPS.items():
            self._columns[name][failed] = value
        for name in OF_MEMBERS:
            self._columns[name][member] = 0
        self._owner[partition] = NOBODY


def with_errors(solutions: Solutions, errors: Mapping[int, AssayError]) -> Solutions:
    """Return the answers, with errors in place of those of some groups, by index."""
    if not errors:
        return solutions
    columns = Columns(solutions.fleet, solutions.objective, solutions.scale.shape[1])
    columns.put(np.ones(len(solutions), bool), solutions)
    columns.fail(errors)
    return columns.done()


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
    at_most : the budgets that the answer keeps to

    Raises
    ------
    SolverContradiction
        If the checker rejects the answer.
    """
    assignment = None if answer.owner is None else Assignment(group, answer.owner)
    evidence = None if assignment is None else Evidence(Fleet.one(group), assignment)
    found = () if evidence is None else tuple(evidence.values(objective)[0].tolist())
    bounds: tuple[int | None, ...] = answer.bounds
    if answer.proof.kind is ProofKind.CERTIFICATE or (
        method == "flow" and answer.stopped is Stopped.PROOF
    ):
        # The audit confirms a certificate for every tier; otherwise the flow solver is trusted.
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
        audit(group, solution, evidence)
    except (InvalidAssignment, ProofError) as error:
        raise SolverContradiction(
            f"{group.name}: {method} contradicts the checker: {error}"
        ) from error
    return solution
