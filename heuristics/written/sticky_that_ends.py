"""The sticky assignor that people run, with the one rule changed that keeps it from ending."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush, heapreplace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from groups import Assignment
from groups.arrays import NOBODY
from heuristics.assignor import Plan
from heuristics.written.kip54 import hand_out, rarest_first, subscribers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from groups import Group
    from groups.arrays import Int32

    Rule = Callable[["Movements", int, int, int, int], int]


def plan(group: Group) -> Plan:
    """Keep what is owned, hand out the rest, then move single partitions until none helps.

    As ``AbstractStickyAssignor`` does where subscriptions differ, written anew from what it was
    seen to do. Two things differ:

    1. A partition goes back in the place of another only if it is with the member that has too
       many: :func:`from_its_holder`. Each move then takes a
       partition from a member with x to one with at most x - 2, so the sum of the squared loads
       falls by two or more. It begins at most at the square of the number of partitions, so that
       the moves come to an end after at most half of that.
    2. The owner of an older generation has no say, and nothing is taken back in the end: as each
       move lowers KIP-54's balance score, there is never a reason to.

    Where all members read the same topics, that class goes another way (KIP-615), and so does
    this: see :func:`even_out`.

    The result is balanced as KIP-54 defines it: no single partition can move and improve the
    score. The current assignment is read as in :mod:`heuristics.written.kip54`.

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


class Step(NamedTuple):
    """One reassignment.

    Attributes
    ----------
    partition : that should leave its holder
    holder : who has at least two partitions more than `to`
    to : the reader of the topic that has fewest, of two alike the smaller id
    moved : the partition that goes to `to`, which the rule has chosen
    leaves : who held that one
    """

    partition: int
    holder: int
    to: int
    moved: int
    leaves: int


@dataclass
class Movements:
    """Where the partitions that are not where they started came from.

    Attributes
    ----------
    start : of each such partition, the member that it started with
    between : by topic, that member and the holder, the partitions that went from one to the other
    """

    start: dict[int, int] = field(default_factory=dict)
    between: dict[tuple[int, int, int], set[int]] = field(default_factory=dict)

    def note(self, topic: int, partition: int, leaves: int, to: int) -> None:
        """Note a move; a partition that is back where it started has not moved."""
        start = self.start.pop(partition, leaves)
        if start != leaves:
            self.between[topic, start, leaves].discard(partition)
        if start != to:
            self.start[partition] = start
            self.between.setdefault((topic, start, to), set()).add(partition)

    def back(self, topic: int, member: int, to: int) -> int | None:
        """Return the first partition of the topic at `member` that started with `to`, if any."""
        return min(self.between.get((topic, to, member), ()), default=None)


def from_its_holder(movements: Movements, topic: int, partition: int, holder: int, to: int) -> int:
    """Choose a partition of the holder's: one that came from `to`, where there is one.

    So `to` has back what it had, and two partitions of one topic do not change places. As the
    holder loses one and `to` gains one, each step lowers the sum of the squared loads, which
    cannot go on for ever.
    """
    found = movements.back(topic, holder, to)
    return partition if found is None else found


def from_where_it_started(
    movements: Movements, topic: int, partition: int, holder: int, to: int
) -> int:
    """Choose a partition that came from `to` and is where this one started, if there is one.

    It need not be with the holder, where this one has moved before: then somebody else loses a
    partition, and the holder, who has too many, keeps all. Nothing says that this comes to an end.

    Source: ``PartitionMovements`` of ``AbstractStickyAssignor``, Apache Kafka 4.4.0, which looks
    for the opposite of the whole way that the partition would have come.
    """
    found = movements.back(topic, movements.start.get(partition, holder), to)
    return partition if found is None else found


def steps(group: Group, owner: Int32, rule: Rule) -> Iterator[Step]:
    """Move partitions in `owner` for as long as a single move narrows two members by two or more.

    First only what nobody owned is looked at, then everything: pass after pass, topics with the
    fewest readers first, then by name and number, until a pass finds nothing to do.

    Parameters
    ----------
    owner : (all partitions,) int32, -1 only where nobody reads the topic; changed in place, step
        by step
    rule : says which partition goes, by the movements so far, the topic, the partition that should
        leave, its holder and the member that should have one more
    """
    movements = Movements()
    loads = np.bincount(owner[owner != NOBODY], minlength=len(group.members)).tolist()
    readers = subscribers(group)
    for looked_at in (group.owner == NOBODY, np.ones(len(owner), bool)):
        more = True
        while more:
            more = False
            for topic in rarest_first(group):
                queue = [(loads[member], member) for member in readers[topic]]
                if max(queue)[0] - min(queue)[0] <= 1:
                    continue
                heapify(queue)
                start, end = group.first[topic], group.first[topic + 1]
                for partition in (np.flatnonzero(looked_at[start:end]) + start).tolist():
                    while queue[0][0] != loads[queue[0][1]]:
                        heappop(queue)
                    holder, (least, to) = int(owner[partition]), queue[0]
                    if loads[holder] - least <= 1:
                        continue
                    moved = rule(movements, topic, partition, holder, to)
                    leaves = int(owner[moved])
                    movements.note(topic, moved, leaves, to)
                    owner[moved] = to
                    for changed, by in ((to, 1), (leaves, -1)):
                        loads[changed] += by
                        heappush(queue, (loads[changed], changed))
                    more = True
                    yield Step(partition, holder, to, moved, leaves)
