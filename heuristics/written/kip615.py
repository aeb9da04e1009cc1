"""KIP-615: the sticky assignor where all members read the same, as written and amended."""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from groups import Assignment, Refused
from heuristics.assignor import Plan

if TYPE_CHECKING:
    from groups import Group


def constrained(group: Group) -> Plan:
    """Keep up to the ceiling of what each member owns, fill up to the floor, deal out the rest.

    Members of an old generation lose all. How the KIP was read where it is vague:

    - Subscriptions are equal when members read the same topics among those that exist.
    - "No longer in the subscription" takes in partition numbers that no longer exist, as "all
      partitions" is summed over the subscribed topics.
    - A generation is old when some member of the group has a higher one; none given counts as -1.
    - Owned partitions go by topic, then number; what is taken from a member at max capacity is
      the last of them.
    - "For each unfilled member", when partitions have run out, means those still below the
      floor; each takes one partition, as it says, however many it lacks.
    - The partitions that a cooperative assignor holds back are in the assignment; KIP-429 on top
      would take them out.

    What stays wrong, because it is written so:

    - A member that lacks two or more partitions gets one, so the numbers of partitions can differ
      by more than one.
    - A partition that two members of one generation claim goes out twice. It counts for both, so
      others remain when every member has its floor. Each of these goes to a member that is not at
      max capacity, which can end above the ceiling: its floor may be the ceiling. Where all are
      at max capacity, nobody gets them.

    Time is linear in members and partitions, but for the sorting.

    Source: KIP-615, "Proposed Changes".

    Raises
    ------
    Refused
        If two members do not read the same topics.
    """
    require_equal_subscriptions(group)
    return Plan(Capacities.of(group).assign(group, owned_partitions(group), one_each=True))


def require_equal_subscriptions(group: Group) -> None:
    """Raise Refused unless all members read the same topics, of those that exist."""
    for member in sorted(group.subscriptions.first.tolist()):
        if not np.array_equal(group.subscription(0), group.subscription(member)):
            raise Refused(
                f"subscriptions differ: {group.members[0]} and {group.members[member]} "
                "do not read the same topics"
            )


def owned_partitions(group: Group) -> list[list[int]]:
    """Return for each member what it claims in the newest generation, by topic and number.

    Partitions that do not exist, or whose topic the member does not read, are left out.
    """
    claims = group.claims
    newest = group.generation.max(initial=-1)
    exists = np.flatnonzero(claims.topic < len(group.topics))
    exists = exists[claims.partition[exists] < group.partitions[claims.topic[exists]]]
    member, topic = claims.member[exists], claims.topic[exists]
    kept = (group.generation[member] == newest) & group.subscribes(member, topic)
    partition = group.first[topic] + claims.partition[exists]
    owned: list[list[int]] = [[] for _ in group.members]
    for who, what in zip(member[kept].tolist(), partition[kept].tolist(), strict=True):
        owned[who].append(what)
    return owned


@dataclass(frozen=True)
class Capacities:
    """How many partitions a member should have, at least and at most: C_f and C_c."""

    floor: int
    ceiling: int

    @staticmethod
    def of(group: Group) -> Capacities:
        """Return the floor and ceiling of partitions over members; 0 if nobody is there."""
        members = len(group.members)
        if not members:
            return Capacities(0, 0)
        total = int(group.partitions[group.readers > 0].sum())
        return Capacities(total // members, -(-total // members))

    def assign(self, group: Group, owned: list[list[int]], *, one_each: bool) -> Assignment:
        """Run the passes of the KIP over what the members own.

        Parameters
        ----------
        owned : for each member the partitions that it may keep, in order; stays as it is
        one_each : whether a member below the floor takes one partition from the members at max
            capacity, as written, or as many as it lacks
        """
        held = [list(mine if len(mine) < self.floor else mine[: self.ceiling]) for mine in owned]
        unfilled = [m for m, mine in enumerate(owned) if len(mine) < self.floor]
        full = deque(m for m, mine in enumerate(owned) if len(mine) > self.floor)
        at_max = set(full)
        unassigned = _in_partition_order(group, held)
        for member in unfilled:
            while len(held[member]) < self.floor and unassigned:
                held[member].append(unassigned.popleft())
        for member in unfilled:
            while len(held[member]) < self.floor and full:
                held[member].append(held[full.popleft()].pop())
                if one_each:
                    break
        free = (member for member in range(len(held)) if member not in at_max)
        for partition, member in zip(unassigned, free, strict=False):
            held[member].append(partition)
        topic, number = group.topic.tolist(), group.number.tolist()
        return Assignment.from_holdings(
            group,
            [
                (member, group.topics[topic[partition]], number[partition])
                for member, mine in enumerate(held)
                for partition in sorted(mine)
            ],
        )


def _in_partition_order(group: Group, held: list[list[int]]) -> deque[int]:
    """Return what nobody holds and somebody reads: t0-0, t1-0, t2-0, t0-1, ..."""
    left = group.readers[group.topic] > 0
    left[[partition for mine in held for partition in mine]] = False
    found = np.flatnonzero(left)
    return deque(found[np.lexsort((group.topic[found], group.number[found]))].tolist())


def amended(group: Group) -> Plan:
    """Assign as KIP-615 does, with two amendments: one for its promise, one for valid plans.

    1. When partitions have run out, a member below the floor takes one partition each from as
       many members at max capacity as it lacks partitions, not from one. This alone keeps the
       promise that the numbers of partitions differ by at most one, with overlapping claims too.
    2. A partition that two members of the newest generation claim is kept by neither. The promise
       does not need this, but valid plans do: otherwise the partition goes out twice, a member
       can end above the ceiling, and another partition can be left with nobody.

    Everything else is as written, see :func:`constrained`.

    Source: KIP-615, "Proposed Changes", amended.

    Raises
    ------
    Refused
        If two members do not read the same topics.
    """
    require_equal_subscriptions(group)
    owned = owned_partitions(group)
    times = Counter(partition for mine in owned for partition in mine)
    single = [[partition for partition in mine if times[partition] == 1] for mine in owned]
    return Plan(Capacities.of(group).assign(group, single, one_each=False))
