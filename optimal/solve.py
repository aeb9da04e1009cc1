"""The one door: solve a group to a checked solution."""

from __future__ import annotations

from functools import partial
from importlib import import_module
from time import perf_counter
from typing import TYPE_CHECKING, Literal, Protocol

from groups.errors import BadInput
from groups.needs import require_data
from groups.seconds import seconds_of
from groups.tiers import TIERS, is_flow, parse_objective
from optimal.budgets.budget import parse_budgets
from optimal.confirmation.confirmation import confirmed
from optimal.time_left import TimeLeft

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from groups.group import Group
    from groups.tiers import Objective
    from optimal.answer import Answer
    from optimal.solution import Solution

MethodName = Literal["auto", "flow", "exchange", "cp-sat", "ilp", "brute"]
METHODS: tuple[MethodName, ...] = ("auto", "flow", "exchange", "cp-sat", "ilp", "brute")


class Method(Protocol):
    """A method: from a group to what it says it found."""

    def __call__(
        self, group: Group, objective: Objective, /, *, time_limit: float | None
    ) -> Answer:
        """Return the answer that the method finds within so many seconds."""


def solve(
    group: Group,
    objective: str | Sequence[str] = "kip-54",
    *,
    method: MethodName = "auto",
    time_limit: float | None = None,
    assume_subscriptions: Literal["equal"] | None = None,
    at_most: Mapping[str, int] | None = None,
) -> Solution:
    """Return the best assignment of a group for an objective, checked, with its proof.

    Parameters
    ----------
    objective : a preset, ``"balance > stickiness"``, or the names of the tiers in order
    method : ``auto`` picks by structure: `flow` where every tier is a flow, else `brute` where
        all assignments can be enumerated at once, else `exchange` where it serves the objective,
        else `cp-sat`; the solution says what ran
    time_limit : seconds; when they are up the solution says what is known by then
    assume_subscriptions : ``"equal"`` takes unknown subscriptions as all topics of the group
    at_most : budgets, the greatest value that some tiers may have: ``{"stickiness": 3}``
        allows three moves. The solution is the best among the assignments that keep to them.

    Raises
    ------
    BadInput
        Where the objective is not known, the group lacks what a tier needs, the method does
        not serve the objective, or no assignment keeps to the budgets.
    SolverContradiction
        Where the checker rejects the answer of the method.

    Examples
    --------
    >>> from assay import Group, solve
    >>> group = Group.from_dict(
    ...     {
    ...         "format": "assay-group/1",
    ...         "group": "orders",
    ...         "topics": {"t0": 2, "t1": 3},
    ...         "members": {
    ...             "c0": {"subscription": ["t0", "t1"], "owned": {"t0": [0, 1], "t1": [0, 1, 2]}},
    ...             "c1": {"subscription": ["t1"]},
    ...         },
    ...     }
    ... )
    >>> solution = solve(group, "balance > stickiness")
    >>> solution.status, [(term.name, term.value) for term in solution.terms]
    (<Status.OPTIMAL: 'optimal'>, [('balance', 1), ('stickiness', 2)])
    >>> solution.assignment.to_dict()
    {'c0': {'t0': [0, 1], 't1': [0]}, 'c1': {'t1': [1, 2]}}
    >>> solution = solve(group, "balance > stickiness", at_most={"stickiness": 1})
    >>> solution.status, [(term.name, term.value) for term in solution.terms]
    (<Status.OPTIMAL: 'optimal'>, [('balance', 3), ('stickiness', 1)])
    """
    tiers = parse_objective(objective)
    budgets = parse_budgets(at_most or {})
    time_limit = seconds_of(time_limit)
    if assume_subscriptions == "equal":
        group = group.with_equal_subscriptions()
    require_data(group, tiers)
    require_served(tiers, method)
    if budgets:
        from optimal.budgets.within import Within

        if not is_flow((*tiers, *budgets)):
            # Loaded before the clock starts: it takes seconds on a busy machine.
            import_module("optimal.moves.recipe")
        return Within(group, tiers, budgets, TimeLeft.of(time_limit), solve).solved(method)
    chosen = _picked(group, tiers) if method == "auto" else method
    run = _loaded(chosen, group, closed_form=method == "auto")
    if method == "auto" and chosen == "cp-sat":
        from optimal.moves.hinted import hinted

        run = hinted
    start = perf_counter()
    answer = run(group, tiers, time_limit=time_limit)
    return confirmed(group, tiers, answer, chosen, perf_counter() - start)


def require_served(objective: Objective, method: str) -> None:
    """Raise BadInput where there is no such method, or it does not serve the objective."""
    if method not in METHODS:
        raise BadInput(f"method: {method!r}, expected one of {', '.join(METHODS)}")
    other = next((tier for tier in objective if not TIERS[tier].is_flow), None)
    if method == "flow" and other is not None:
        raise BadInput(f"method: flow does not serve tier {other}; use cp-sat, ilp or brute")


def _picked(group: Group, objective: Objective) -> MethodName:
    """Return the method that `auto` stands for."""
    if is_flow(objective):
        return "flow"
    from optimal.enumeration import enumerates_at_once

    if enumerates_at_once(group):
        return "brute"
    from optimal.moves.recipe import is_worth_it

    return "exchange" if is_worth_it(group, objective, {}) else "cp-sat"


def _loaded(method: MethodName, group: Group, *, closed_form: bool) -> Method:
    """Load a method and its solver, which takes longer than a small group does.

    Parameters
    ----------
    closed_form : whether `flow` may use the closed form
    """
    if method == "flow":
        from optimal.flow.recipe import flow

        if not closed_form or group.subscription_row.any():
            import_module("optimal.networks.solvers")
        return partial(flow, closed_form=closed_form)
    if method == "exchange":
        from optimal.moves.recipe import exchanged

        return exchanged
    if method == "brute":
        from optimal.brute import brute

        return brute
    if method == "ilp":
        from optimal.ilp import ilp, require_pulp

        require_pulp()
        return ilp
    from optimal.cpsat import cpsat

    return cpsat
