"""Sure: the optimum of a group, as far as it is the same whoever reads what."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from compare.judged import Judged, as_solved, judged_by, with_least_lag
from compare.verdict import NOT_PROVED
from groups.assignment import Assignment
from groups.errors import BadInput, ProofError
from groups.unknown import reading_least, settled
from optimal import check as check_known
from optimal import solve as solve_known

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from groups.group import Group
    from optimal.solution import Solution
    from optimal.solve import MethodName


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

    Where subscriptions are unknown, it is one that is sure whoever reads what. It is the optimum
    where that does not depend on who reads what, with a certificate for the group in which
    whoever is unknown reads every topic in demand: more readers never make the best assignment
    worse. Else it is better than what members hold now, with bounds on how much better another
    one may be. Of several that are as good `judge` looks for the one with the least `peak_lag`,
    which takes longer than to solve.

    Parameters
    ----------
    objective : a preset, ``"balance > stickiness"``, or the names of the tiers in order
    method : ``auto`` picks by structure: `flow` where every tier is a flow, else `brute` where
        all assignments can be enumerated at once, else `exchange` where it serves the objective,
        else `cp-sat`; the solution says what ran. Any other needs subscriptions
    time_limit : seconds; when they are up the solution says what is known by then
    assume_equal : take unknown subscriptions as all topics of the group
    at_most : budgets, the greatest value that some tiers may have: ``{"stickiness": 3}``
        allows three moves. The solution is the best among the assignments that keep to them.
        They need subscriptions

    Raises
    ------
    BadInput
        Where the objective is not known, the group lacks what a tier needs, the method does
        not serve the objective, no assignment keeps to the budgets, or it depends on who reads
        what whether anything is better than what members hold.
    SolverContradiction
        Where the checker rejects the answer of the method.

    Examples
    --------
    >>> from assay import Group, solve
    >>> document = {"format": "assay-group/1", "group": "orders", "topics": {"t0": 2, "t1": 3}}
    >>> owned = {"t0": [0, 1], "t1": [0, 1, 2]}
    >>> c0, c1 = {"subscription": ["t0", "t1"], "owned": owned}, {"subscription": ["t1"]}
    >>> group = Group.from_dict(document | {"members": {"c0": c0, "c1": c1}})
    >>> solution = solve(group, "balance > stickiness")
    >>> solution.status, [(term.name, term.value) for term in solution.terms]
    (<Status.OPTIMAL: 'optimal'>, [('balance', 1), ('stickiness', 2)])
    >>> solution.assignment.to_dict()
    {'c0': {'t0': [0, 1], 't1': [0]}, 'c1': {'t1': [1, 2]}}
    >>> solution = solve(group, "balance > stickiness", at_most={"stickiness": 1})
    >>> solution.status, [(term.name, term.value) for term in solution.terms]
    (<Status.OPTIMAL: 'optimal'>, [('balance', 3), ('stickiness', 1)])
    """
    group = group.with_equal_subscriptions() if assume_equal else settled(group)
    if group.subscription_known.all() or at_most or method != "auto":
        return solve_known(group, objective, method=method, time_limit=time_limit, at_most=at_most)
    return required(*judged_and_sure(group, objective, time_limit=time_limit))


def required(judged: Judged, sure: Solution | None) -> Solution:
    """Return the best assignment that is sure; raise BadInput where there is none."""
    if sure is not None:
        return sure
    asks = f" ({judged.verdict.question})" if judged.verdict.question else ""
    raise BadInput(
        f"{judged.group.name}: what is best depends on who reads what{asks}",
        remedy="subscriptions",
    )


def judged_and_sure(
    group: Group, objective: str | Sequence[str], *, time_limit: float | None = None
) -> tuple[Judged, Solution | None]:
    """Return a group with its verdict, and the best assignment of it that is sure.

    Of all that are as good the second is the one with the least `peak_lag` that is found; None
    where `solve` refuses, because all depends on who reads what.
    """
    group = settled(group)
    if group.subscription_known.all():
        known = solve_known(group, objective, time_limit=time_limit)
        (judged,) = with_least_lag([judged_by(group, known)])
        return judged, judged.best or known
    (judged,) = with_least_lag(as_solved([group], objective, time_limit=time_limit))
    sure = what_is_sure(judged)
    return judged, judged.reference if sure is None and judged.verdict.sure else sure


def check(group: Group, solution: Solution) -> tuple[str, ...]:
    """Check a solution against its group; return what could not be checked, a line each.

    Where subscriptions are unknown, it has to hold whoever reads what.

    Raises
    ------
    BadInput, InvalidAssignment, ProofError
        Where a tier needs what the group does not have, the assignment is not valid or a term not
        its value, or the proof does not hold; the message says where.

    Examples
    --------
    >>> from assay import Group, check, solve
    >>> members = {"c0": {"subscription": ["t0", "t1"]}, "c1": {"subscription": ["t1"]}}
    >>> document = {"format": "assay-group/1", "group": "g", "topics": {"t0": 2, "t1": 3}}
    >>> group = Group.from_dict(document | {"members": members})
    >>> check(group, solve(group))
    ()
    """
    # With more readers nothing is harder: what no assignment is below there, none is below here.
    unchecked = check_known(group.with_equal_subscriptions(), solution)
    if solution.assignment is not None:
        for violation in Assignment(reading_least(group), solution.assignment.owner).violations:
            raise ProofError(f"it depends on who reads what: {violation}", remedy="subscriptions")
    return unchecked


def what_is_sure(judged: Judged) -> Solution | None:
    """Return of a judged group the optimum that holds whoever reads what, if there is one.

    No member gets a topic that it may not read. Under a condition it is the optimum under it.
    """
    best, lowest = judged.best, judged.lowest
    if judged.verdict.condition or best is lowest:
        return lowest
    if best is None or lowest is None:
        return None
    if judged.reference is best and best.assignment is not None:
        return replace(lowest, assignment=Assignment(lowest.group, best.assignment.owner))
    return lowest if judged.verdict.says == NOT_PROVED else None
