"""Tier flows: one cheapest flow per tier, each among the cheapest flows of all earlier tiers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from groups.arrays import order_by, ranks
from groups.columns.places import PLACE_KINDS
from groups.tiers import SQUARED_LOADS, TIERS, cost_of, is_laminar, places_of
from optimal.flow.flows import CONVEX
from optimal.flow.group_network import Layout, network_of
from optimal.flow.paths import Counts
from optimal.networks import by_steps, cheapest, face, is_long, least_squares, potentials
from optimal.proof import heights_of

# Below this, a cost and its tie-breaker are minimised in one flow; above, the sum might leave the
# solver's range.
MOST_COMBINED = 2**31

if TYPE_CHECKING:
    from groups.arrays import Bools, Int64
    from groups.group import Group
    from groups.tiers import Cost
    from optimal.flow.flows import Stages
    from optimal.flow.levels import Blocks
    from optimal.flow.paths import Paths
    from optimal.flow.pools import Pools
    from optimal.networks import Network
    from optimal.time_left import TimeLeft


def tier_flows(
    group: Group,
    pools: Pools,
    blocks: Blocks,
    paths: Paths,
    stages: Stages,
    *,
    flowing: Bools,
    time_left: TimeLeft,
    settle_ties: bool = True,
) -> tuple[Counts, list[Int64], list[Int64], bool]:
    """Return the flow that is cheapest in all tiers, one after the other, and its prices.

    Parameters
    ----------
    flowing : (blocks,) bool, the blocks to solve; in others all counts and prices are 0
    settle_ties : of equally good loads, take those in which the first members carry more;
        otherwise any

    Returns
    -------
    How many partitions take each path; the prices of members in each of the flow stages,
    (members,) int64, 0 in convex ones; the asks of all `optimal.proof.heights_of` in each of the
    flow stages, as in `optimal.flow.flows.Flows.asks`; and False if balance comes after a tier of
    places and loads may not be most even.
    """
    prices = [np.zeros(len(group.members), np.int64) for _ in stages.flows]
    every = heights_of(group, stages.flows) if is_laminar(stages.tiers) else []
    asks = [np.zeros(sum(len(h.over) for h in every), np.int64) for _ in stages.flows]
    if not flowing.any():
        return Counts.none(paths), prices, asks, True
    heights = tuple(height for height in every if height.kind in PLACE_KINDS)
    layout = Layout.of(paths, pools, blocks, flowing, heights)
    network = network_of(paths, pools, blocks, layout, levelled=stages.levelled)
    # In a block whose members all carry the same, there is no tie between loads.
    uneven = not stages.levelled or bool((flowing & (blocks.extra > 0)).any())
    settled = not (settle_ties and uneven)
    first = np.zeros(layout.arcs, np.int64) if settled else _first_members_first(paths, layout)
    part = layout.block_of_nodes(paths, blocks)
    flow: Int64 | None = None
    ties_are_broken, is_levelled = False, True
    for index, tier in enumerate(stages.flows):
        if tier in CONVEX:
            squares = _squared(tier, stages, group, pools, paths, layout, network)
            if tier == "balance" and places_of(stages.flows[:index]):
                network, distance, is_levelled = squares.levelled(network, layout, time_left)
            else:
                _, network, distance = squares.least(network, time_left)
            flow, ties_are_broken = None, False
        else:
            cost = _costs(cost_of(tier), group, paths, layout)
            if settle_ties:
                flow, distance, ties_are_broken = _cheapest(network, cost, first, part, time_left)
            else:
                flow = cheapest(network, cost, time_left)
                distance = potentials(network, cost, flow)
            if index + 1 < len(stages.flows) or not settled:
                network = face(network, cost, distance)
        if is_laminar(stages.tiers):
            member, above = layout.prices(distance, paths.member_block)
            state = layout.part_prices(distance, paths, member)
            if tier == "balance":
                # In balance, places ask nothing and state asks what its member asks.
                state, above = member, np.zeros_like(above)
            below = (state, member) if every[0].kind == "state" else (member,)
            asks[index] = np.concatenate((*below, above))
        elif tier not in CONVEX:
            prices[index] = _prices(distance, pools, blocks, paths, layout)
    if flow is None or not (ties_are_broken or settled):
        if flow is not None and stages.levelled and not layout.heights:
            network = _where_loads_are_open(network, flow, part, blocks, layout)
        flow = cheapest(network, first, time_left)
    return layout.counts(paths, flow), prices, asks, is_levelled


def _first_members_first(paths: Paths, layout: Layout) -> Int64:
    """(arcs,) int64: a cost that breaks ties: on `carry` arcs, the rank of the member.

    It is least for the loads in which the first members carry more. These are unique: the loads of
    cheapest flows are the bases of an integral polymatroid, and with weights that all differ, only
    one base has the least cost.
    """
    *_, carry = layout.slices
    found = np.zeros(layout.arcs, np.int64)
    block = paths.member_block[layout.carry]
    if layout.heights:
        block = np.zeros(len(block), np.int64)
    found[carry.start + order_by(block)] = ranks(np.bincount(block))
    return found


def _cheapest(
    network: Network, cost: Int64, first: Int64, part: Int64, time_left: TimeLeft
) -> tuple[Int64, Int64, bool]:
    """Return a cheapest flow, its potentials, (nodes,) int64, and whether it breaks ties.

    Parameters
    ----------
    first : (arcs,) int64, the cost that breaks ties
    part : (nodes,) int64, the block of each
    """
    dearest = int(np.abs(cost).max(initial=0))
    if dearest <= 1 and not is_long(network):
        found = by_steps(network, cost, part, time_left)
        if found is not None:
            return *found, False
    scale = int(first.max(initial=0)) + 1
    ties_are_broken = dearest * scale < MOST_COMBINED
    flow = cheapest(network, cost * scale + first if ties_are_broken else cost, time_left)
    return flow, potentials(network, cost, flow), ties_are_broken


def _where_loads_are_open(
    network: Network, flow: Int64, part: Int64, blocks: Blocks, layout: Layout
) -> Network:
    """Return the network with the flow fixed in blocks whose loads are settled.

    Parameters
    ----------
    network : of all flows that are as cheap as the one found, (arcs,) int64
    part : (nodes,) int64, the block of each
    """
    *_, carry = layout.slices
    free = (network.upper > network.lower)[carry]
    of_free = part[network.tail[carry][free]]
    is_open = (np.bincount(of_free, minlength=len(blocks.floor)) > 1) & (blocks.extra > 0)
    settled = ~is_open[part[network.tail]]
    return replace(
        network,
        lower=np.where(settled, flow, network.lower),
        upper=np.where(settled, flow, network.upper),
    )


def _costs(cost: Cost, group: Group, paths: Paths, layout: Layout) -> Int64:
    """(arcs,) int64: what a partition costs on each arc; staying earns what leaving would cost."""
    stay, read, _, _ = layout.slices
    owned, found = paths.owned, np.zeros(layout.arcs, np.int64)
    found[stay] -= cost.of_leaving(group, owned.sample[layout.stay])
    if cost.far:
        found[stay] += owned.far[layout.stay]
        found[read] += paths.far[layout.read]
    return found


@dataclass(frozen=True, eq=False)
class _Squares:
    """A sum of squares over some arcs of a network.

    Attributes
    ----------
    arcs : indices of the arcs
    kept : partitions that are added to the flow of each before it is squared
    guess : the flow of each to start from
    weight : the factor of each square, None: 1; (len(arcs),) int64 each
    """

    arcs: Int64
    kept: Int64
    guess: Int64
    weight: Int64 | None = None

    def least(
        self, network: Network, time_left: TimeLeft, near: Int64 | None = None
    ) -> tuple[Int64, Network, Int64]:
        """Return what `least_squares` does; `near`, (all arcs,), is a flow to start from."""
        guess = self.guess if near is None else near[self.arcs]
        return least_squares(network, self.arcs, self.kept, guess, time_left, weight=self.weight)

    def levelled(
        self, network: Network, layout: Layout, time_left: TimeLeft
    ) -> tuple[Network, Int64, bool]:
        """Return the network of the most even loads, potentials, and whether none are more even.

        That is so if loads are as even without bounds on places: then the prices of places are 0.
        """
        found, narrowed, distance = self.least(network, time_left)
        freed = layout.with_lifts(network, None)
        freely, of_freed, without = self.least(freed, time_left, found)
        squares = [int(((self.kept + flow[self.arcs]) ** 2).sum()) for flow in (found, freely)]
        if squares[0] > squares[1]:
            return narrowed, distance, False
        return layout.with_lifts(of_freed, network), without, True


def _squared(
    tier: str,
    stages: Stages,
    group: Group,
    pools: Pools,
    paths: Paths,
    layout: Layout,
    network: Network,
) -> _Squares:
    """Return the sum of squares that a convex tier minimises."""
    _, _, join, carry = layout.slices
    kept = pools.class_kept[pools.member_class]
    place = TIERS[tier].place
    if place is not None:
        at = stages.places.index(place)
        one, lift = layout.heights[at].places, layout.lifts[at]
        had, size = one.loads(kept), one.loads(np.ones_like(kept))
        even = size * (int(had.sum()) + int(pools.counts.sum())) // max(len(kept), 1)
        weight = np.array(one.weight, np.int64)
        return _Squares(np.arange(lift.start, lift.stop), had, np.maximum(even - had, 0), weight)
    if tier in SQUARED_LOADS:
        through = np.bincount(
            paths.join_member[layout.join], network.lower[join], len(paths.member_block)
        )
        average = (int(kept.sum()) + int(pools.counts.sum())) // max(len(kept), 1)
        guess = np.where(through > 0, through, np.maximum(average - kept, 0)).astype(np.int64)
        arcs = np.arange(carry.start, carry.stop)
        return _Squares(arcs, kept[layout.carry], guess[layout.carry])
    parts, part = stages.parts(group), paths.part[layout.join]
    size = np.bincount(parts, minlength=int(part.max(initial=0)) + 1)
    even = size // np.maximum(np.bincount(part, minlength=len(size)), 1)
    arcs = np.flatnonzero((part == 1) | (tier == "topic_balance"))
    part = part[arcs]
    kept = np.flatnonzero(pools.kept)
    held = np.sort(parts[kept].astype(np.int64) * len(group.members) + group.owner[kept])
    key = part * len(group.members) + paths.join_member[layout.join][arcs]
    carried = np.searchsorted(held, key, side="right") - np.searchsorted(held, key)
    return _Squares(join.start + arcs, carried, np.maximum(even[part] - carried, 0))


def _prices(distance: Int64, pools: Pools, blocks: Blocks, paths: Paths, layout: Layout) -> Int64:
    """(members,) int64: the price of each member from the potentials of a flow.

    It has to be 0 or more if a member must carry the most that its level allows: in blocks whose
    members all carry the same, where shifting all prices of the block is free, and for members
    that already keep so much, to which nothing else can go.
    """
    block = paths.member_block
    member = distance[layout.first_member : layout.first_place]
    price = distance[layout.first_sink + block] - member
    least = np.full(len(blocks.floor), np.iinfo(np.int64).max)
    np.minimum.at(least, block, price)
    price = price - np.where(blocks.extra[block] == 0, least[block], 0)
    full = pools.class_kept[pools.member_class] > np.maximum(blocks.level[block], 0)
    return np.where(full, np.maximum(price, 0), price)
