"""Move levels: the certificate of a best balance within a budget on moves, and bounds without one.

For every k, a set of members proves how many partitions are above k. It counts partitions that
nobody outside the set reads; or it also counts partitions that its members own, less the budget,
since each that leaves the set takes a move. One level per member gives the sets of all k: the
members whose level is k or more.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from groups.assignment import Assignment
from optimal.audit import shown_above

if TYPE_CHECKING:
    from groups.arrays import Bools, Int32, Int64
    from groups.group import Group


# Beyond so many members times loads, no bound is computed without a certificate.
MOST_CELLS = 10**7


@dataclass(frozen=True, eq=False)
class Held:
    """An assignment, restricted to the partitions that somebody reads.

    Attributes
    ----------
    topic, holder, owner : (read,) int64, owner -1 where nobody
    """

    assignment: Assignment
    topic: Int64
    holder: Int64
    owner: Int64

    @staticmethod
    def of(assignment: Assignment) -> Held:
        """Return the columns of an assignment."""
        group, holder = assignment.group, assignment.owner
        read = np.flatnonzero(holder >= 0)
        columns = (group.topic[read], holder[read], group.owner[read])
        return Held(assignment, *(column.astype(np.int64) for column in columns))

    @property
    def group(self) -> Group:
        """The group of the assignment."""
        return self.assignment.group

    @property
    def loads(self) -> Int64:
        """(members,) int64: how many partitions each member holds."""
        return self.assignment.loads

    @cached_property
    def moved(self) -> Bools:
        """(read,) bool: whether a partition has left its owner."""
        return np.asarray((self.owner >= 0) & (self.owner != self.holder), bool)

    def levels(self) -> Int64:
        """Return the levels that prove the assignment best within its moves, if any levels do.

        (members,) int64. If a set spends the budget, every partition that moved leaves it: it
        contains all members that gave one up, and none that got one.
        """
        every, unowned = np.ones(len(self.owner), bool), self.owner < 0
        givers, got = self.owner[self.moved], self.holder[self.moved]
        gave = int(self.loads[givers].min(initial=self.loads.max(initial=0)))
        start = self.loads - 1
        free = self.closed(start, every)
        start[givers] = np.maximum(start[givers], gave)
        paid = self.closed(start, unowned)
        least = int(paid[got].max(initial=0)) + 1
        level = np.where(paid >= least, paid, np.minimum(free, least - 1))
        return np.where(free > gave, free, level)

    def closed(self, level: Int64, wanted: Bools) -> Int64:
        """Raise levels until all readers of a wanted partition have at least its holder's level.

        Parameters
        ----------
        level : (members,) int64; wanted : (read,) bool
        """
        group, rows = self.group, len(self.group.subscription_indptr) - 1
        entry_row = group.subscriptions.entry_row
        pairs = np.unique(self.topic[wanted] * len(level) + self.holder[wanted])
        topic, holder = np.divmod(pairs, max(len(level), 1))
        while True:
            of_topic = np.full(len(group.topics), -1, np.int64)
            np.maximum.at(of_topic, topic, level[holder])
            of_row = np.full(rows, -1, np.int64)
            np.maximum.at(of_row, entry_row, of_topic[group.subscription_topics])
            raised = np.maximum(level, of_row[group.subscription_row])
            if np.array_equal(raised, level):
                return raised
            level = raised

    def least(self, level: Int64, most: int) -> Int64:
        """Return the best bounds for every k, (greatest load + 1,), by these and other levels."""
        owned, loads = self.group.owned, self.loads
        tried = (level, loads, loads - 1, owned, owned - 1, np.maximum(owned, loads))
        proved = [shown_above(self.assignment, one, most)[1] for one in tried]
        return np.asarray(np.max(proved, axis=0), np.int64)


def proved_within(
    group: Group, owner: Int32, most: int, *, needed: bool
) -> tuple[Int64 | None, int]:
    """Return the levels that prove an assignment best, None if none do, and a bound on balance.

    Parameters
    ----------
    owner : (all partitions,) int32, within the budget
    most : the budget on moves
    needed : whether the levels must also prove that fewer moves cost balance
    """
    held = Held.of(Assignment(group, owner))
    level = held.levels()
    above, least, needs_all = shown_above(held.assignment, level, most)
    even = bool((least >= above).all())
    bound = least_balance(least if even else held.least(level, most), len(group.members))
    if even and (not needed or needs_all.any() or not held.moved.any()):
        return level, bound
    return None, bound


def least_balance(least: Int64, members: int) -> int:
    """Return a lower bound on KIP-54's score from lower bounds on the partitions above every k.

    The j fullest members hold at least the minimum over k of jk + (partitions above k). Whether
    the score is an even number depends on the numbers of members and partitions only.

    Parameters
    ----------
    least : (greatest load + 1,) int64; its first is the number of all partitions

    Returns
    -------
    the bound; 0 if members times loads are more than 10^7
    """
    if len(least) * members > MOST_CELLS:
        return 0
    k = np.arange(len(least))
    fullest = [int((j * k + least).min()) for j in range(1, members)]
    found = max(0, 2 * sum(fullest) - (members - 1) * int(least[0]))
    return found + (found - (members - 1) * int(least[0])) % 2
