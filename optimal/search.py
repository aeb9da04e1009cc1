"""Search: which method looks through assignments where flows and exchanges do not serve."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Literal

from groups.tiers import is_flow
from optimal.answer import too_great
from optimal.enumeration import ENUMERATED_TIERS, enumerates_at_once, is_enumerable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from groups.group import Group


def load_searches(tiers: Sequence[str]) -> None:
    """Load what searches for tiers that are no flows, which takes seconds on a busy machine.

    Who has a time limit loads it before the clock starts.
    """
    if not is_flow(tuple(tiers)):
        import_module("optimal.loads.exchange")


def search_for(group: Group, tiers: Sequence[str]) -> Literal["brute", "cp-sat"] | None:
    """Return brute force where all assignments fit in one table, else CP-SAT.

    A method that has no formulation of some tier, or of which the group asks too much, leaves it
    to the other one; None if both do.
    """
    if enumerates_at_once(group) and ENUMERATED_TIERS.covers(tiers):
        return "brute"
    from optimal.cpsat import CONSTRAINT_TIERS

    if CONSTRAINT_TIERS.covers(tiers) and too_great(group, tiers, "cp-sat") is None:
        return "cp-sat"
    covered = ENUMERATED_TIERS.covers(tiers) and too_great(group, tiers, "brute") is None
    return "brute" if covered and is_enumerable(group) else None
