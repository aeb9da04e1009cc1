"""Blocks: members that share the only topics that could even their loads out further.

The levels of a certificate (docs/explanation/proof.md) sort members and topics into blocks. A
block and the fuller ones are the only readers of their topics, so they hold at least those
partitions, whatever is done. In a balanced assignment they hold just those.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from groups.arrays import Int64
    from groups.group import Group
    from optimal.solution import Solution


@dataclass(frozen=True)
class Block:
    """Members of one level, and the topics of that level.

    Attributes
    ----------
    members, topics : ascending indices; topics without partitions are left out
    partitions : how many the topics have together
    floor, ceiling : what a member of the block holds at least and at most, in any assignment
        with the same balance
    least, most : what members of the block hold in this one
    """

    members: tuple[int, ...]
    topics: tuple[int, ...]
    partitions: int
    floor: int
    ceiling: int
    least: int
    most: int


def blocks_of(solution: Solution) -> tuple[Block, ...]:
    """Return the blocks of a solution whose certificate has levels, the fullest first."""
    group, level, assignment = solution.group, solution.proof.columns()[0], solution.assignment
    if assignment is None:
        return ()
    loads, of_topic = assignment.loads, topic_levels(group, level)
    counted = (group.partitions > 0) & (group.readers > 0)
    blocks = []
    for value in np.unique(level)[::-1].tolist():
        members = np.flatnonzero(level == value)
        topics = np.flatnonzero(counted & (of_topic == value))
        blocks.append(
            Block(
                members=tuple(members.tolist()),
                topics=tuple(topics.tolist()),
                partitions=int(group.partitions[topics].sum()),
                floor=max(value, 0),
                ceiling=value + 1,
                least=int(loads[members].min()),
                most=int(loads[members].max()),
            )
        )
    return tuple(blocks)


def topic_levels(group: Group, level: Int64) -> Int64:
    """Return the least level of each topic's readers, (topics,) int64; of no reader, the most."""
    most = np.iinfo(np.int64).max
    of_row = np.full(len(group.row_size), most)
    np.minimum.at(of_row, group.subscription_row, level)
    found = np.full(len(group.topics), most)
    listed = np.repeat(of_row, np.diff(group.subscription_indptr))
    np.minimum.at(found, group.subscription_topics, listed)
    return found
