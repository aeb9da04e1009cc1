"""Values: what an assignment of every group of a fleet costs in each flow tier, by columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from groups.columns.parts import sums

if TYPE_CHECKING:
    from groups.arrays import Int32, Int64
    from groups.fleet import Fleet
    from groups.tiers import Objective


def values_of(fleet: Fleet, owner: Int32, loads: Int64, objective: Objective) -> Int64:
    """Return the value of each tier, as `groups.tiers` has it: (groups, tiers) int64.

    The assignment need not be valid.

    Parameters
    ----------
    owner : (all partitions,) int32, index among the members of the fleet, -1 nobody
    loads : (members,) int64, how many partitions each of them holds
    objective : flow tiers
    """
    found = np.zeros((len(fleet), len(objective)), np.int64)
    for at, tier in enumerate(objective):
        found[:, at] = _value(fleet, owner, loads, tier)
    return found


def _value(fleet: Fleet, owner: Int32, loads: Int64, tier: str) -> Int64:
    group, start = fleet.group, fleet.partition_start
    if tier == "balance":
        return _balance(fleet, loads)
    if tier == "topic_balance":
        return _topic_balance(fleet, owner)
    if tier == "racks":
        racks = group.racks
        if racks is None:
            return np.zeros(len(fleet), np.int64)
        held = np.flatnonzero(owner >= 0)
        far = np.zeros(len(owner), bool)
        far[held] = racks.misses(owner[held], held)
        return sums(far, start)
    moved = (owner != group.owner) & (owner >= 0) & (group.owner >= 0)
    if tier == "stickiness":
        return sums(moved, start)
    if group.weight is None:
        return np.zeros(len(fleet), np.int64)
    return sums(np.where(moved, group.weight, 0), start)


def _balance(fleet: Fleet, loads: Int64) -> Int64:
    """(groups,) int64: KIP-54's score, the sum over pairs of the difference of their loads."""
    group, start = fleet.member_group, fleet.member_start
    most = int(loads.max(initial=0)) + 1
    key = group * most + loads
    key.sort()
    ascending = key - group * most
    rank = np.arange(len(loads)) - start[group]
    last = np.diff(start)[group] - 1
    return sums((2 * rank - last) * ascending, start)


def _topic_balance(fleet: Fleet, owner: Int32) -> Int64:
    held, width = np.flatnonzero(owner >= 0), max(len(fleet.group.members), 1)
    key = fleet.group.topic[held].astype(np.int64) * width + owner[held]
    of, shares = np.unique(key, return_counts=True)
    squares = np.zeros(len(fleet.group.topics), np.int64)
    np.add.at(squares, of // width, shares * shares)
    return sums(squares, fleet.topic_start)
