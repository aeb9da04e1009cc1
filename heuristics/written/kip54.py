"""KIP-54: the sticky assignor as proposed, the proposal's alternative, and KIP-429 over it."""

from __future__ import annotations

from heapq import heapify, heappop, heappush, heapreplace
from typing import TYPE_CHECKING

import numpy as np

from groups import Assignment
from groups.arrays import NOBODY
from groups.tiers import pairwise_difference
from heuristics.assignor import Plan
from heuristics.protocol import to_quiescence

if TYPE_CHECKING:
    from collections.abc import Callable

    from groups import Group
    from groups.arrays import Bools, Int32


def sticky(group: Group) -> Plan:
    """Keep what is owned, hand out the rest, then move single partitions in one pass.

    The steps are numbered as in the KIP. How it was read where it is vague:

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
    6. Set-aside partitions were never removed here, so there is nothing to put back.

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
    row = group.subscriptions.entry_row
    fixed = np.ones(len(group.subscriptions), bool)
    fixed[row[shared[group.subscription_topics]]] = False
    return np.asarray(fixed[group.subscription_row], bool)


def _score(group: Group, owner: Int32, members: Bools) -> int:
    """Return KIP-54's balance score over some of the members."""
    loads = np.bincount(owner[owner != NOBODY], minlength=len(group.members))
    return pairwise_difference(loads[members].tolist())


def fairest(group: Group) -> Plan:
    """Keep every valid owned partition and hand out the others, nothing more.

    "Previous valid assignments" are the valid owners: the claim of the highest generation, void
    where two claim alike, of members that still subscribe. "Towards the fairest possible
    assignment" is read as KIP-54's own second step: fewest potential consumers first, then topic
    and number, each to the potential consumer that holds fewest, then the smallest id.

    Source: KIP-54, "Alternatives".
    """
    return Plan(Assignment(group, hand_out(group, group.owner)))


def cooperative(group: Group, *, over: Callable[[Group], Plan] = sticky) -> Plan:
    """Rebalance with an assignor, holding back what is still owned, until nobody must revoke.

    Source: KIP-429, on top of any assignor.

    Parameters
    ----------
    over : the assignor whose result is reached cooperatively, "kip-54-sticky" unless told
        otherwise

    Raises
    ------
    Failed
        If what the members own comes back after a round: it would go on for ever.
    Refused
        If the assignor does not cover the group.
    """
    return to_quiescence(group, over, withhold=True)


def rarest_first(group: Group) -> list[int]:
    """Return the topics that somebody reads, those with the fewest subscribers first.

    Topics with equally many go by name. As all partitions of a topic have the same potential
    consumers, this with ascending numbers is the order of KIP-54's ``sortedAllPartitions``; how
    it orders partitions with equally many potential consumers, the KIP does not say.
    """
    order = np.argsort(group.readers, kind="stable")
    return [int(topic) for topic in order if group.readers[topic]]


def subscribers(group: Group) -> list[list[int]]:
    """Return for each topic the members that read it, ascending."""
    return [group.subscribers(topic).tolist() for topic in range(len(group.topics))]


def hand_out(group: Group, owner: Int32) -> Int32:
    """Give each unassigned partition to the potential consumer that holds fewest.

    Step 2 of KIP-54. Partitions go in the order of :func:`rarest_first`; among members that hold
    equally few the smallest id wins.

    Parameters
    ----------
    owner : (all partitions,) int32, -1 where nobody; stays as it is

    Returns
    -------
    (all partitions,) int32: the same, with nobody only where nobody reads the topic
    """
    filled = owner.copy()
    loads = np.bincount(owner[owner != NOBODY], minlength=len(group.members)).tolist()
    readers = subscribers(group)
    for topic in rarest_first(group):
        start, end = group.first[topic], group.first[topic + 1]
        open_partitions = np.flatnonzero(filled[start:end] == NOBODY) + start
        if not len(open_partitions):
            continue
        queue = [(loads[member], member) for member in readers[topic]]
        heapify(queue)
        for partition in open_partitions:
            load, member = queue[0]
            filled[partition] = member
            loads[member] = load + 1
            heapreplace(queue, (load + 1, member))
    return filled
