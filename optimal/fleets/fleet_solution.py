"""FleetSolution: the answers to the groups of a fleet, as columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from groups.arrays import UNKNOWN, frozen
from groups.assignment import Assignment
from optimal.proof import Proof, ProofKind
from optimal.solution import Solution, Status, Stopped, Term

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    import numpy.typing as npt

    from groups.arrays import Floats, Int32, Int64
    from groups.errors import AssayError
    from groups.fleet import Fleet
    from groups.group import Group
    from groups.tiers import Objective

    Words = npt.NDArray[np.str_]


@dataclass(frozen=True, eq=False)
class FleetSolution:
    """The answers to the groups of a fleet, one by one checked.

    Members and partitions are numbered through the fleet: `fleet.member_start` and
    `fleet.partition_start` say where those of each group begin.

    Attributes
    ----------
    status, stopped, method, proof : (groups,) words: of `Status`, of `Stopped`, what ran, and of
        `ProofKind`
    value, bound : (groups, tiers) int64, -1 where there is none
    owner : (all partitions,) int32, -1 where nobody reads, and in a group without an answer
    loads : (members,) int64, how many partitions each holds
    level, price : (members,) int64, the certificates; 0 where the proof has none
    scale : (groups, tiers that the prices are about) int64, what a unit of each counts
    seconds : (groups,) float64, the share of each group in the common time
    check_seconds : (groups,) float64, of these what the check took; 0 where a group was solved by
        itself
    errors : why a group has no answer, by its index; its status is `unknown`
    separate : the answers to groups that were solved by themselves, by their indices
    """

    fleet: Fleet
    objective: Objective
    status: Words
    stopped: Words
    method: Words
    proof: Words
    value: Int64
    bound: Int64
    owner: Int32
    loads: Int64
    level: Int64
    price: Int64
    scale: Int64
    seconds: Floats
    check_seconds: Floats
    errors: Mapping[int, AssayError]
    separate: Mapping[int, Solution]

    def __len__(self) -> int:
        """Count the groups."""
        return len(self.status)

    def solution(self, index: int, group: Group | None = None) -> Solution:
        """Return the answer to one group by itself.

        Parameters
        ----------
        group : the group, where it is there already

        Raises
        ------
        AssayError
            Where it has no answer: why.
        """
        if index in self.errors:
            raise self.errors[index]
        if index in self.separate:
            return self.separate[index]
        group = self.fleet.alone(index) if group is None else group
        status, assignment = Status(self.status[index]), None
        terms: tuple[Term, ...] = ()
        if status is not Status.UNKNOWN:
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
