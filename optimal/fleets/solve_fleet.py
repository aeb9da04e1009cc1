"""Solve a fleet: one solve and one check for many groups, and to each its own answer."""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np

from groups.columns.parts import some
from groups.errors import AssayError, BadInput, SolverContradiction
from groups.needs import lacking
from groups.portions import in_portions
from groups.tiers import is_flow, parse_objective
from optimal.certificate import check
from optimal.confirmation.books import Books
from optimal.confirmation.fleets import proved_groups, valid_groups, values_of_groups
from optimal.fleets.columns import WORD, Columns
from optimal.fleets.fleet_solution import FleetSolution
from optimal.fleets.scales import scales_of
from optimal.flow.stages import Stages
from optimal.proof import ProofKind
from optimal.solution import Status, Stopped
from optimal.solve import solve
from optimal.time_left import OutOfTime, TimeLeft

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from groups.fleet import Fleet
    from groups.tiers import Objective
    from optimal.fleets.fleet_solution import Words
    from optimal.flow.recipe import Flows

# With more members the cheapest flow leaves the processor's cache and slows down.
MEMBERS_TOGETHER = 5000


def solve_fleet(
    fleet: Fleet,
    objective: str | Sequence[str] = "kip-54",
    *,
    time_limit: float | None = None,
) -> FleetSolution:
    """Return the best assignment of each group of a fleet, one by one checked, with its proof.

    Each equals the group's own `solve` in value. Where every tier is a flow, some thousand
    members are solved side by side, and checked side by side, each group by itself. Otherwise
    the groups are solved one by one.

    Parameters
    ----------
    time_limit : seconds for each common solve; for each group where they are solved one by one

    Returns
    -------
    A group that cannot be solved, or whose answer the checker rejects, is there with its error.

    Raises
    ------
    BadInput
        Where the objective is not known.

    Examples
    --------
    >>> from assay import Fleet, Group, solve_fleet
    >>> members = {"c0": {"subscription": ["t"]}, "c1": {"subscription": ["t"]}}
    >>> groups = [
    ...     Group.from_dict(
    ...         {"format": "assay-group/1", "group": "g", "topics": {"t": n}, "members": members}
    ...     )
    ...     for n in (2, 3)
    ... ]
    >>> solved = solve_fleet(Fleet.of(groups))
    >>> solved.status.tolist(), solved.value.tolist(), solved.loads.tolist()
    (['optimal', 'optimal'], [[0, 0], [1, 0]], [1, 1, 2, 1])
    """
    tiers = parse_objective(objective)
    if not is_flow(tiers):
        found = Columns(fleet, tiers, 0)
        _one_by_one(found, fleet, tiers, range(len(fleet)), time_limit)
        return found.done()
    errors, good = lacking(fleet, tiers), np.ones(len(fleet), bool)
    good[list(errors)] = False
    found = Columns(fleet, tiers, len(Stages.of(tiers).flows))
    found.fail(errors)
    sizes = np.diff(fleet.member_start).tolist()
    numbers = np.flatnonzero(good).tolist()
    for index in in_portions(numbers, sizes.__getitem__, most=MEMBERS_TOGETHER):
        chosen = np.zeros(len(fleet), bool)
        chosen[index] = True
        whole = len(index) == len(fleet)
        part = _together(fleet if whole else fleet.only(chosen), tiers, time_limit)
        if part is None:
            # What is too large together need not be so in each group.
            _one_by_one(found, fleet, tiers, index, time_limit)
        elif whole and not part.errors:
            return part
        else:
            found.put(chosen, part)
    return found.done()


def _one_by_one(
    found: Columns,
    fleet: Fleet,
    objective: Objective,
    index: Iterable[int],
    time_limit: float | None,
) -> None:
    """Solve groups by themselves, by their indices."""
    for at in index:
        try:
            found.put_one(at, solve(fleet.alone(at), objective, time_limit=time_limit))
        except AssayError as error:
            found.fail({at: error})


def _together(
    fleet: Fleet, objective: Objective, time_limit: float | None
) -> FleetSolution | None:
    """Solve groups side by side and check them side by side; None where costs leave 64 bits."""
    # Whoever does not solve a fleet loads no solver for it.
    from optimal.flow.recipe import flows_of

    start, groups = perf_counter(), len(fleet)
    stages = Stages.of(objective)
    try:
        found = flows_of(fleet.group, objective, TimeLeft.of(time_limit))
        kind, scale = scales_of(fleet, objective, stages, found.prices)
    except OutOfTime:
        return Columns(fleet, objective, len(stages.flows)).done()
    except BadInput:
        return None
    level, price = np.zeros((2, len(found.level)), np.int64)
    if kind is ProofKind.CERTIFICATE and "balance" in objective:
        of_member, level = fleet.member_group, found.level
        for at, of_tier in enumerate(found.prices):
            price += scale[of_member, at] * of_tier
    solved = perf_counter()
    books = Books.of(fleet.group, found.owner)
    value = values_of_groups(books, fleet, objective)
    good = valid_groups(books, fleet)
    if kind is ProofKind.CERTIFICATE:
        good &= proved_groups(books, fleet, objective, value, (level, price), scale)
    ended = perf_counter()
    solution = FleetSolution(
        fleet=fleet,
        objective=objective,
        status=np.full(groups, str(Status.OPTIMAL), WORD),
        stopped=np.full(groups, str(Stopped.PROOF), WORD),
        method=_methods(fleet, stages, found),
        proof=np.full(groups, str(kind), WORD),
        value=value,
        # The checker, or the flow's own word, stands for every tier.
        bound=value,
        owner=found.owner,
        loads=books.loads,
        level=level,
        price=price,
        scale=scale,
        seconds=np.full(groups, (ended - start) / max(groups, 1)),
        check_seconds=np.full(groups, (ended - solved) / max(groups, 1)),
        errors={},
        separate={},
    )
    return replace(solution, errors=_rejected(solution, np.flatnonzero(~good).tolist()))


def _methods(fleet: Fleet, stages: Stages, found: Flows) -> Words:
    """(groups,) what ran for each group."""
    flowing = np.ones(len(fleet), bool)
    if stages.has_closed_form:
        flowing = some(~found.in_closed_form, fleet.member_start)
    return np.where(flowing, "flow", "closed-form").astype(WORD)


def _rejected(solution: FleetSolution, suspected: Iterable[int]) -> dict[int, AssayError]:
    """Return why the checker rejects answers that the audit did not confirm, by their groups."""
    errors: dict[int, AssayError] = {}
    for index in suspected:
        answer = solution.solution(index)
        try:
            check(answer.group, answer)
        except AssayError as error:
            name = answer.group.name
            errors[index] = SolverContradiction(f"{name}: flow contradicts the checker: {error}")
    return errors
