"""The hand-out: from how many partitions take each path to the owner of each partition."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from groups.arrays import NOBODY
from optimal.networks.order import order_by, ranks

if TYPE_CHECKING:
    from groups.arrays import Int32
    from groups.group import Group
    from optimal.flow.paths import Counts, Paths
    from optimal.flow.pools import Pools


def hand_out(group: Group, pools: Pools, paths: Paths, counts: Counts) -> Int32:
    """Return who gets each partition, (partitions,) int32, -1 where nobody reads it.

    In ascending order of partitions, so that the same group gets the same answer: of what one
    member owns of a pool the first stay; the others of the pool go round its classes, and what a
    class gets goes round its members.
    """
    owned = paths.owned
    owner = np.where(pools.kept, group.owner, NOBODY)
    all_stay = np.append(counts.stay == owned.count, False)[owned.of_partition]
    owner[all_stay] = group.owner[all_stay]
    some_stay = (counts.stay > 0) & (counts.stay < owned.count)
    held = np.flatnonzero(np.append(some_stay, False)[owned.of_partition])
    held = held[order_by(owned.of_partition[held])]
    first = held[ranks(owned.count[some_stay]) < counts.stay[owned.of_partition[held]]]
    owner[first] = group.owner[first]
    left = np.flatnonzero((pools.pool >= 0) & (owner < 0))
    left = left[order_by(pools.pool[left])]
    by_pool = np.lexsort((paths.read_by, paths.read_pool))
    taker = np.repeat(paths.read_by[by_pool], counts.read[by_pool])
    if paths.apart:
        owner[left] = paths.join_member[taker]
    else:
        owner[left[order_by(taker)]] = np.repeat(paths.join_member, counts.join)
    return owner.astype(np.int32)
