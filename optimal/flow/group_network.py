"""Group network: pools supply the partitions of a group, sinks of its blocks take them.

                                 stay
              +-------------------------------------------+
              |                                           v     carry
            pool ----------> class --------------------> member ------> sink
     its partitions   read               join             lo..hi       those of its block

A partition stays with its owner, as many at most as that one owns of the pool, or goes to a class
of readers and on to one of its members. What a member carries to the sink of its block is bounded
by its level. Where a tier looks inside topics, a class is one reader of one topic, and what stays
with an owner goes through the owner's class too.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

import numpy as np

from optimal.flow.paths import Counts
from optimal.networks.network import Network

if TYPE_CHECKING:
    from groups.arrays import Bools, Int64
    from optimal.flow.levels import Blocks
    from optimal.flow.paths import Paths
    from optimal.flow.pools import Pools


@dataclass(frozen=True, eq=False)
class Layout:
    """What the nodes and arcs of a network stand for, kind after kind.

    Attributes
    ----------
    flowing : (blocks,) bool, the blocks that have arcs
    stay, read, join, carry : (arcs of the kind,) int64, which path each arc is; of `carry`
        which member
    first_class, first_member, first_sink : nodes; the pools are from 0 on
    """

    flowing: Bools
    stay: Int64
    read: Int64
    join: Int64
    carry: Int64
    first_class: int
    first_member: int
    first_sink: int

    @staticmethod
    def of(paths: Paths, pools: Pools, blocks: Blocks, flowing: Bools) -> Layout:
        """Lay out the arcs of some blocks, (blocks,) bool; the nodes of the others stay idle."""
        of_pool, of_member = flowing[blocks.of_pool], flowing[paths.member_block]
        first_class = len(pools.counts)
        first_member = first_class + paths.classes
        return Layout(
            flowing=flowing,
            stay=np.flatnonzero(of_pool[paths.owned.pool]),
            read=np.flatnonzero(of_pool[paths.read_pool]),
            join=np.flatnonzero(of_member[paths.join_member]),
            carry=np.flatnonzero(of_member),
            first_class=first_class,
            first_member=first_member,
            first_sink=first_member + len(paths.member_block),
        )

    @property
    def slices(self) -> tuple[slice, slice, slice, slice]:
        """Where the arcs of each kind are: `stay`, `read`, `join` and `carry`."""
        sizes = map(len, (self.stay, self.read, self.join, self.carry))
        stay, read, join, carry = (slice(*ends) for ends in pairwise(accumulate(sizes, initial=0)))
        return stay, read, join, carry

    def block_of_nodes(self, paths: Paths, blocks: Blocks) -> Int64:
        """Return the block of each node, (nodes,) int64."""
        members = paths.member_block
        of_class = np.zeros(paths.classes, np.int64)
        of_class[paths.join_class] = members[paths.join_member]
        return np.concatenate((blocks.of_pool, of_class, members, np.arange(len(blocks.floor))))

    def counts(self, paths: Paths, flow: Int64) -> Counts:
        """Return how many partitions take each path in a flow, (arcs,) int64."""
        stay, read, join, _ = self.slices
        return Counts(
            stay=_spread(flow[stay], self.stay, len(paths.owned.pool)),
            read=_spread(flow[read], self.read, len(paths.read_pool)),
            join=_spread(flow[join], self.join, len(paths.join_member)),
        )


def network_of(
    paths: Paths, pools: Pools, blocks: Blocks, layout: Layout, *, levelled: bool
) -> Network:
    """Build the network; where blocks have levels, those bound what members carry."""
    owned, endless = paths.owned, int(pools.counts.sum()) + 1
    read, join, carry = layout.read, layout.join, layout.carry
    entered = layout.first_class if paths.apart else layout.first_member
    supplied = np.where(layout.flowing[blocks.of_pool], pools.counts, 0)
    taken = np.bincount(blocks.of_pool, supplied, len(blocks.floor)).astype(np.int64)
    between = np.zeros(layout.first_sink - layout.first_class, np.int64)
    low, high = np.zeros(len(carry), np.int64), np.full(len(carry), endless)
    if levelled:
        kept = pools.class_kept[pools.member_class[carry]]
        level = blocks.level[paths.member_block[carry]]
        low, high = np.maximum(np.maximum(level, 0) - kept, 0), level + 1 - kept
    tails = (
        owned.pool[layout.stay],
        paths.read_pool[read],
        layout.first_class + paths.join_class[join],
        layout.first_member + carry,
    )
    heads = (
        entered + paths.enters[layout.stay],
        layout.first_class + paths.read_by[read],
        layout.first_member + paths.join_member[join],
        layout.first_sink + paths.member_block[carry],
    )
    uppers = (owned.count[layout.stay], np.full(len(read) + len(join), endless), high)
    lowers = (np.zeros(len(layout.stay) + len(read) + len(join), np.int64), low)
    return Network(
        tail=np.concatenate(tails),
        head=np.concatenate(heads),
        lower=np.concatenate(lowers),
        upper=np.concatenate(uppers),
        supply=np.concatenate((supplied, between, -taken)),
    )


def _spread(flow: Int64, paths: Int64, count: int) -> Int64:
    spread = np.zeros(count, np.int64)
    spread[paths] = flow
    return spread
