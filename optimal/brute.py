"""Brute force: looks at every assignment, so that it is the ground truth for small groups."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING

from groups.errors import BadInput
from groups.needs import require_data
from optimal.answer import Answer, NothingWithin, require_costs_within
from optimal.enumeration import MOST_ASSIGNMENTS, best_so_far, count, digits, is_enumerable
from optimal.proof import Proof, ProofKind
from optimal.solution import Stopped

if TYPE_CHECKING:
    from collections.abc import Mapping

    from groups.group import Group
    from groups.tiers import Objective


def brute(
    group: Group,
    objective: Objective,
    *,
    time_limit: float | None = None,
    at_most: Mapping[str, int] | None = None,
) -> Answer:
    """Return the best of all assignments, proved by exhaustion.

    Of several best ones the lexicographically first wins: partitions in order, members of lower
    index first. Every tier is computed from its definition (`optimal.enumeration`).

    Parameters
    ----------
    group : a group with at most `MOST_ASSIGNMENTS` assignments
    objective : tiers in order of precedence
    time_limit : seconds after which the best so far is returned without bounds
    at_most : budgets, the greatest value of some tiers

    Raises
    ------
    NothingWithin
        If no assignment keeps to the budgets.
    BadInput
        If there are too many assignments, a tier lacks its data or may reach 2^62.
    """
    budgets = dict(at_most or {})
    require_data(group, (*objective, *budgets))
    require_costs_within(group, (*objective, *budgets), "brute")
    if not is_enumerable(group):
        shown = count(group) or f"about 10^{math.floor(digits(group))}"
        most = f"more than the {MOST_ASSIGNMENTS} allowed"
        raise BadInput(f"method brute: {shown} assignments, {most}")
    deadline = math.inf if time_limit is None else time.monotonic() + time_limit
    best, found = None, None
    for values, owner in best_so_far(group, objective, budgets):
        best, found = values, owner
        if time.monotonic() > deadline:
            return Answer(found, (None,) * len(objective), Stopped.TIME_LIMIT)
    if best is None:
        raise NothingWithin
    return Answer(found, best, Stopped.PROOF, Proof(ProofKind.EXHAUSTION))
