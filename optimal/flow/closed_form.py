"""The closed form for blocks in which every member reads every partition, with places or not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from groups.arrays import frozen, order_by, ranks
from groups.tiers import SQUARED_LOADS
from optimal.flow.flows import Flows
from optimal.flow.paths import Counts

if TYPE_CHECKING:
    from groups.arrays import Bools, Int32, Int64
    from groups.group import Group
    from optimal.flow.flows import Stages
    from optimal.flow.levels import Blocks
    from optimal.flow.paths import Paths
    from optimal.flow.pools import Pools


# What a partition adds to the squares of a place stays below it.
MOST_STEP = 2**61


def are_separate(pools: Pools, blocks: Blocks) -> Bools:
    """(blocks,) bool: whether its members read its partitions only, and nobody else reads them."""
    of_pool, of_class = blocks.of_pool[pools.read_pool], blocks.of_class[pools.read_by]
    crossing = of_pool != of_class
    found = np.ones(len(blocks.floor), bool)
    found[of_pool[crossing]] = found[of_class[crossing]] = False
    return found


def even_in_blocks(group: Group, pools: Pools, blocks: Blocks, stages: Stages) -> Flows:
    """Return the best assignment if no block needs a flow, with levels and prices."""
    block = blocks.of_class[pools.member_class]
    kept, given, price = closed_form(block, group.owned, blocks.floor, blocks.extra)
    return Flows(
        owner=_hand_out(group, pools, blocks, kept, given),
        level=blocks.level[block],
        prices=[price] * len(stages.flows),
        in_closed_form=np.ones(len(block), bool),
    )


def _hand_out(group: Group, pools: Pools, blocks: Blocks, kept: Int64, given: Int64) -> Int32:
    """Return the owner of each partition.

    Members that keep fewer partitions than they own give up the last of these. Free partitions
    go, in ascending order, to the members of their block, in order.

    Parameters
    ----------
    kept, given : (members,) int64, how many partitions each member keeps and is given
    """
    block = blocks.of_class[pools.member_class]
    owned, all_owned = group.owned, int(group.owned.sum()) == group.n_partitions
    members = order_by(block).astype(np.int32)
    if not (owned.any() or pools.some_unread or len(blocks.floor) > 1):
        return frozen(np.repeat(members, given[members]))
    above = owned > kept
    owner, free = group.owner.copy(), np.empty(0, np.int64)
    if above.any():
        theirs = np.flatnonzero(np.append(above, False)[owner])
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
    return frozen(owner)


def closed_counts(
    pools: Pools, blocks: Blocks, paths: Paths, closed: Bools
) -> tuple[Counts, Int64]:
    """Return how many partitions take each path, and the price of each member.

    Each member keeps the first partitions that it owned; the others of a pool go to the one class
    that reads it.

    Parameters
    ----------
    closed : (blocks,) bool, the blocks of one class to compute; in other blocks all is 0
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

    A member's place is the number of partitions that it holds: the floor, or one more for `extra`
    members. These are members that own more than the floor, then others, in ascending order.
    Each member keeps up to its place and is given the rest. If more members own above the floor
    than `extra`, the others have the price -1 (unless `extra` is 0); otherwise members that own
    more than the greatest place have the price 1. All other prices are 0.

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


def even_on_places(group: Group, pools: Pools, blocks: Blocks, stages: Stages) -> Flows | None:
    """Return the best assignment if all members read alike, for a tier of hosts or racks.

    All hold the average rounded down, and some one more. The k-th of n members of a host to hold
    one more adds L (2k - 1) / n to the squares (a step): the least of all steps are taken. On each
    host, and among equal steps, members that own more than the average come first, then the first
    members (docs/explanation/proof.md, *Hosts and racks*).

    Returns
    -------
    None if members read differently, or steps may leave 64 bits.
    """
    if len(pools.class_size) != 1:
        return None
    (places,) = map(group.places, stages.places)
    at, owned, members = places.member, group.owned, len(group.members)
    low, extra = divmod(int(pools.counts.sum()), members)
    size = np.bincount(at, minlength=len(places.names))
    common = places.weight[0] * int(size[0])
    if 2 * common * (low + 1) >= MOST_STEP:
        return None
    below = owned <= low
    step = np.empty(members, np.int64)
    step[order_by(2 * at + below)] = 2 * ranks(size) + 1
    step *= np.array(places.weight, np.int64)[at]
    more = np.zeros(members, bool)
    more[np.lexsort((below, step))[:extra]] = True
    dearest = int(step[more].max(initial=0))
    # Whether an owner of more was refused a step as cheap as the dearest one taken.
    refused = bool((~more & ~below & (step == dearest)).any())
    above, taken = (np.bincount(at[chosen], minlength=len(size)) for chosen in (~below, more))
    place_price = (above >= taken if refused else above > taken) - np.int64(refused)
    kept = np.minimum(owned, low + more)
    price = np.where(owned > kept, 1 - refused, np.where(more, place_price[at], -refused))
    ask = 2 * common * low + dearest
    asks = {"stickiness": (price, place_price)}
    asks |= dict.fromkeys(SQUARED_LOADS, (np.full(members, 2 * low + 1), np.zeros_like(size)))
    asks[f"{stages.places[0]}_balance"] = np.full(members, ask), np.full(len(size), ask)
    return Flows(
        owner=_hand_out(group, pools, blocks, kept, low + more - kept),
        level=np.full(members, low),
        prices=[],
        in_closed_form=np.ones(members, bool),
        asks=[np.concatenate(asks[tier]) for tier in stages.flows],
    )
