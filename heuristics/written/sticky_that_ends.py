"""The sticky assignor that people run, with the one rule changed that keeps it from ending."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from groups import Assignment
from heuristics.assignor import Plan
from heuristics.written.reassigning import from_its_holder, steps
from heuristics.written.unassigned import hand_out

if TYPE_CHECKING:
    from groups import Group


def plan(group: Group) -> Plan:
    """Keep what is owned, hand out the rest, then move single partitions until none helps.

    As ``AbstractStickyAssignor`` does where subscriptions differ, written anew from what it was
    seen to do. Two things differ:

    1. A partition goes back in the place of another only if it is with the member that has too
       many: :func:`~heuristics.written.reassigning.from_its_holder`. Each move then takes a
       partition from a member with x to one with at most x - 2, so the sum of the squared loads
       falls by two or more. It begins at most at the square of the number of partitions, so that
       the moves come to an end after at most half of that.
    2. The owner of an older generation has no say, and nothing is taken back in the end: as each
       move lowers KIP-54's balance score, there is never a reason to.

    The result is balanced as KIP-54 defines it: no single partition can move and improve the
    score. The current assignment is read as in :mod:`heuristics.written.kip54_sticky`.

    Source: KIP-54, amended.
    """
    owner = hand_out(group, group.owner)
    deque(steps(group, owner, from_its_holder), maxlen=0)
    return Plan(Assignment(group, owner))
