"""Solve many: groups in one solve, each with a solution of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from groups.errors import BadInput
from groups.fleet import Fleet
from groups.tiers import parse_objective
from optimal.solve import require_served

if TYPE_CHECKING:
    from collections.abc import Sequence

    from groups.group import Group
    from optimal.solution import Solution


def solve_many(
    groups: Sequence[Group],
    objective: str | Sequence[str] = "kip-54",
    *,
    time_limit: float | None = None,
) -> list[Solution]:
    """Return one solution a group, in order, found in one solve for some thousand members each.

    Each equals the group's own `solve` in value and has its own proof and status; `seconds` is
    the common time divided by the number of groups, `time_limit` that of each common solve.

    Raises
    ------
    BadInput
        Where the objective is not made of flow tiers, or a group lacks what a tier needs; the
        message names the group.
    SolverContradiction
        Where the checker rejects what was found; the message names the group.

    Examples
    --------
    >>> from assay import Group, solve_many
    >>> members = {"c0": {"subscription": ["t"]}, "c1": {"subscription": ["t"]}}
    >>> groups = [
    ...     Group.from_dict(
    ...         {"format": "assay-group/1", "group": "g", "topics": {"t": n}, "members": members}
    ...     )
    ...     for n in (2, 3)
    ... ]
    >>> [solution.terms[0].value for solution in solve_many(groups)]
    [0, 1]
    """
    tiers = parse_objective(objective)
    require_served(tiers, "flow")
    if not groups:
        return []
    from optimal.fleets.solve_fleet import solve_fleet

    fleet = Fleet.of(groups)
    solved = solve_fleet(fleet, tiers, time_limit=time_limit)
    if solved.errors:
        index = min(solved.errors)
        error = solved.errors[index]
        raise error.within(groups[index].name) if isinstance(error, BadInput) else error
    return [solved.solution(index, group) for index, group in enumerate(groups)]
