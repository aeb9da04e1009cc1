"""PRACTICE: the assignors that people run or were promised; one assignor, one file, one function.

The catalogue names them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from groups import BadInput, Failed, Refused
from heuristics.assignor import Assignor, Plan
from heuristics.catalogue import WRITTEN, assignor_named, assignors, available, matching
from heuristics.own import AssignorFunction

if TYPE_CHECKING:
    from groups import Assignment, Group

__all__ = [
    "WRITTEN",
    "Assignor",
    "AssignorFunction",
    "Plan",
    "assign",
    "assignor_named",
    "assignors",
    "available",
    "matching",
    "plan",
]

SHIPPED_SECONDS = 10.0


def plan(group: Group, name: str | AssignorFunction) -> Plan:
    """Return what the assignor of that name makes of the group, round by round.

    A function of yours counts as an assignor. It runs in a process of its own, as one that ships
    does, for 10 s at most; for many groups or another limit keep a
    `TimeLimit`.

    Raises
    ------
    BadInput
        Where no assignor has that name, it cannot be called here, or a member's subscription is
        unknown.
    Refused
        Where the assignor does not cover the group.
    Failed
        Where the assignor breaks down on the group, or does not come back.
    """
    assignor = assignor_named(name)
    group.require_subscriptions()
    if assignor.kind == "written":
        return assignor.function(group)
    from heuristics.time_limit import limited

    outcome = limited(group, name, SHIPPED_SECONDS)
    if outcome.plan is not None:
        return outcome.plan
    error = {"unavailable": BadInput, "refused": Refused}.get(outcome.status, Failed)
    raise error(f"{assignor.name}: {outcome.reason}")


def assign(group: Group, name: str | AssignorFunction) -> Assignment:
    """Return the final assignment that the assignor of that name makes of the group.

    A function of yours counts as an assignor. As `plan`, which tells the rounds too.

    Raises
    ------
    BadInput
        Where no assignor has that name, it cannot be called here, or a member's subscription is
        unknown.
    Refused
        Where the assignor does not cover the group.
    Failed
        Where the assignor breaks down on the group, or does not come back.

    Examples
    --------
    >>> from assay import Group, assign
    >>> group = Group.from_dict(
    ...     {
    ...         "format": "assay-group/1",
    ...         "group": "orders",
    ...         "topics": {"t0": 2, "t1": 3},
    ...         "members": {
    ...             "c0": {"subscription": ["t0", "t1"], "owned": {"t0": [0, 1], "t1": [0, 1, 2]}},
    ...             "c1": {"subscription": ["t1"]},
    ...         },
    ...     }
    ... )
    >>> assign(group, "roundrobin").to_dict()
    {'c0': {'t0': [0, 1], 't1': [1]}, 'c1': {'t1': [0, 2]}}
    """
    return plan(group, name).assignment
