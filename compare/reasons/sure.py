"""Sure: the optimum of a group, as far as it is the same whoever reads what."""

from __future__ import annotations

from typing import TYPE_CHECKING

from compare.judged import judge
from groups.errors import BadInput
from optimal import solve

if TYPE_CHECKING:
    from compare.judged import Judged
    from groups.group import Group
    from groups.tiers import Objective
    from optimal.solution import Solution


def sure_optimum(group: Group, tiers: Objective, *, time_limit: float | None = None) -> Solution:
    """Return the optimum of a group, whoever reads what.

    Where subscriptions are unknown, it is that of the group in which whoever is unknown reads
    every topic in demand. It is returned where it is no better than what can be had for sure: then
    it bounds what is true, and its terms are the true ones.

    Parameters
    ----------
    time_limit : seconds for each solve

    Raises
    ------
    BadInput
        Where the optimum depends on who reads what.
    """
    if group.subscription_known.all():
        return solve(group, tiers, time_limit=time_limit)
    (judged,) = judge([group], tiers, time_limit=time_limit)
    sure = what_is_sure(judged)
    if sure is not None:
        return sure
    asks = f" ({judged.verdict.question})" if judged.verdict.question else ""
    raise BadInput(
        f"{group.name}: what is best depends on who reads what{asks}", remedy="subscriptions"
    )


def what_is_sure(judged: Judged) -> Solution | None:
    """Return of a judged group the solution whose terms hold whoever reads what, if there is one.

    Under a condition it is the one that holds under it.
    """
    if judged.verdict.condition or judged.best is judged.lowest:
        return judged.lowest
    reference, lowest = judged.reference, judged.lowest
    sure = reference is not None and reference is judged.best
    return lowest if sure or judged.verdict.says == "not proved" else None
