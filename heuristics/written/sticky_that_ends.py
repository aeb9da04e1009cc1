"""The sticky assignor that people run, with the one rule changed that keeps it from ending."""

from __future__ import annotations

from collections import deque
from heapq import heapify, heapreplace
from typing import TYPE_CHECKING

import numpy as np

from groups import Assignment
from groups.arrays import NOBODY
from heuristics.assignor import Plan
from heuristics.written.reassigning import from_its_holder, steps
from heuristics.written.unassigned import hand_out

if TYPE_CHECKING:
    from groups import Group
    from groups.arrays import Int32


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

    Where all members read the same topics, that class goes another way (KIP-615), and so does
    this: see :func:`even_out`.

    The result is balanced as KIP-54 defines it: no single partition can move and improve the
    score. The current assignment is read as in :mod:`heuristics.written.kip54_sticky`.

    Source: KIP-54, amended.
    """
    owner = hand_out(group, group.owner)
    if reads_alike(group):
        even_out(group, owner)
    else:
        deque(steps(group, owner, from_its_holder), maxlen=0)
    return Plan(Assignment(group, owner))


def reads_alike(group: Group) -> bool:
    """Return whether all members read the same of the topics with partitions and readers."""
    readers = group.readers[(group.partitions > 0) & (group.readers > 0)]
    return bool((readers == len(group.members)).all())


def even_out(group: Group, owner: Int32) -> None:
    """Move from the member with most to the one with fewest, until loads differ by at most one.

    For groups whose members all read the same topics. Of members with equally many the smaller id
    comes first. What a member does not own leaves before what it owns, the last partitions first.
    No partition moves twice, and no sequence of moves is shorter.

    Parameters
    ----------
    owner : (all partitions,) int32, -1 only where nobody reads the topic; changed in place
    """
    held: list[list[int]] = [[] for _ in group.members]
    of_its_own = owner == group.owner
    # The last ones leave first: what a member owns is put before the rest.
    for some in (of_its_own, ~of_its_own):
        for partition in np.flatnonzero(some & (owner != NOBODY)).tolist():
            held[owner[partition]].append(partition)
    most = [(-len(mine), member) for member, mine in enumerate(held)]
    fewest = [(len(mine), member) for member, mine in enumerate(held)]
    heapify(most)
    heapify(fewest)
    while most and -most[0][0] - fewest[0][0] > 1:
        (giving, giver), (taking, taker) = most[0], fewest[0]
        owner[held[giver].pop()] = taker
        heapreplace(most, (giving + 1, giver))
        heapreplace(fewest, (taking + 1, taker))
