"""PRACTICE: the assignors that people run or were promised; one assignor, one file, one function.

A new assignor is a new file and one line in ``ASSIGNORS``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from groups import BadInput
from heuristics import kip54_sticky, range, round_robin
from heuristics.assignor import Assignor, Plan

if TYPE_CHECKING:
    from groups import Assignment, Group

__all__ = ["ASSIGNORS", "Assignor", "Plan", "assign", "plan"]

ASSIGNORS: dict[str, Assignor] = {
    assignor.name: assignor
    for assignor in (
        Assignor("range", "written", "RangeAssignor's documentation", None, range.plan),
        Assignor(
            "roundrobin", "written", "RoundRobinAssignor's documentation", None, round_robin.plan
        ),
        Assignor(
            "kip-54-sticky", "written", "KIP-54, fair yet sticky", "KIP-54", kip54_sticky.plan
        ),
    )
}


def plan(group: Group, name: str) -> Plan:
    """Return what the assignor of that name makes of the group, round by round.

    Raises
    ------
    BadInput
        Where no assignor has that name, or a member's subscription is unknown.
    Refused
        Where the assignor does not cover the group.
    """
    if name not in ASSIGNORS:
        known = ", ".join(ASSIGNORS)
        raise BadInput(f"assignor: unknown name {name!r}, expected one of {known}")
    group.require_subscriptions()
    return ASSIGNORS[name].function(group)


def assign(group: Group, name: str) -> Assignment:
    """Return the final assignment that the assignor of that name makes of the group.

    Raises
    ------
    BadInput
        Where no assignor has that name, or a member's subscription is unknown.
    Refused
        Where the assignor does not cover the group.
    """
    return plan(group, name).assignment
