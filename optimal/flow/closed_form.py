"""The closed form for blocks in which every member reads every partition."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from groups.arrays import order_by, ranks
from optimal.flow.paths import Counts

if TYPE_CHECKING:
    from groups.arrays import Bools, Int32, Int64
    from groups.group import Group
    from optimal.flow.levels import Blocks
    from optimal.flow.paths import Paths
    from optimal.flow.pools import Pools


# What is looked up at once stays in the processor's cache.
AT_ONCE = 2**16


def whole(pools: Pools, blocks: Blocks) -> Bools:
    """(blocks,) bool: whether nobody outside the block reads in it, nor the other way round."""
    of_pool, of_class = blocks.of_pool[pools.read_pool], blocks.of_class[pools.read_by]
    crossing = of_pool != of_class
    found = np.ones(len(blocks.floor), bool)
    found[of_pool[crossing]] = found[of_class[crossing]] = False
    return found


def deal(group: Group, pools: Pools, blocks: Blocks) -> tuple[Int32, Int64]:
    """Return (owner of each partition, price of each member) where no part needs a flow.

    Only members above their place give anything up, the last partitions they own; what is free
    goes, in ascending order, to the members of its block in order.
    """
    block = blocks.of_class[pools.member_class]
    owned, all_owned = group.owned, int(group.owned.sum()) == group.n_partitions
    kept, given, price = closed_form(block, owned, blocks.floor, blocks.extra)
    members = order_by(block).astype(np.int32)
    if not (owned.any() or pools.some_unread or len(blocks.floor) > 1):
        return np.repeat(members, given[members]), price
    above = owned > kept
    owner, free = group.owner.copy(), np.empty(0, np.int64)
    if above.any():
        theirs = _owned_by(above, owner)
        theirs = theirs[order_by(owner[theirs])]
        given_up = ranks(owned[above]) >= np.repeat(kept[above], owned[above])
        free = np.sort(theirs[given_up])
        owner[free] = -1
    if not all_owned:
        free = np.flatnonzero(owner < 0)
    if pools.some_unread:
        free = free[pools.pool[free] >= 0]
    if len(blocks.floor) > 1:
        free = free[order_by(blocks.of_pool[pools.pool[free]])]
    owner[free] = np.repeat(members, given[members])
    return owner, price


def _owned_by(chosen: Bools, owner: Int32) -> Int64:
    """Return the partitions, ascending, whose owner is among the chosen members."""
    table = np.append(chosen, False)
    return np.concatenate(
        [
            np.flatnonzero(table.take(owner[start : start + AT_ONCE])) + start
            for start in range(0, max(len(owner), 1), AT_ONCE)
        ]
    )


def closed_counts(
    pools: Pools, blocks: Blocks, paths: Paths, closed: Bools
) -> tuple[Counts, Int64]:
    """Return how many partitions take each path, and the price of each member.

    Each member keeps the first of what it owned; what is left of a pool goes to the one class
    that reads it.

    Parameters
    ----------
    closed : (blocks,) bool, the blocks of one class to look at; elsewhere all is 0
    """
    owned, block = paths.owned, paths.member_block
    if not closed.any():
        return Counts.none(paths), np.zeros(len(block), np.int64)
    members = np.flatnonzero(closed[block])
    held = np.bincount(owned.owner, owned.count, len(block)).astype(np.int64)
    kept, given, price = np.zeros((3, len(block)), np.int64)
    kept[members], given[members], price[members] = closed_form(
        block[members], held[members], blocks.floor, blocks.extra
    )
    order = order_by(owned.owner)
    holder, count = owned.owner[order], owned.count[order]
    before = np.cumsum(count) - count
    before -= before[np.searchsorted(holder, holder)]
    stay = np.empty(len(order), np.int64)
    stay[order] = np.clip(kept[holder] - before, 0, count)
    left = pools.counts - np.bincount(owned.pool, stay, len(pools.counts)).astype(np.int64)
    read = np.where(closed[blocks.of_pool[paths.read_pool]], left[paths.read_pool], 0)
    return Counts(stay, read, given[paths.join_member]), price


def closed_form(
    block: Int64, owned: Int64, floor: Int64, extra: Int64
) -> tuple[Int64, Int64, Int64]:
    """Return (kept, given, price) of members whose blocks need no flow, (members,) int64 each.

    The `extra` places above the floor go to those who own as much, then to the others, the first
    of each first; each keeps what fits its place and is given the rest. Prices follow from who
    owns how much: where more own above the floor than places are free, the others are worth one
    less; else those who own above their place cost one more.

    Parameters
    ----------
    block : (members,) int64, block of each member
    owned : (members,) int64, partitions of the block that each owns
    floor, extra : (blocks,) int64
    """
    low, more = floor[block], extra[block]
    rank = np.empty(len(block), np.int64)
    rank[order_by(2 * block + (owned <= low))] = ranks(np.bincount(block, minlength=len(floor)))
    place = low + (rank < more)
    kept = np.minimum(owned, place)
    above_floor = np.bincount(block[owned > low], minlength=len(floor))
    contested = (above_floor > extra)[block] & (more > 0)
    above = owned > low + (more > 0)
    price = np.where(contested, -(owned <= low).astype(np.int64), above)
    return kept, place - kept, price
