"""Budget: the greatest value that an assignment may have in a tier."""

from __future__ import annotations

from collections.abc import Mapping

from groups.arrays import GREATEST
from groups.documents import fields
from groups.errors import BadInput
from groups.tiers import TIERS

# The greatest value of each tier that has a budget.
Budgets = dict[str, int]
BUDGETED = tuple(TIERS)


def parse_budgets(at_most: object) -> Budgets:
    """Return budgets as they are kept: by tier, whole numbers of 0 or more.

    Raises
    ------
    BadInput
        Where a tier has no budget, or a number is not one; the message names the place.
    """
    if not isinstance(at_most, Mapping):
        raise BadInput(
            f"at_most: {fields.shown(at_most)}, expected a number for each of some tiers"
        )
    for tier, most in at_most.items():
        if tier not in BUDGETED:
            known = ", ".join(BUDGETED)
            raise BadInput(f"at_most: unknown tier {fields.shown(tier)}, expected one of {known}")
        if type(most) is not int or not 0 <= most <= GREATEST:
            raise BadInput(
                f"at_most.{tier}: {fields.shown(most)}, expected a whole number of 0 or more"
            )
    return dict(at_most)


def shown(budgets: Mapping[str, int]) -> str:
    """Return budgets as people read them: ``stickiness at most 3 and racks at most 0``."""
    return " and ".join(f"{tier} at most {most}" for tier, most in budgets.items())
