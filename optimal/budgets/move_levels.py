"""Move levels: the certificate of a best balance within a budget on moves, and bounds without one.

For every k, a set of members proves how many partitions are above k. It counts partitions that
nobody outside the set reads; or it also counts partitions that its members own, less the budget,
since each that leaves the set takes a move. One level per member gives the sets of all k: the
members whose level is k or more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from groups.assignment import Assignment
from groups.fleet import Fleet
from optimal.audit import shown_above
from optimal.evidence import Evidence

if TYPE_CHECKING:
    from groups.arrays import Bools, Int32, Int64
    from groups.group import Group


# Beyond so many members times loads, no bound is computed without a certificate.
MOST_CELLS = 10**7


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
    evidence = Evidence(Fleet.one(group), Assignment(group, owner))
    level, owned, loads = _levels(evidence), group.owned, evidence.loads
    above, least, needs_all = shown_above(evidence, level, most)
    even = bool((least >= above).all())
    if not even:
        tried = (level, loads, loads - 1, owned, owned - 1, np.maximum(owned, loads))
        least = np.max([shown_above(evidence, one, most)[1] for one in tried], axis=0)
    bound = least_balance(least, len(group.members))
    if even and (not needed or needs_all.any() or not evidence.moved.any()):
        return level, bound
    return None, bound


def _levels(evidence: Evidence) -> Int64:
    """Return the levels that prove the assignment best within its moves, if any levels do.

    (members,) int64. If a set spends the budget, every partition that moved leaves it: it
    contains all members that gave one up, and none that got one.
    """
    loads, moved = evidence.loads, evidence.moved
    givers = evidence.group.owner[evidence.read][moved]
    got = evidence.held[evidence.read][moved]
    gave = int(loads[givers].min(initial=loads.max(initial=0)))
    start = loads - 1
    free = _closed(evidence, start, np.ones(len(moved), bool))
    start[givers] = np.maximum(start[givers], gave)
    paid = _closed(evidence, start, ~evidence.owned)
    least = int(paid[got].max(initial=0)) + 1
    level = np.where(paid >= least, paid, np.minimum(free, least - 1))
    return np.where(free > gave, free, level)


def _closed(evidence: Evidence, level: Int64, wanted: Bools) -> Int64:
    """Raise levels until all readers of a wanted partition have at least its holder's level.

    Parameters
    ----------
    level : (members,) int64; wanted : (read,) bool
    """
    group, entry_row = evidence.group, evidence.group.subscriptions.entry_row
    topic = group.topic[evidence.read][wanted].astype(np.int64)
    pairs = np.unique(topic * len(level) + evidence.held[evidence.read][wanted])
    topic, holder = np.divmod(pairs, max(len(level), 1))
    while True:
        of_topic = np.full(len(group.topics), -1, np.int64)
        np.maximum.at(of_topic, topic, level[holder])
        of_row = np.full(len(group.subscription_indptr) - 1, -1, np.int64)
        np.maximum.at(of_row, entry_row, of_topic[group.subscription_topics])
        raised = np.maximum(level, of_row[group.subscription_row])
        if np.array_equal(raised, level):
            return raised
        level = raised


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
