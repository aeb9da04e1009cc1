"""Search: which method to use if neither flows nor exchanges serve an objective."""

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
    """Load the modules that tiers other than flows need, before a time limit starts.

    Loading takes seconds on a busy machine.
    """
    if not is_flow(tuple(tiers)):
        import_module("optimal.loads.exchange")


def search_for(group: Group, tiers: Sequence[str]) -> Literal["brute", "cp-sat"] | None:
    """Return brute force if all assignments fit in one table, otherwise CP-SAT.

    If one of them lacks a tier or the group is too large for it, it is the other one; None if
    neither serves.
    """
    if enumerates_at_once(group) and ENUMERATED_TIERS.covers(tiers):
        return "brute"
    from optimal.cpsat import CONSTRAINT_TIERS

    if CONSTRAINT_TIERS.covers(tiers) and too_great(group, tiers, "cp-sat") is None:
        return "cp-sat"
    covered = ENUMERATED_TIERS.covers(tiers) and too_great(group, tiers, "brute") is None
    return "brute" if covered and is_enumerable(group) else None
