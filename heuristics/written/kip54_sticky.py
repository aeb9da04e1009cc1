"""KIP-54, "fair yet sticky": the sticky assignor as its proposal describes it."""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING

import numpy as np

from groups import Assignment
from groups.arrays import NOBODY
from groups.tiers import pairwise_difference
from heuristics.assignor import Plan
from heuristics.written.unassigned import hand_out, rarest_first, subscribers

if TYPE_CHECKING:
    from groups import Group
    from groups.arrays import Bools, Int32


def plan(group: Group) -> Plan:
    """Keep what is owned, hand out the rest, then move single partitions in one pass.

    The steps carry the numbers of the KIP. How it was read where it is vague:

    1. The current assignment is the valid owner of each partition: the claim of the highest
       generation, void where two claim alike. "Partitions that no longer exist" takes in those
       whose topic the member stopped subscribing to; they cannot stay either.
    2. The order of the unassigned partitions is that of ``sortedAllPartitions``: fewest potential
       consumers first, then topic and number. Members that hold equally few: smallest id.
    3. A consumer's assignment cannot change when no partition that it can take has another
       potential consumer.
    4. See :func:`reassign`.
    5. Taken word for word, over the consumers that step 3 left in. A single move improves the
       score exactly when it narrows two members by two or more, and step 4 makes no other move,
       so this never reverts anything.
    6. Set-aside partitions never left the columns, so there is nothing to put back.

    Time is about (subscriptions + partitions) x log(members).

    Source: KIP-54, "Sticky Partition Assignment Algorithm".
    """
    distributed = hand_out(group, group.owner)
    improved = reassign(group, distributed)
    mobile = ~_fixed(group)
    if _score(group, improved, mobile) >= _score(group, distributed, mobile):
        improved = distributed
    return Plan(Assignment(group, improved))


def reassign(group: Group, owner: Int32) -> Int32:
    """Go once through the partitions and move each where that improves the balance score.

    Step 4 of KIP-54: fewest potential consumers first, then topic and number; the other consumer
    is the one that holds fewest, then the smallest id. The KIP stops early once a balance is
    reached; from there on no single move improves, so going on changes nothing.

    Parameters
    ----------
    owner : (all partitions,) int32, -1 where nobody; stays as it is

    Returns
    -------
    (all partitions,) int32
    """
    moved = owner.copy()
    loads = np.bincount(owner[owner != NOBODY], minlength=len(group.members)).tolist()
    readers = subscribers(group)
    for topic in rarest_first(group):
        start, end = int(group.first[topic]), int(group.first[topic + 1])
        queue = [(loads[member], member) for member in readers[topic]]
        if start == end or max(queue)[0] - min(queue)[0] <= 1:
            continue
        heapify(queue)
        for partition, holder in enumerate(moved[start:end].tolist(), start):
            while queue[0][0] != loads[queue[0][1]]:
                heappop(queue)
            least, member = queue[0]
            if loads[holder] - least <= 1:
                continue
            moved[partition] = member
            for changed, by in ((member, 1), (holder, -1)):
                loads[changed] += by
                heappush(queue, (loads[changed], changed))
    return moved


def _fixed(group: Group) -> Bools:
    """(members,) bool: whether the member's assignment cannot change (step 3)."""
    shared = (group.readers > 1) & (group.partitions > 0)
    row = np.repeat(np.arange(len(group.row_size)), np.diff(group.subscription_indptr))
    fixed = np.ones(len(group.row_size), bool)
    fixed[row[shared[group.subscription_topics]]] = False
    return np.asarray(fixed[group.subscription_row], bool)


def _score(group: Group, owner: Int32, members: Bools) -> int:
    """Return KIP-54's balance score over some of the members."""
    loads = np.bincount(owner[owner != NOBODY], minlength=len(group.members))
    return pairwise_difference(loads[members].tolist())
