"""KIP-615 with the smallest changes that keep its promise and make its plans valid."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from heuristics.assignor import Plan
from heuristics.written.kip615_constrained import (
    Capacities,
    owned_partitions,
    require_equal_subscriptions,
)

if TYPE_CHECKING:
    from groups import Group


def plan(group: Group) -> Plan:
    """Assign as KIP-615 does, with two amendments: one for its promise, one for valid plans.

    1. When partitions have run out, a member below the floor takes one partition each from as
       many members at max capacity as it lacks partitions, not from one. This alone keeps the
       promise that the numbers of partitions differ by at most one, with overlapping claims too.
    2. A partition that two members of the newest generation claim is kept by neither. The promise
       does not need this, but valid plans do: otherwise the partition goes out twice, a member
       can end above the ceiling, and another partition can be left with nobody.

    Everything else is as written, see :mod:`heuristics.written.kip615_constrained`.

    Source: KIP-615, "Proposed Changes", amended.

    Raises
    ------
    Refused
        Where two members do not read the same topics.
    """
    require_equal_subscriptions(group)
    owned = owned_partitions(group)
    times = Counter(partition for mine in owned for partition in mine)
    single = [[partition for partition in mine if times[partition] == 1] for mine in owned]
    return Plan(Capacities.of(group).assign(group, single, one_each=False))
