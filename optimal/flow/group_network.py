"""Group network: pools supply the partitions of a group, and the sinks of its blocks take them.

                                 stay
              +-------------------------------------------+
              |                                           v     carry
            pool ----------> class --------------------> member ------> sink
     its partitions   read               join             lo..hi       those of its block

                                        member ------> host ------> rack ------> sink
                                                carry        lift         lift

A partition stays with its owner, or goes to a class of readers and on to one of its members. What
a member carries to the sink of its block is bounded by its level. If a tier counts partitions per
topic, a class is one reader of one topic, and partitions that stay go through the owner's class,
too. If tiers count partitions per host or rack, what members carry goes through these to one sink.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

import numpy as np

from optimal.flow.paths import Counts
from optimal.networks import Network

if TYPE_CHECKING:
    from groups.arrays import Bools, Int64
    from optimal.flow.levels import Blocks
    from optimal.flow.paths import Paths
    from optimal.flow.pools import Pools
    from optimal.proof import Height


@dataclass(frozen=True, eq=False)
class Layout:
    """The meaning of the nodes and arcs of a network, kind after kind.

    Attributes
    ----------
    flowing : (blocks,) bool, the blocks that have arcs
    stay, read, join, carry : (arcs of the kind,) int64, the index of the path that each arc is; of
        `carry` the member
    heights : hosts, then racks, if tiers are about them
    first_class, first_member, first_place, first_sink : the first node of each kind; pools begin
        at node 0
    """

    flowing: Bools
    stay: Int64
    read: Int64
    join: Int64
    carry: Int64
    heights: tuple[Height, ...]
    first_class: int
    first_member: int
    first_place: int
    first_sink: int

    @staticmethod
    def of(
        paths: Paths,
        pools: Pools,
        blocks: Blocks,
        flowing: Bools,
        heights: tuple[Height, ...] = (),
    ) -> Layout:
        """Lay out the arcs of `flowing` blocks, (blocks,) bool; nodes of others have no arcs."""
        of_pool, of_member = flowing[blocks.of_pool], flowing[paths.member_block]
        first_class = len(pools.counts)
        first_member = first_class + paths.classes
        first_place = first_member + len(paths.member_block)
        return Layout(
            flowing=flowing,
            stay=np.flatnonzero(of_pool[paths.owned.pool]),
            read=np.flatnonzero(of_pool[paths.read_pool]),
            join=np.flatnonzero(of_member[paths.join_member]),
            carry=np.flatnonzero(of_member),
            heights=heights,
            first_class=first_class,
            first_member=first_member,
            first_place=first_place,
            first_sink=first_place + sum(len(height.over) for height in heights),
        )

    @property
    def slices(self) -> tuple[slice, slice, slice, slice]:
        """The ranges of the arcs of each kind: `stay`, `read`, `join` and `carry`."""
        sizes = map(len, (self.stay, self.read, self.join, self.carry))
        stay, read, join, carry = (slice(*ends) for ends in pairwise(accumulate(sizes, initial=0)))
        return stay, read, join, carry

    @property
    def lifts(self) -> tuple[slice, ...]:
        """The ranges of the arcs that leave the places of each kind."""
        start = self.slices[-1].stop
        sizes = (len(height.over) for height in self.heights)
        return tuple(slice(*ends) for ends in pairwise(accumulate(sizes, initial=start)))

    @property
    def arcs(self) -> int:
        """The number of arcs."""
        return int((self.slices[-1], *self.lifts)[-1].stop)

    def with_lifts(self, network: Network, other: Network | None) -> Network:
        """Return the network with the bounds of `other` on lifts; None: without bounds on them."""
        lower, upper, start = network.lower.copy(), network.upper.copy(), self.slices[-1].stop
        lower[start:] = 0 if other is None else other.lower[start:]
        upper[start:] = -network.supply.min() if other is None else other.upper[start:]
        return replace(network, lower=lower, upper=upper)

    def prices(self, distance: Int64, member_block: Int64) -> tuple[Int64, Int64]:
        """Return the prices of members and of places from the potentials of a flow."""
        sink = self.first_sink + (0 if self.heights else member_block)
        return (
            distance[sink] - distance[self.first_member : self.first_place],
            distance[self.first_sink] - distance[self.first_place : self.first_sink],
        )

    def part_prices(self, distance: Int64, paths: Paths, member: Int64) -> Int64:
        """(members,) the price of each member for part 1, its own price if it has none of it."""
        classes, prices = np.flatnonzero(paths.part == 1), member.copy()
        of = paths.join_member[classes]
        prices[of] += distance[self.first_member + of] - distance[self.first_class + classes]
        return prices

    def block_of_nodes(self, paths: Paths, blocks: Blocks) -> Int64:
        """Return the block of each node, (nodes,) int64; with places, all nodes are one block."""
        if self.heights:
            return np.zeros(self.first_sink + 1, np.int64)
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
    """Build the network; with `levelled`, the levels of blocks bound what members carry."""
    owned, endless = paths.owned, int(pools.counts.sum()) + 1
    read, join, carry = layout.read, layout.join, layout.carry
    entered = layout.first_class if paths.has_parts else layout.first_member
    supplied = np.where(layout.flowing[blocks.of_pool], pools.counts, 0)
    taken = np.bincount(blocks.of_pool, supplied, len(blocks.floor)).astype(np.int64)
    carried_to, lifted_to = layout.first_sink + paths.member_block[carry], np.empty(0, np.int64)
    if layout.heights:
        taken = taken.sum(keepdims=True)
        carried_to = layout.first_place + layout.heights[0].places.member[carry]
        sizes = accumulate(len(height.over) for height in layout.heights)
        ends = zip(sizes, layout.heights, strict=True)
        lifted_to = np.concatenate([layout.first_place + end + one.over for end, one in ends])
    between = np.zeros(layout.first_sink - layout.first_class, np.int64)
    lifting = len(lifted_to)
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
        layout.first_place + np.arange(lifting),
    )
    heads = (
        entered + paths.enters[layout.stay],
        layout.first_class + paths.read_by[read],
        layout.first_member + paths.join_member[join],
        carried_to,
        lifted_to,
    )
    uppers = (
        owned.count[layout.stay],
        np.full(len(read) + len(join), endless),
        high,
        np.full(lifting, endless),
    )
    lowers = (
        np.zeros(len(layout.stay) + len(read) + len(join), np.int64),
        low,
        np.zeros(lifting, np.int64),
    )
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
