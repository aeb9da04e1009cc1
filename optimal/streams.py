"""Streams: the best active tasks of a Kafka Streams group, and the best standbys beside them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from groups.documents.assay_streams import Tasks
from groups.errors import BadInput, ProofError, SolverContradiction
from optimal.certificate import check
from optimal.solve import solve
from optimal.standby_check import require_standbys
from optimal.standbys import Standbys, standbys_beside

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
    standbys : the best beside these actives, always with a certificate; None where no actives were
        found in time. Other actives that are as good may leave room for better standbys
    """

    actives: Solution
    standbys: Standbys | None

    def check(self) -> tuple[str, ...]:
        """Check active tasks and standbys; return what could not be checked, a line each.

        Raises
        ------
        InvalidAssignment, ProofError
            Where tasks are where they may not be, a term is not its value, a proof does not hold,
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
) -> StreamsSolution:
    """Return the best active tasks of a Kafka Streams group, and the best standbys beside them.

    Parameters
    ----------
    group : one that was read from an ``assay-streams/1`` document
    objective : of the active tasks
    standby_replicas : ``num.standby.replicas``; None: what the document says
    time_limit : seconds for the active tasks; standbys are three flows more

    Raises
    ------
    BadInput
        Where the group is no streams group, or it is not known which tasks keep state or how many
        standbys they have.
    SolverContradiction
        Where a checker rejects what was found.

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
    standbys = standbys_beside(actives.assignment, replicas)
    try:
        require_standbys(standbys)
    except ProofError as error:
        said = f"{group.name}: standbys contradict the checker: {error}"
        raise SolverContradiction(said) from None
    return StreamsSolution(actives, standbys)
