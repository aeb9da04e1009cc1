"""Cheapest readers: what the tiers before balance leave to each partition."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from groups.columns.topic_lists import entries
from groups.errors import BadInput
from groups.tiers import cost_of

if TYPE_CHECKING:
    from groups.arrays import Bools, Int64
    from groups.columns.racks import Racks
    from groups.group import Group
    from groups.tiers import Objective
    from optimal.flow.lots import Lots

SAFE = 2**62


def cheapest_readers(
    group: Group, before: Objective, lots: Lots, racks: Racks | None
) -> tuple[Bools, Bools]:
    """Return which partitions stay with their owner, and which lots go to near readers only.

    Staying costs a partition at most its distance from the owner's rack, leaving what it weighs
    and its distance from the nearest reader. What costs the same stays open for later tiers.

    Parameters
    ----------
    before : the tiers before balance, each of which costs a partition by itself

    Returns
    -------
    (partitions,) and (lots,) bool

    Raises
    ------
    BadInput
        Where the costs of the tiers together would leave 64 bits.
    """
    kept, near_only = np.zeros(group.n_partitions, bool), np.zeros(len(lots.topic), bool)
    if not before:
        return kept, near_only
    moving, distance = _costs(group, before)
    lot = lots.spread(np.arange(len(lots.topic)))
    held = np.flatnonzero((group.owner >= 0) & (lot >= 0))
    far_owner = np.zeros(len(held), bool)
    if distance and racks is not None:
        near_only = _has_near_reader(group, lots, racks)
        far_owner = racks.misses(group.owner[held], held)
    staying = distance * far_owner
    leaving = moving[held] + distance * ~near_only[lot[held]]
    kept[held[staying < leaving]] = True
    return kept, near_only


def _costs(group: Group, before: Objective) -> tuple[Int64, int]:
    """(what it costs each partition to move, what it costs to be in a rack without a replica).

    (partitions,) int64 and an integer; one unit of a tier is more than all later tiers cost.
    """
    every = np.arange(group.n_partitions)
    moving, distance, rest = np.zeros(len(every), np.int64), 0, 0
    for tier in reversed(before):
        unit, cost = rest + 1, cost_of(tier)
        rest += unit * cost.greatest(group)
        if rest >= SAFE:
            raise BadInput(f"objective: the costs of {' > '.join(before)} leave 64 bits")
        moving += unit * cost.of_leaving(group, every)
        distance += unit * cost.far
    return moving, distance


def _has_near_reader(group: Group, lots: Lots, racks: Racks) -> Bools:
    """(lots,) bool: whether some reader's rack holds a replica."""
    member, topic = group.subscription_pairs
    readers = np.argsort(topic, kind="stable")
    starts = np.searchsorted(topic[readers], np.arange(len(group.topics) + 1))
    lot, reader = entries(starts, member[readers], lots.topic)
    near = ~racks.lack(lots.replicas[lot], racks.member[reader])
    found = np.zeros(len(lots.topic), bool)
    found[lot[near]] = True
    return found
