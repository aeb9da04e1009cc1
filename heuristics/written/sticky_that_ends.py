"""Kafka's sticky assignor, with the one rule changed that can make it loop for ever."""

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

    It does what ``AbstractStickyAssignor`` was seen to do for subscriptions that differ, with two
    changes:

    1. Another partition moves back in place of the chosen one only if the member with too many
       holds it: :func:`from_its_holder`. Each move then takes a partition from a member with x to
       one with at most x - 2, so the sum of the squared loads falls by two or more. That sum is at
       most the square of the number of partitions at the start, so there are at most half as many
       moves.
    2. Owners of an older generation are ignored, and nothing is reverted at the end: as each move
       lowers KIP-54's balance score, there is never a reason to.

    If all members read the same topics, that class follows KIP-615 instead, and so does this: see
    :func:`even_out`.

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

    For groups whose members all read the same topics. Among members with equally many, the
    smaller id comes first. Partitions that a member did not own leave it first, then those it
    owned, the last partitions first. No partition moves twice, and no sequence of moves is
    shorter.

    Parameters
    ----------
    owner : (all partitions,) int32, -1 only where nobody reads the topic; changed in place
    """
    held: list[list[int]] = [[] for _ in group.members]
    with_its_owner = owner == group.owner
    # Partitions leave from the end of the list, so those with their owner are put first.
    for listed in (with_its_owner, ~with_its_owner):
        for partition in np.flatnonzero(listed & (owner != NOBODY)).tolist():
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
    partition : the partition that should leave its holder
    holder : its holder, which has at least two partitions more than `to`
    to : the reader of the topic with the fewest partitions; ties: the smaller id
    moved : the partition that the rule has chosen to move to `to`
    leaves : the member that held `moved`
    """

    partition: int
    holder: int
    to: int
    moved: int
    leaves: int


@dataclass
class Movements:
    """The partitions that are not with the member that they started with.

    Attributes
    ----------
    start : by partition, the member that it started with
    between : by (topic, that member, present holder), the partitions
    """

    start: dict[int, int] = field(default_factory=dict)
    between: dict[tuple[int, int, int], set[int]] = field(default_factory=dict)

    def note(self, topic: int, partition: int, leaves: int, to: int) -> None:
        """Record a move; a partition that is back where it started is removed."""
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
    """Choose a partition that the holder got from `to`, if there is one, else the given one.

    So `to` gets back what it had, and two partitions of one topic do not swap members. As the
    holder loses one and `to` gains one, each step lowers the sum of the squared loads, which
    cannot go on for ever.
    """
    found = movements.back(topic, holder, to)
    return partition if found is None else found


def from_where_it_started(
    movements: Movements, topic: int, partition: int, holder: int, to: int
) -> int:
    """Choose a partition that came from `to` and is now where this one started, if there is one.

    If this partition has moved before, the chosen one need not be with the holder: then another
    member loses a partition, and the holder keeps its too many. This may never end.

    Source: ``PartitionMovements`` of ``AbstractStickyAssignor``, Apache Kafka 4.4.0, which looks
    for a move in the opposite direction, from the start of the partition's whole way.
    """
    found = movements.back(topic, movements.start.get(partition, holder), to)
    return partition if found is None else found


def steps(group: Group, owner: Int32, rule: Rule) -> Iterator[Step]:
    """Move partitions in `owner` as long as a single move narrows two members by two or more.

    First only partitions without a previous owner are considered, then all: in passes, topics with
    the fewest readers first, then by name and number, until a pass moves nothing.

    Parameters
    ----------
    owner : (all partitions,) int32, -1 only where nobody reads the topic; changed in place, step
        by step
    rule : returns the partition to move, given the movements so far, the topic, the partition that
        should leave, its holder and the member that should get one more
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
