"""Search: which method looks through assignments where flows and exchanges do not serve."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from optimal.enumeration import ENUMERATED_TIERS, enumerates_at_once

if TYPE_CHECKING:
    from collections.abc import Iterable

    from groups.group import Group


def search_for(group: Group, tiers: Iterable[str]) -> Literal["brute", "cp-sat"]:
    """Return brute force where all assignments fit in one table, else CP-SAT.

    A method that has no formulation of some tier leaves the group to the other one.
    """
    if enumerates_at_once(group) and ENUMERATED_TIERS.covers(tiers):
        return "brute"
    from optimal.cpsat import CONSTRAINT_TIERS

    return "cp-sat" if CONSTRAINT_TIERS.covers(tiers) else "brute"
