"""Sure: the optimum of a group, as far as it is the same whoever reads what."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from compare.judged import judge
from groups.assignment import Assignment
from groups.errors import BadInput
from optimal import solve

if TYPE_CHECKING:
    from compare.judged import Judged
    from groups.group import Group
    from groups.tiers import Objective
    from optimal.solution import Solution


def sure_optimum(group: Group, tiers: Objective, *, time_limit: float | None = None) -> Solution:
    """Return the best of a group that is sure, whoever reads what.

    It is the optimum where that does not depend on who reads what, with a certificate for the
    group in which whoever is unknown reads every topic in demand: more readers never make the best
    assignment worse. Else it is better than what members hold now, with bounds on how much better
    another one may be.

    Parameters
    ----------
    time_limit : seconds for each solve

    Raises
    ------
    BadInput
        Where it depends on who reads what whether anything is better than what members hold.
    """
    if group.subscription_known.all():
        return solve(group, tiers, time_limit=time_limit)
    (judged,) = judge([group], tiers, time_limit=time_limit)
    sure = what_is_sure(judged)
    if sure is None and judged.verdict.sure:
        sure = judged.reference
    if sure is not None:
        return sure
    asks = f" ({judged.verdict.question})" if judged.verdict.question else ""
    raise BadInput(
        f"{group.name}: what is best depends on who reads what{asks}", remedy="subscriptions"
    )


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
    return lowest if judged.verdict.says == "not proved" else None
