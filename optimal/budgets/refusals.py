"""Refusals: which budget cannot be kept to, and the least that is possible."""

from __future__ import annotations

from typing import TYPE_CHECKING

from groups.errors import BadInput
from optimal.budgets.budget import shown

if TYPE_CHECKING:
    from collections.abc import Callable

    from optimal.budgets.budget import Budgets

# All owners can keep what they own, so that these tiers can always be 0.
CAN_BE_0 = ("stickiness", "moved_weight")


def require_possible(at_most: Budgets, least: Callable[[str], int | None]) -> None:
    """Raise BadInput where the least value of a tier is above its budget.

    Parameters
    ----------
    least : a bound on a tier, None where nothing is known
    """
    for tier, most in at_most.items():
        if tier not in CAN_BE_0 and (bound := least(tier)) is not None and bound > most:
            raise BadInput(f"at_most.{tier}: {most}, but the least that is possible is {bound}")


def reason(at_most: Budgets, least: Callable[[str, Budgets], int | None]) -> str:
    """Return which budget cannot be kept to beside those before it.

    Parameters
    ----------
    least : a bound on a tier within some budgets, None where nothing is known
    """
    earlier: Budgets = {}
    for tier, most in at_most.items():
        bound = least(tier, dict(earlier)) if earlier else None
        if bound is not None and bound > most:
            return (
                f"at_most.{tier}: {most}, but with {shown(earlier)} the least that is possible "
                f"is {bound}"
            )
        earlier[tier] = most
    return f"at_most: no assignment has {shown(at_most)}"
