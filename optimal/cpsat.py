"""CP-SAT: every tier as a constraint program, one after the other or within limits."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from ortools.sat.python import cp_model

from groups.arrays import NOBODY
from groups.errors import SolverContradiction
from groups.needs import require_data
from groups.tiers import TIERS, is_flow
from optimal.answer import Answer, NothingWithin
from optimal.limits import require_costs_within
from optimal.programs.constraint import LOAD_SQUARES, ConstraintProgram
from optimal.proof import Proof, ProofKind
from optimal.solution import Stopped

if TYPE_CHECKING:
    from collections.abc import Mapping

    from groups.arrays import Int32
    from groups.group import Group
    from groups.tiers import Objective
    from optimal.programs.constraint import Cost

# The presolve of OR-tools 9.15 adds coefficients up in 32 bits and proves wrong optima beyond
# (google/or-tools issue 5293).
PRESOLVED = 2**30


def cpsat(
    group: Group,
    objective: Objective,
    *,
    time_limit: float | None,
    workers: int = 1,
    at_most: Mapping[str, int] | None = None,
    start: Int32 | None = None,
) -> Answer:
    """Find the best assignment by constraint programming, tier by tier.

    Each tier is minimised with the optima of the earlier ones as constraints.
    That no assignment is left is not believed of the solver, since the one found last is: it is
    asked again without its presolve, and if it insists the tier has no bound.

    Parameters
    ----------
    group : the group
    objective : tiers in order of precedence
    time_limit : seconds for all tiers together, None for as long as it takes
    workers : threads of the solver; one, the default, makes the search repeatable
    at_most : budgets, the greatest value of some tiers
    start : (all partitions,) int32, an assignment within the budgets to start the search from

    Raises
    ------
    NothingWithin
        Where the solver says that no assignment keeps to the budgets.
    BadInput
        Where a tier lacks its data or a cost leaves the integers that the solver tells apart.
    """
    budgets = dict(at_most or {})
    tiers = tuple(dict.fromkeys((*objective, *budgets)))
    require_data(group, tiers)
    require_costs_within(group, tiers, "cp-sat")
    deadline = math.inf if time_limit is None else time.monotonic() + time_limit
    solver = _solver(group, tiers, workers)
    program = ConstraintProgram.of(group, tiers)
    for tier, most in budgets.items():
        program.model.add(program.cost(tier) <= min(most, TIERS[tier].greatest(group)))
    if start is not None:
        program.hint(start)
    found = start
    bounds: list[int] = []
    stopped = Stopped.PROOF
    for place, tier in enumerate(objective):
        squared = tier == "balance" and not budgets and keeps_squares(objective[:place])
        form = LOAD_SQUARES if squared else tier
        cost = program.cost(form)
        status = _minimise(solver, program, cost, deadline)
        if status in (cp_model.OPTIMAL, cp_model.FEASIBLE):
            found = program.answer(solver.value)
            least = _bound(solver, cost, status)
            bounds.append(_pairwise_bound(group, found, least) if form != tier else least)
            program.model.add(cost <= least)
            program.hint(found)
        if status == cp_model.INFEASIBLE:
            if budgets and found is None:
                raise NothingWithin
            found = program.first_readers() if found is None else found
            stopped = Stopped.TIME_LIMIT
        elif status != cp_model.OPTIMAL:
            stopped = Stopped.TIME_LIMIT
        if stopped is not Stopped.PROOF:
            unknown = [None] * (len(objective) - len(bounds))
            return Answer(found, (*bounds, *unknown), stopped)
    return Answer(found, tuple(bounds), Stopped.PROOF, Proof(ProofKind.SOLVER))


@dataclass(frozen=True, eq=False)
class Least:
    """What is known of the least value of a tier within limits.

    Attributes
    ----------
    owner : (all partitions,) int32, an assignment within the limits, None where none was found
    bound : no assignment within the limits has less; above the tier's greatest value where it is
        proved that there is none
    """

    owner: Int32 | None
    bound: int


def least_within(
    group: Group,
    tier: str,
    limits: Mapping[str, tuple[int, int]],
    *,
    start: Int32,
    seconds: float | None,
) -> Least:
    """Find the least of a tier among the assignments whose values stay within limits.

    Parameters
    ----------
    limits : least and greatest value of each tier that counts; the least ones must follow from
        the greatest ones, they only help to prove
    start : (all partitions,) int32, an assignment to start the search from
    seconds : time limit, None for as long as it takes

    Raises
    ------
    BadInput
        Where a cost leaves the integers that the solver tells apart.
    """
    tiers = tuple(limits)
    require_costs_within(group, tiers, "cp-sat")
    program = ConstraintProgram.of(group, tiers)
    costs = {name: program.cost(name) for name in tiers}
    for name in tiers:
        program.model.add_linear_constraint(costs[name], *limits[name])
    program.model.minimize(costs[tier])
    program.hint(start)
    solver = _solver(group, tiers, workers=1)
    if seconds is not None:
        solver.parameters.max_time_in_seconds = seconds
    status = _solve(solver, program)
    low, high = limits[tier]
    if status == cp_model.INFEASIBLE:
        return Least(None, high + 1)
    if status == cp_model.UNKNOWN:
        return Least(None, low)
    return Least(program.answer(solver.value), max(_bound(solver, costs[tier], status), low))


def _solver(group: Group, tiers: Objective, workers: int) -> cp_model.CpSolver:
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = workers
    greatest = max(TIERS[tier].greatest(group) for tier in tiers)
    solver.parameters.cp_model_presolve = greatest < PRESOLVED
    return solver


def _minimise(
    solver: cp_model.CpSolver, program: ConstraintProgram, cost: Cost, deadline: float
) -> cp_model.CpSolverStatus:
    """Find the least cost; without presolve, where that finds no assignment."""
    program.model.minimize(cost)
    while True:
        left = deadline - time.monotonic()
        if left <= 0:
            return cp_model.UNKNOWN
        if left < math.inf:
            solver.parameters.max_time_in_seconds = left
        status = _solve(solver, program)
        if status != cp_model.INFEASIBLE or not solver.parameters.cp_model_presolve:
            return status
        solver.parameters.cp_model_presolve = False


def _solve(solver: cp_model.CpSolver, program: ConstraintProgram) -> cp_model.CpSolverStatus:
    status = solver.solve(program.model)
    if status == cp_model.MODEL_INVALID:
        raise SolverContradiction(f"method cp-sat: {status.name} of {program.group!r}")
    return status


def _bound(solver: cp_model.CpSolver, cost: Cost, status: cp_model.CpSolverStatus) -> int:
    """Return the bound of the solver in integers; `best_objective_bound` is a float."""
    if status == cp_model.OPTIMAL:
        return int(solver.value(cost))
    return int(solver.response_proto.inner_objective_lower_bound)


def keeps_squares(earlier: Objective) -> bool:
    """Return whether the tiers before `balance` leave it a least majorised load vector.

    Flow tiers do: the loads of their minimisers are M-convex (docs/explanation/method.md), so that
    the sum of squares has the same minimisers as KIP-54's score. Under a lag tier they need
    not be.
    """
    return is_flow(earlier)


def _pairwise_bound(group: Group, owner: Int32, squares: int) -> int:
    """Turn a lower bound on the sum of squared loads into one on KIP-54's score.

    The optimum is majorised by every assignment found, so its loads differ by at most what those
    of `owner` do, the range; and the squared differences of all pairs are members times squares
    less the squared total.
    """
    held = owner[owner != NOBODY]
    loads: list[int] = np.bincount(held, minlength=len(group.members)).tolist()
    if squares == sum(x * x for x in loads):
        return sum(abs(x - y) for x, y in combinations(loads, 2))
    members, total = len(loads), sum(loads)
    most_even = (total % members) * (members - total % members)
    widest = max(1, max(loads) - min(loads))
    return max(most_even, -((total * total - members * squares) // widest))
