"""PRACTICE: the assignors that people run or were promised; one assignor, one file, one function.

A new assignor is a new file and one line in ``ASSIGNORS``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from groups import BadInput
from heuristics import (
    kip54_fairest,
    kip54_sticky,
    kip169_lag,
    kip429_cooperative,
    kip615_amended,
    kip615_constrained,
    range,
    round_robin,
)
from heuristics.assignor import Assignor, Plan

if TYPE_CHECKING:
    from groups import Assignment, Group

__all__ = ["ASSIGNORS", "Assignor", "Plan", "assign", "assignor_named", "plan"]

_WRITTEN = (
    ("range", "RangeAssignor, as documented", None, range.plan),
    ("roundrobin", "RoundRobinAssignor, as documented", None, round_robin.plan),
    ("kip-54-sticky", "KIP-54, fair yet sticky", "KIP-54", kip54_sticky.plan),
    ("kip-54-fairest", "KIP-54, the alternative: sticky yet fair", "KIP-54", kip54_fairest.plan),
    ("kip-615-constrained", "KIP-615, as written", "KIP-615", kip615_constrained.plan),
    ("kip-615-amended", "KIP-615, its promise kept", "KIP-615", kip615_amended.plan),
    ("kip-429-cooperative", "KIP-429 over KIP-54", "KIP-429", kip429_cooperative.plan),
    ("kip-169-lag", "KIP-169, its algorithm", "KIP-169", kip169_lag.plan),
)

ASSIGNORS: dict[str, Assignor] = {
    name: Assignor(name, "written", source, version, function)
    for name, source, version, function in _WRITTEN
}


def assignor_named(name: str) -> Assignor:
    """Return the assignor of that name.

    Raises
    ------
    BadInput
        Where no assignor has that name; the message lists those that there are.
    """
    if name not in ASSIGNORS:
        known = ", ".join(ASSIGNORS)
        raise BadInput(f"assignor: unknown name {name!r}, expected one of {known}")
    return ASSIGNORS[name]


def plan(group: Group, name: str) -> Plan:
    """Return what the assignor of that name makes of the group, round by round.

    Raises
    ------
    BadInput
        Where no assignor has that name, or a member's subscription is unknown.
    Refused
        Where the assignor does not cover the group.
    Failed
        Where the assignor breaks down on the group.
    """
    assignor = assignor_named(name)
    group.require_subscriptions()
    return assignor.function(group)


def assign(group: Group, name: str) -> Assignment:
    """Return the final assignment that the assignor of that name makes of the group.

    Raises
    ------
    BadInput
        Where no assignor has that name, or a member's subscription is unknown.
    Refused
        Where the assignor does not cover the group.
    Failed
        Where the assignor breaks down on the group.
    """
    return plan(group, name).assignment
