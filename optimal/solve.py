"""Solve one group or many: the entry point, which returns checked solutions."""

from __future__ import annotations

from functools import partial
from importlib import import_module
from time import perf_counter
from typing import TYPE_CHECKING, Literal

import numpy as np

from groups.arrays import any_in_parts
from groups.assignment import Assignment
from groups.errors import AssayError, BadInput, SolverContradiction, require_one_of
from groups.fleet import Fleet
from groups.needs import lacking, require_data
from groups.portions import in_portions
from groups.seconds import seconds_of
from groups.tiers import (
    TIERS,
    in_words,
    incompatible_pair,
    is_flow,
    is_laminar,
    parse_objective,
)
from optimal.audit import proved
from optimal.budgets.budget import parse_budgets
from optimal.certificate import check
from optimal.evidence import Evidence
from optimal.formulations import AUTO_DOES
from optimal.proof import ProofKind
from optimal.solution import Status, Stopped
from optimal.solutions import WORD, Columns, Solutions, confirmed, with_errors
from optimal.time_left import OutOfTime, TimeLeft

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from groups.group import Group
    from groups.tiers import Objective
    from optimal.answer import Answer
    from optimal.budgets.budget import Budgets
    from optimal.solution import Solution

    # A method gets a group, an objective and a `time_limit`, and returns an unchecked answer.
    Method = Callable[..., Answer]

MethodName = Literal["auto", "flow", "exchange", "cp-sat", "ilp", "brute"]
METHODS: tuple[MethodName, ...] = ("auto", "flow", "exchange", "cp-sat", "ilp", "brute")
# If flows leave an answer open: the seconds that a search gets without a time limit, and the most
# candidates (pairs of a partition and a reader) with which it is worth while.
SEARCH_SECONDS, MOST_SEARCHED = 5.0, 20_000
# With more members the cheapest flow leaves the processor's cache and slows down.
MEMBERS_PER_FLOW = 5000


def solve(
    group: Group,
    objective: str | Sequence[str] = "kip-54",
    *,
    method: MethodName = "auto",
    time_limit: float | None = None,
    assume_equal: bool = False,
    at_most: Mapping[str, int] | None = None,
) -> Solution:
    """Return the best assignment of a group for an objective, checked, with its proof.

    Parameters and errors are those of `assay.solve`, which also serves unknown subscriptions.
    """
    budgets = parse_budgets(at_most or {})
    time_limit = seconds_of(time_limit)
    if assume_equal:
        group = group.with_equal_subscriptions()
    tiers = parse_objective(objective)
    require_served(tiers, method)
    return _solve(Fleet.one(group), tiers, method, time_limit, budgets)[0]


def solve_many(
    groups: Sequence[Group],
    objective: str | Sequence[str] = "kip-54",
    *,
    time_limit: float | None = None,
) -> Solutions:
    """Return one solution per group, in order, found as `solve_fleet` finds them.

    Each has the values that `solve` finds for the group, and its own proof and status; `seconds`
    is its share of the common time.

    Raises
    ------
    BadInput
        If the objective is not known, or a group lacks what a tier needs; the message names
        the group.
    SolverContradiction
        If the checker rejects an answer; the message names the group.

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
    fleet = Fleet.of(groups)
    # Missing data is reported before the first solve, which may take long.
    errors: Mapping[int, AssayError] = lacking(fleet, tiers)
    if not errors:
        solved = solve_fleet(fleet, tiers, time_limit=time_limit)
        errors = solved.errors
    if errors:
        index = min(errors)
        error = errors[index]
        raise error.within(groups[index].name) if isinstance(error, BadInput) else error
    return solved


def solve_fleet(
    fleet: Fleet | Sequence[Group],
    objective: str | Sequence[str] = "kip-54",
    *,
    time_limit: float | None = None,
) -> Solutions:
    """Return the best assignment of each group of a fleet, each checked, with its proof.

    Each has the values that `solve` finds for the group. If every tier is a flow, groups with
    some thousand members in all are solved and checked in one call, which gives each group its
    own proof. Otherwise the groups are solved one by one.

    Parameters
    ----------
    time_limit : seconds for each call that solves groups together, otherwise for each group

    Returns
    -------
    A group that cannot be solved, or whose answer the checker rejects, is included with its error.

    Raises
    ------
    BadInput
        If the objective is not known.

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
    whole = fleet if isinstance(fleet, Fleet) else Fleet.of(fleet)
    return _solve(whole, parse_objective(objective), "auto", time_limit, {})


def require_served(objective: Objective, method: str) -> None:
    """Raise BadInput if a method does not exist or does not serve the objective."""
    require_one_of("method", method, METHODS)
    other = next((tier for tier in objective if not TIERS[tier].is_flow), None)
    if method == "flow" and other is not None:
        raise BadInput(f"method: flow does not serve tier {other}; {AUTO_DOES}")
    pair = incompatible_pair(objective)
    if method == "flow" and pair is not None:
        tiers = in_words(pair)
        raise BadInput(f"method: flow does not serve {tiers} together; {AUTO_DOES}")


def _solve(
    fleet: Fleet,
    objective: Objective,
    method: MethodName,
    time_limit: float | None,
    at_most: Budgets,
) -> Solutions:
    """Solve a fleet: together if the flow method serves every tier, otherwise group by group."""
    TimeLeft.of(time_limit)  # raises if it is no time, even if the method ignores it
    flows = method == "flow" or (method == "auto" and is_flow(objective))
    if at_most or is_laminar(objective) or not flows:
        found = Columns(fleet, objective, 0)
        for at in range(len(fleet)):
            try:
                group = fleet.alone(at)
                found.put_one(at, _solve_one(group, objective, method, time_limit, at_most))
            except AssayError as error:
                found.fail({at: error})
        return found.done()
    errors = lacking(fleet, objective)
    sizes = np.diff(fleet.member_start).tolist()
    numbers = [at for at in range(len(fleet)) if at not in errors]
    portions = [*in_portions(numbers, sizes.__getitem__, most=MEMBERS_PER_FLOW)]
    if len(portions) == 1 and not errors:
        return _solve_by_flow(fleet, objective, method, time_limit)
    return _solve_in_portions(fleet, objective, method, time_limit, portions, errors)


def _solve_one(
    group: Group,
    objective: Objective,
    method: MethodName,
    time_limit: float | None,
    at_most: Budgets,
) -> Solution:
    """Solve one group within budgets, or by a method that takes one group at a time."""
    require_data(group, objective)
    if at_most:
        from optimal.budgets.constrained_problem import ConstrainedProblem
        from optimal.search import load_searches

        load_searches((*objective, *at_most))
        problem = ConstrainedProblem(group, objective, at_most, TimeLeft.of(time_limit), solve)
        return problem.solved(method)
    chosen = _method_for(group, objective) if method == "auto" else method
    run = _load(chosen, group, objective, auto=method == "auto")
    start = perf_counter()
    answer = run(group, objective, time_limit=time_limit)
    solution = confirmed(group, objective, answer, chosen, perf_counter() - start)
    if method != "auto" or chosen != "flow" or solution.status is not Status.FEASIBLE:
        return solution
    return _improve_by_search(solution, time_limit)


def _improve_by_search(known: Solution, time_limit: float | None) -> Solution:
    """Search for more even loads if flows leave open whether there are some."""
    from optimal.search import search_for

    group, objective, start = known.group, known.objective, perf_counter()
    if group.n_candidates > MOST_SEARCHED or known.assignment is None:
        return known
    chosen = search_for(group, objective)
    if chosen is None:
        return known
    limit = SEARCH_SECONDS if time_limit is None else max(0.0, time_limit - known.seconds)
    run = _load(chosen, group, objective, auto=False)
    if chosen == "cp-sat":
        run = partial(run, start=known.assignment.owner)
    answer = run(group, objective, time_limit=limit)
    seconds = known.seconds + perf_counter() - start
    found = confirmed(group, objective, answer, chosen, seconds)
    better = [term.value for term in found.terms] < [term.value for term in known.terms]
    return found if better or found.status is Status.OPTIMAL else known


def _solve_by_flow(
    fleet: Fleet, objective: Objective, method: MethodName, time_limit: float | None
) -> Solutions:
    """Solve groups by one run of the flow method, and check them together.

    Parameters
    ----------
    method : `flow` uses no closed form, `auto` uses one if there is one
    """
    # Solvers are loaded only if they are needed, and before the clock starts.
    from optimal.flow import algorithm
    from optimal.flow.flows import Stages

    if method == "flow" or fleet.group.subscription_row.any():
        import_module("optimal.solvers")
    start, groups, stages = perf_counter(), len(fleet), Stages.of(objective)
    closed_form = method == "auto" and stages.has_closed_form
    try:
        found = algorithm.flows_of(
            fleet.group, objective, TimeLeft.of(time_limit), closed_form=closed_form
        )
    except OutOfTime:
        return Columns(fleet, objective, len(stages.flows)).done()
    except BadInput as error:
        # Costs that leave 64 bits together may not do so group by group.
        each, errors = ([[at] for at in range(groups)], {}) if groups > 1 else ([], {0: error})
        return _solve_in_portions(fleet, objective, method, time_limit, each, errors)
    kinds, certificates = algorithm.certificates_of(fleet, objective, found.level, found.prices)
    solved = perf_counter()
    evidence = Evidence(fleet, Assignment(fleet.group, found.owner))
    value = evidence.values(objective)
    good = evidence.valid.copy()
    certified = kinds == ProofKind.CERTIFICATE
    if certified.any():
        good &= proved(evidence, objective, certificates) | ~certified
    flowing = np.ones(groups, bool)
    if closed_form:
        flowing = any_in_parts(~found.in_closed_form, fleet.member_start)
    ended = perf_counter()
    solutions = Solutions(
        fleet=fleet,
        objective=objective,
        assignment=evidence.assignment,
        status=np.full(groups, str(Status.OPTIMAL), WORD),
        stopped=np.full(groups, str(Stopped.PROOF), WORD),
        method=np.where(flowing, "flow", "closed-form").astype(WORD),
        proof=kinds,
        value=value,
        # The checker confirmed these values; without a certificate, they rest on the flow solver.
        bound=value,
        level=certificates.level,
        price=certificates.price,
        scale=certificates.scale,
        seconds=np.full(groups, (ended - start) / max(groups, 1)),
        check_seconds=np.full(groups, (ended - solved) / max(groups, 1)),
    )
    refused: dict[int, AssayError] = {}
    for index in np.flatnonzero(~good).tolist():
        # The checker decides about an answer that the audit does not confirm.
        answer = solutions.solution(index)
        try:
            check(answer.group, answer)
        except AssayError as error:
            name = answer.group.name
            refused[index] = SolverContradiction(f"{name}: flow contradicts the checker: {error}")
    return with_errors(solutions, refused)


def _solve_in_portions(
    fleet: Fleet,
    objective: Objective,
    method: MethodName,
    time_limit: float | None,
    portions: Sequence[Sequence[int]],
    errors: Mapping[int, AssayError],
) -> Solutions:
    """Solve portions of a fleet by flows, the indices of some groups each, one after the other.

    Parameters
    ----------
    errors : why groups that are in no portion have no answer
    """
    from optimal.flow.flows import Stages

    found = Columns(fleet, objective, len(Stages.of(objective).flows))
    found.fail(errors)
    for index in portions:
        chosen = np.zeros(len(fleet), bool)
        chosen[index] = True
        found.put(chosen, _solve_by_flow(fleet.only(chosen), objective, method, time_limit))
    return found.done()


def _method_for(group: Group, objective: Objective) -> MethodName:
    """Return the method that `auto` chooses."""
    if is_flow(objective):
        return "flow"
    from optimal.search import search_for

    # If no search covers the objective, CP-SAT's error says why.
    search = search_for(group, objective) or "cp-sat"
    if search == "brute":
        return search
    from optimal.loads.exchange import is_worth_it

    return "exchange" if is_worth_it(group, objective, {}) else search


def _load(method: MethodName, group: Group, objective: Objective, *, auto: bool) -> Method:
    """Load a method, and its solver if it needs one: loading takes longer than a small group.

    Parameters
    ----------
    auto : whether the method was chosen by `auto`: then flow uses the closed form if it serves,
        and CP-SAT starts from a good assignment
    """
    if method == "flow":
        from optimal.flow.algorithm import flow
        from optimal.flow.flows import Stages

        closed_form = auto and Stages.of(objective).has_closed_form
        if not closed_form or group.subscription_row.any():
            import_module("optimal.solvers")
        return partial(flow, closed_form=closed_form)
    if method == "brute":
        from optimal.brute import brute

        return brute
    if method == "ilp":
        from optimal.ilp import ilp, require_pulp

        require_pulp()
        return ilp
    if method == "cp-sat" and not auto:
        from optimal.cpsat import cpsat

        return cpsat
    from optimal.loads.exchange import exchange, hinted

    return hinted if method == "cp-sat" else exchange
