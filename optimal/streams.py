"""Streams: the best active tasks of a Kafka Streams group, and the best standbys beside them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from groups.assignment import Assignment
from groups.documents.assay_streams import Tasks
from groups.errors import BadInput, ProofError, SolverContradiction
from optimal.asks import require_standbys
from optimal.certificate import check
from optimal.proof import Proof, ProofKind
from optimal.solution import Standbys, Status, Term
from optimal.solve import solve
from optimal.standbys import standby_bounds, standbys_beside

# With more pairs of a task and a member, building the constraint program alone takes seconds.
MOST_TOGETHER = 20_000

if TYPE_CHECKING:
    from collections.abc import Sequence

    from groups.arrays import Int64
    from groups.group import Group
    from optimal.solution import Solution


@dataclass(frozen=True, eq=False)
class StreamsSolution:
    """The answer to a Kafka Streams group: active tasks first, then standbys beside these.

    Attributes
    ----------
    actives : the answer for the active tasks, a partition each, with its own status and proof
    standbys : the best standbys beside these active tasks, always with a certificate; None if no
        active tasks were found in time. Other active tasks that are as good may leave room for
        better standbys
    bounds : for each term of the standbys a lower bound beside any active tasks that are as good,
        None if it is unknown; None if the active tasks are not proved to be optimal
    bounds_by : "argument" if docs/explanation/proof.md proves the bounds, "solver" if a solver
        claims them
    """

    actives: Solution
    standbys: Standbys | None
    bounds: tuple[int | None, ...] | None = None
    bounds_by: str = "argument"

    @property
    def together(self) -> tuple[Term, ...] | None:
        """The terms of the standbys, with lower bounds beside any active tasks that are as good.

        None if the active tasks are not proved to be optimal.
        """
        if self.standbys is None or self.bounds is None:
            return None
        found, open_ = list[Term](), False
        for term, bound in zip(self.standbys.terms, self.bounds, strict=True):
            # If a term is above its bound, later terms may be lower beside other active tasks.
            found.append(Term(term.name, term.value, None if open_ else bound))
            open_ = open_ or term.value != bound
        return tuple(found)

    @property
    def optimal_together(self) -> bool:
        """Whether it is proved that no active tasks as good leave room for better standbys."""
        together = self.together
        return together is not None and all(term.value == term.bound for term in together)

    def check(self) -> tuple[str, ...]:
        """Check active tasks and standbys; return what could not be checked, a line each.

        Raises
        ------
        InvalidAssignment, ProofError
            If tasks are where they may not be, a term is not its value, a proof does not hold,
            or standbys are beside other active tasks than those of the answer.
        """
        group, found, standbys = self.actives.group, self.actives.assignment, self.standbys
        unchecked = check(group, self.actives)
        if found is None:
            return unchecked
        if standbys is None:
            return (*unchecked, "standbys: there are none to check")
        beside = standbys.actives
        if beside.group is not found.group or beside.owner.tolist() != found.owner.tolist():
            raise ProofError("standbys: beside other active tasks than those of the answer")
        require_standbys(standbys)
        return unchecked

    @property
    def tasks(self) -> dict[str, Tasks]:
        """The active and standby tasks of each member, by its name."""
        group, standbys, found = self.actives.group, self.standbys, self.actives.assignment
        if standbys is None or found is None:
            return {}

        def of(member: int, partitions: Int64) -> dict[str, list[int]]:
            held: dict[str, list[int]] = {}
            for p in partitions.tolist():
                held.setdefault(group.topics[group.topic[p]], []).append(int(group.number[p]))
            return held

        return {
            name: Tasks(
                active=of(m, (found.owner == m).nonzero()[0]),
                standby=of(m, standbys.task[standbys.member == m]),
            )
            for m, name in enumerate(group.members)
        }


def solve_streams(
    group: Group,
    objective: str | Sequence[str] = "kip-1071",
    *,
    standby_replicas: int | None = None,
    time_limit: float | None = None,
    together_seconds: float = 1.0,
) -> StreamsSolution:
    """Return the best active tasks of a Kafka Streams group, and the best standbys beside them.

    Parameters
    ----------
    group : a group that was read from an ``assay-streams/1`` document
    objective : tiers for the active tasks
    standby_replicas : ``num.standby.replicas``; None: what the document says
    time_limit : seconds for the active tasks; standbys take three flows more
    together_seconds : if the bounds alone do not prove it, seconds for CP-SAT to prove that no
        active tasks as good leave room for better standbys, or to find such tasks, in groups of
        at most `MOST_TOGETHER` pairs of a task and a member; 0: none

    Raises
    ------
    BadInput
        If the group is no streams group, or it is not known which tasks keep state or how many
        standbys they have.
    SolverContradiction
        If a checker rejects the answer.

    Examples
    --------
    >>> from assay import Group, solve_streams
    >>> document = {
    ...     "format": "assay-streams/1",
    ...     "group": "app",
    ...     "standby_replicas": 1,
    ...     "subtopologies": {"0": {"tasks": 2, "stateful": True}},
    ...     "members": {
    ...         "a": {"process": "A", "tasks": {"active": {"0": [0, 1]}}},
    ...         "b": {"process": "B", "tasks": {"standby": {"0": [1]}}},
    ...     },
    ... }
    >>> found = solve_streams(Group.from_dict(document))
    >>> [(term.name, term.value) for term in found.standbys.terms]
    [('load_squares', 8), ('host_balance', 8), ('restores', 1)]
    >>> found.tasks["b"].active, found.tasks["b"].standby
    ({'0': [1]}, {'0': [0]})
    """
    if group.streams is None:
        raise BadInput(f"{group.name}: a consumer group, expected a Kafka Streams group")
    replicas = group.streams.standby_replicas if standby_replicas is None else standby_replicas
    if type(replicas) is not int or replicas < 0:
        shown = "unknown" if replicas is None else repr(replicas)
        raise BadInput(f"standby_replicas: {shown}, expected how many standbys a task has")
    actives = solve(group, objective, time_limit=time_limit)
    if actives.assignment is None:
        return StreamsSolution(actives, None)
    found = _with_standbys(actives, replicas)
    if actives.status != Status.OPTIMAL:
        return found
    argued = standby_bounds(actives, replicas)
    found = replace(found, bounds=argued)
    pairs = group.n_partitions * len(group.members)
    if found.optimal_together or not together_seconds or pairs > MOST_TOGETHER:
        return found
    from optimal.cpsat import standbys_together

    each = min(replicas, len(group.places("host").names) - 1)
    owner, bounds = standbys_together(actives, each, seconds=together_seconds)
    if bounds[0] is None:
        return found
    bounds = joined(argued, bounds)
    other = _with_standbys(_with_other_actives(actives, Assignment(group, owner)), replicas)
    best = min(found, other, key=_values)
    return replace(best, bounds=bounds, bounds_by="argument" if bounds == argued else "solver")


def joined(argued: Sequence[int | None], solved: Sequence[int | None]) -> tuple[int | None, ...]:
    """Return the greater of two lower bounds on each term.

    A bound assumes that all terms before it are at the bounds of the same sequence. From the term
    on at which the other sequence has a greater bound, it says nothing.

    Examples
    --------
    >>> joined((7, 4, 0), (6, None, None)), joined((7, 4, 0), (8, 3, None))
    ((7, 4, 0), (8, 3, None))
    """
    bounds, sides = list[int | None](), [argued, solved]
    for at in range(len(argued)):
        bounds.append(
            max((known for side in sides if (known := side[at]) is not None), default=None)
        )
        sides = [side for side in sides if side[at] is not None and side[at] == bounds[-1]]
    return tuple(bounds)


def _with_other_actives(actives: Solution, other: Assignment) -> Solution:
    """Return the answer with other active tasks that have the same terms.

    The certificate of `balance` alone is that of `balance > stickiness`, which does not hold for
    active tasks that move more: then the proof is the solver's claim.
    """
    found = replace(actives, assignment=other)
    try:
        check(actives.group, found)
    except ProofError:
        return replace(found, proof=Proof(ProofKind.SOLVER))
    return found


def _values(solution: StreamsSolution) -> list[int]:
    return [term.value for term in solution.standbys.terms] if solution.standbys else []


def _with_standbys(actives: Solution, replicas: int) -> StreamsSolution:
    """Return the best standbys beside active tasks, both checked."""
    assert actives.assignment is not None
    found = StreamsSolution(actives, standbys_beside(actives.assignment, replicas))
    try:
        found.check()
    except ProofError as error:
        message = f"{actives.group.name}: standbys contradict the checker: {error}"
        raise SolverContradiction(message) from None
    return found
