"""Sure: the optimum of a group, as far as it does not depend on unknown subscriptions."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from compare.judged import Judged, judge_as_solved, judge_by_optimum, with_least_lag
from compare.verdict import NOT_PROVED
from groups.assignment import Assignment
from groups.errors import BadInput, ProofError
from groups.unknown import reading_least, settled
from optimal import check as check_known
from optimal import solve as solve_known
from optimal.recount import count_again

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

    If subscriptions are unknown, the assignment is valid whatever members read. It is the optimum
    if that does not depend on them; its certificate is then for the group in which members of
    unknown subscription read every topic in demand, as more readers never make the best assignment
    worse. Else it is better than the current assignment, and its bounds say how much better
    another one may be. It does not search equally good assignments for the one with the least
    `peak_lag`, which takes longer; `judge` and the command ``assay solve`` do.

    Parameters
    ----------
    objective : a preset, ``"balance > stickiness"``, or the names of the tiers in order
    method : ``auto`` picks by structure: `flow` if every tier is a flow, else `brute` if all
        assignments can be enumerated at once, else `exchange` if it serves the objective, else
        `cp-sat`; the solution says which one ran. Any other needs all subscriptions
    time_limit : seconds; when they are up, the solution has what is known by then
    assume_equal : take unknown subscriptions as all topics of the group
    at_most : budgets, the greatest values of some tiers: ``{"stickiness": 3}`` allows three moves.
        The solution is the best of the assignments within them. They need all subscriptions

    Raises
    ------
    BadInput
        If the objective is unknown, the group lacks what a tier needs, the method does not serve
        the objective, no assignment is within the budgets, or it depends on unknown subscriptions
        whether anything is better than the current assignment.
    SolverContradiction
        If the checker rejects the method's answer.

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
    """Return the sure solution; raise BadInput if there is none."""
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
    """Return a group with its verdict, and the solution that is sure.

    Of equally good solutions it is the one with the least `peak_lag` that is found. It is None
    where `solve` raises, as the best depends on who reads what.
    """
    group = settled(group)
    if group.subscription_known.all():
        known = solve_known(group, objective, time_limit=time_limit)
        (judged,) = with_least_lag([judge_by_optimum(group, known)])
        return judged, judged.best or known
    (judged,) = with_least_lag(judge_as_solved([group], objective, time_limit=time_limit))
    sure = what_is_sure(judged)
    return judged, judged.reference if sure is None and judged.verdict.sure else sure


def check(group: Group, solution: Solution) -> tuple[str, ...]:
    """Check a solution against its group; return a line for each part that could not be checked.

    Members, topics and partition counts have to be those that the solution is for; the group's id
    may differ, as nothing that is checked depends on it. If subscriptions are unknown, the
    solution has to hold whatever members read. If there is no certificate, all assignments are
    counted again, up to a million.

    Raises
    ------
    BadInput, InvalidAssignment, ProofError
        If the group lacks what a tier needs, the assignment is not valid, a term is not its value,
        or the proof does not hold; the message says where.

    Examples
    --------
    >>> from assay import Group, check, solve
    >>> members = {"c0": {"subscription": ["t0", "t1"]}, "c1": {"subscription": ["t1"]}}
    >>> document = {"format": "assay-group/1", "group": "g", "topics": {"t0": 2, "t1": 3}}
    >>> group = Group.from_dict(document | {"members": members})
    >>> check(group, solve(group))
    ()
    """
    # More readers only allow more assignments, so bounds for that group hold for this one.
    alike = group.with_equal_subscriptions()
    unchecked = check_known(alike, solution)
    if solution.assignment is not None:
        for violation in Assignment(reading_least(group), solution.assignment.owner).violations:
            raise ProofError(f"it depends on who reads what: {violation}", remedy="subscriptions")
    return () if unchecked and count_again(alike, solution) else unchecked


def what_is_sure(judged: Judged) -> Solution | None:
    """Return the optimum that holds whatever members read, or None.

    Its members get only topics that they surely read. If the verdict has a condition, it is the
    optimum under that condition.
    """
    best, lowest = judged.best, judged.lowest
    if judged.verdict.condition or best is lowest:
        return lowest
    if best is None or lowest is None:
        return None
    if judged.reference is best and best.assignment is not None:
        return replace(lowest, assignment=Assignment(lowest.group, best.assignment.owner))
    return lowest if judged.verdict.says == NOT_PROVED else None
