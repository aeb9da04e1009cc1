"""The recipe for a small group: blocks one after the other, in plain Python."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from groups.arrays import NOBODY, frozen
from optimal.answer import Answer
from optimal.flow.small.block import Block
from optimal.proof import Proof, ProofKind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from groups.group import Group
    from optimal.time_left import TimeLeft

# Beyond it columns are quicker.
MOST_PARTITIONS, MOST_NODES = 400, 60


def is_small(group: Group) -> bool:
    """Say whether a group is so small that it is sooner solved without columns."""
    nodes = len(group.members) + len(group.topics)
    return nodes <= MOST_NODES and len(group.owner) <= MOST_PARTITIONS


def readers_of(group: Group) -> list[int]:
    """Return the readers of each topic as a set of nodes; nobody where it has no partitions.

    Topics are the first nodes, then come members.
    """
    counts, first = group.partitions.tolist(), 1 << len(group.topics)
    ends, listed = group.subscription_indptr.tolist(), group.subscription_topics.tolist()
    who = [0] * (len(ends) - 1)
    for member, row in enumerate(group.subscription_row.tolist()):
        who[row] |= first << member
    found = [0] * len(counts)
    for those, (start, end) in zip(who, pairwise(ends), strict=True):
        for topic in listed[start:end]:
            if counts[topic]:
                found[topic] |= those
    return found


def read_all_alike(readers: Iterable[int]) -> bool:
    """Say whether members who share a topic share all that they read."""
    sets = set(readers)
    every = 0
    for one in sets:
        every |= one
    return sum(map(int.bit_count, sets)) == every.bit_count()


def fewest_moves(group: Group, readers: list[int], time_left: TimeLeft) -> Answer:
    """Solve a group for ``balance > stickiness``, or for balance alone with the fewest moves.

    Parameters
    ----------
    readers : as :func:`readers_of` has it

    Raises
    ------
    OutOfTime
        Where nothing is left.
    """
    counts, owner = group.partitions.tolist(), group.owner.tolist()
    topics, members = len(counts), len(group.members)
    level, price = [-1] * members, [0] * members
    owned = _owned(counts, owner, readers)
    stay: dict[tuple[int, int], int] = {}
    take: dict[tuple[int, int], int] = {}
    left = _every(readers)
    while left:
        some, who = left.pop()
        block = Block(some, who, readers, owned, counts, topics + members)
        apart = block.levelled(time_left)
        if apart:
            left += [(some & apart, who & apart), (some & ~apart, who & ~apart)]
            continue
        block.settle()
        stay |= block.stay
        take |= block.take
        for member, paid in block.prices().items():
            level[member - topics] = block.floor - (not block.extra)
            price[member - topics] = paid
    _hand_out(owner, counts, stay, take)
    return Answer(
        owner=frozen(np.array(owner, np.int32)),
        bounds=(),
        proof=Proof(
            ProofKind.CERTIFICATE,
            level=frozen(np.array(level, np.int64)),
            price=frozen(np.array(price, np.int64)),
            scale=(1,),
        ),
        method="flow",
    )


def _owned(counts: list[int], owner: list[int], readers: list[int]) -> dict[tuple[int, int], int]:
    """Return how many partitions of a topic are owned by one of its readers, by topic and node."""
    found, end = {}, 0
    for topic, count in enumerate(counts):
        start, end = end, end + count
        for one, many in Counter(owner[start:end]).items():
            node = one + len(counts)
            if one >= 0 and readers[topic] >> node & 1:
                found[topic, node] = many
    return found


def _every(readers: list[int]) -> list[tuple[int, int]]:
    """Return all topics that somebody reads, and all who read, as one block, if there are any."""
    topics = members = 0
    for topic, those in enumerate(readers):
        if those:
            topics |= 1 << topic
            members |= those
    return [(topics, members)] if topics else []


def _hand_out(
    owner: list[int],
    counts: list[int],
    stay: dict[tuple[int, int], int],
    take: dict[tuple[int, int], int],
) -> None:
    """Give each partition to a member: of what one owned of a topic the first stay."""
    first, end = len(counts), 0
    takers: list[list[int]] = [[] for _ in counts]
    for (topic, member), count in sorted(take.items()):
        takers[topic] += [member - first] * count
    for topic, count in enumerate(counts):
        start, end = end, end + count
        free = iter(takers[topic])
        for at in range(start, end):
            before = topic, owner[at] + first
            may_stay = stay.get(before, 0)
            if may_stay:
                stay[before] = may_stay - 1
            else:
                owner[at] = next(free, NOBODY)
