"""Budget: the greatest value that an assignment may have in a tier."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from groups.arguments import require_whole
from groups.documents import fields
from groups.errors import BadInput
from groups.tiers import TIERS, called, in_words, tier_named

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

# By the names of tiers: the greatest value allowed in each.
Budgets = dict[str, int]
# These tiers can always be 0: all owners keep what they own.
CAN_BE_0 = ("stickiness", "moved_weight")


def parse_budgets(at_most: object) -> Budgets:
    """Return budgets by tier name, checked: whole numbers of 0 or more; `moves` is `stickiness`.

    Raises
    ------
    BadInput
        If a tier has no budget, or a number is not one; the message names the place.
    """
    if not isinstance(at_most, Mapping):
        raise BadInput(
            f"at_most: {fields.shown(at_most)}, expected a number for each of some tiers"
        )
    budgets: Budgets = {}
    for name, most in at_most.items():
        tier = tier_named(name)
        if tier not in TIERS:
            known = ", ".join(map(called, TIERS))
            raise BadInput(f"at_most: unknown tier {fields.shown(tier)}, expected one of {known}")
        if tier in budgets:
            raise BadInput(f"at_most: {called(tier)} is given twice")
        budgets[tier] = require_whole(f"at_most.{name}", most)
    return budgets


def shown(budgets: Mapping[str, int]) -> str:
    """Return budgets in words: ``moves at most 3 and racks at most 0``."""
    return " and ".join(f"{called(tier)} at most {most}" for tier, most in budgets.items())


def question(objective: Sequence[str], at_most: Mapping[str, int]) -> str:
    """Return objective and budgets in words: ``balance > racks with moves at most 3``."""
    return in_words(objective) + (f" with {shown(at_most)}" if at_most else "")


def require_possible(at_most: Budgets, least: Callable[[str], int | None]) -> None:
    """Raise BadInput if the least value of a tier is above its budget.

    Parameters
    ----------
    least : returns a lower bound on a tier, None if nothing is known
    """
    for tier, most in at_most.items():
        if tier not in CAN_BE_0 and (bound := least(tier)) is not None and bound > most:
            raise BadInput(
                f"at_most.{called(tier)}: {most}, but the least that is possible is {bound}"
            )


def reason(at_most: Budgets, least: Callable[[str, Budgets], int | None]) -> str:
    """Return the message that says which budget cannot be kept together with those before it.

    Parameters
    ----------
    least : returns a lower bound on a tier within some budgets, None if nothing is known
    """
    earlier: Budgets = {}
    for tier, most in at_most.items():
        bound = least(tier, dict(earlier)) if earlier else None
        if bound is not None and bound > most:
            return (
                f"at_most.{called(tier)}: {most}, but with {shown(earlier)} the least that is "
                f"possible is {bound}"
            )
        earlier[tier] = most
    return f"at_most: no assignment has {shown(at_most)}"
