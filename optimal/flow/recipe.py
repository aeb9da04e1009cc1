"""Flow: every objective made of flow tiers.

Tiers that cost each partition by itself and come first leave each partition its cheapest
readers; balance splits what is left into levels; the other tiers are cheapest flows, one after
the other, over pools and classes (DESIGN sections 2 to 4).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from groups.group import NOBODY, among, frozen
from optimal.answer import Answer
from optimal.flow.cheapest import Network, cheapest, face, least_squares, potentials
from optimal.flow.closed_form import all_closed, closed_form, deal, whole_blocks
from optimal.flow.columns import Columns
from optimal.flow.levels import Blocks, components, levels
from optimal.flow.order import numbered, order_by
from optimal.flow.pools import Pools, pools_of
from optimal.solution import Proof, ProofKind

if TYPE_CHECKING:
    from groups.group import Bools, Group, Int64
    from groups.tiers import Objective
    from optimal.time_left import TimeLeft

SAFE = 2**62
CONVEX = ("balance", "topic_balance")


def flow(
    group: Group, objective: Objective, time_left: TimeLeft, *, closed: bool = True
) -> Answer:
    """Solve a group for an objective of flow tiers.

    Parameters
    ----------
    closed : use the closed form for parts in which all members read alike

    Raises
    ------
    BadInput
        Where costs would leave 64 bits.
    OutOfTime
        Where the time limit passes between two flows.
    """
    tiers = objective if set(objective) & set(CONVEX) else (*objective, "balance")
    if tiers == ("balance",):
        # The certificate of balance alone is that of balance > stickiness: move nothing for it.
        tiers = ("balance", "stickiness")
    first = min(tiers.index(tier) for tier in CONVEX if tier in tiers)
    before, rest = tiers[:first], tiers[first:]
    apart, with_racks = "topic_balance" in tiers, "racks" in tiers
    columns = Columns.of(group, with_racks=with_racks)
    pools = pools_of(columns, before, apart=apart, with_racks=with_racks)
    levelled = rest[0] == "balance"
    if levelled:
        blocks, rest = levels(pools, time_left), rest[1:]
    else:
        blocks = _unlevelled(pools)
    may_close = closed and not before and set(rest) <= {"stickiness"} and not (apart or with_racks)
    level = blocks.level[blocks.of_class][pools.member_class]
    if may_close and all_closed(pools, blocks):
        owner, price = deal(columns, pools, blocks)
        proof = _proofs(objective, level, [price] * len(rest), [columns.partitions] * len(rest))
        nothing = (None,) * len(objective)
        return Answer(frozen(owner), nothing, proof=proof, method="closed-form")
    plan = _Plan.of(columns, pools, blocks, rest, levelled=levelled, apart=apart)
    single = np.bincount(blocks.of_class, minlength=len(blocks.floor)) == 1
    in_closed_form = single if may_close else np.zeros_like(single)
    prices, scale = plan.solve(rest, in_closed_form, time_left)
    alone = in_closed_form & whole_blocks(pools, blocks)
    return Answer(
        owner=frozen(plan.hand_out().astype(np.int32)),
        bounds=(None,) * len(objective),
        proof=_proofs(objective, level, prices, scale),
        method="flow",
        closed=alone[blocks.of_class][pools.member_class],
    )


def _unlevelled(pools: Pools) -> Blocks:
    of_pool, of_class = components(pools)
    count = int(max(of_pool.max(initial=-1), of_class.max(initial=-1))) + 1
    nothing = np.zeros(count, np.int64)
    return Blocks(of_pool, of_class, nothing, nothing)


def _proofs(objective: Objective, level: Int64, prices: list[Int64], scale: list[int]) -> Proof:
    if objective == ("topic_balance",):
        return Proof(ProofKind.CERTIFICATE)
    if "topic_balance" in objective:
        return Proof(ProofKind.SOLVER)
    if "balance" not in objective:
        return Proof(ProofKind.CERTIFICATE)
    units = _units(prices, scale)
    if units is None:
        return Proof(ProofKind.SOLVER)
    price = np.zeros(len(level), np.int64)
    for unit, tier_price in zip(units, prices, strict=True):
        price += unit * tier_price
    return Proof(ProofKind.CERTIFICATE, level=level, price=price, scale=units)


def _units(prices: list[Int64], totals: list[int]) -> tuple[int, ...] | None:
    """Return what one unit of each tier counts in the common price, None beyond 64 bits.

    More than all later tiers together can cost, and more than their prices can differ, so that
    what an earlier tier ruled out stays ruled out.
    """
    units: list[int] = []
    rest = 0
    for price, total in zip(reversed(prices), reversed(totals), strict=True):
        units.append(rest + 1)
        steepest = 2 * int(np.abs(price).max(initial=0)) + 2
        rest += units[-1] * (total + steepest)
    return tuple(reversed(units)) if rest < SAFE else None


@dataclass(eq=False)
class _Plan:
    """How many partitions go where: by item to their owner, by edge to a slot, on to a member.

    An item is a pool's partitions of one owner (and one weight, where weights count). A slot is a
    class of members, or one member's part of a topic where a tier looks inside topics.
    """

    columns: Columns
    pools: Pools
    blocks: Blocks
    levelled: bool
    apart: bool
    item: Int64
    item_pool: Int64
    item_owner: Int64
    item_weight: Int64
    item_far: Bools
    item_slot: Int64
    edge_pool: Int64
    edge_slot: Int64
    edge_far: Bools
    slots: int
    out_slot: Int64
    out_member: Int64
    stay: Int64
    dealt: Int64
    given: Int64

    @staticmethod
    def of(
        columns: Columns,
        pools: Pools,
        blocks: Blocks,
        rest: Objective,
        *,
        levelled: bool,
        apart: bool,
    ) -> _Plan:
        inside = blocks.of_pool[pools.edge_pool] == blocks.of_class[pools.edge_class]
        edge_pool, edge_class, far = pools.among(inside)
        members = np.arange(columns.members)
        if apart:
            edge_pool, edge_slot, far, keys = _topic_slots(
                columns, pools, edge_pool, edge_class, far
            )
            out_slot, out_member, slots = np.arange(len(keys)), keys % columns.members, len(keys)
        else:
            edge_slot, keys, slots = edge_class, members[:0], len(pools.class_size)
            order = np.argsort(pools.member_class, kind="stable")
            out_slot, out_member = pools.member_class[order], order
        item, of_item = _items(columns, pools, inside, rest)
        item_pool, item_owner, item_weight, item_far = of_item
        item_slot = item_owner
        if apart:
            item_slot = np.searchsorted(
                keys, pools.pool_topic[item_pool] * columns.members + item_owner
            )
        return _Plan(
            columns=columns,
            pools=pools,
            blocks=blocks,
            levelled=levelled,
            apart=apart,
            item=item,
            item_pool=item_pool,
            item_owner=item_owner,
            item_weight=item_weight,
            item_far=item_far,
            item_slot=item_slot,
            edge_pool=edge_pool,
            edge_slot=edge_slot,
            edge_far=far,
            slots=slots,
            out_slot=out_slot,
            out_member=out_member,
            stay=np.zeros(len(item_pool), np.int64),
            dealt=np.zeros(len(edge_pool), np.int64),
            given=np.zeros(len(out_slot), np.int64),
        )

    def solve(
        self, rest: Objective, in_closed_form: Bools, time_left: TimeLeft
    ) -> tuple[list[Int64], list[int]]:
        """Find the flows; return the prices of each tier and the most that it can cost.

        Prices: (members,) int64 per tier.
        """
        totals = [self._most(tier) for tier in rest]
        prices = [np.zeros(self.columns.members, np.int64) for _ in rest]
        member_block = self.blocks.of_class[self.pools.member_class]
        closed_member = in_closed_form[member_block]
        if closed_member.any():
            closed_price = self._close(closed_member, member_block)
            for price in prices:
                price[closed_member] = closed_price
        if not closed_member.all():
            self._flow(rest, ~in_closed_form, prices, time_left)
        return prices, totals

    def _most(self, tier: str) -> int:
        if tier == "moved_weight" and self.columns.weight is not None:
            weights = self.columns.weight[self.columns.owner >= 0]
            return int(np.maximum(weights, 0).sum())
        return self.columns.partitions

    def _close(self, closed_member: Bools, member_block: Int64) -> Int64:
        """Fill in the parts in closed form; return their prices, (closed members,) int64."""
        counts = np.bincount(self.item[self.item >= 0], minlength=len(self.item_pool))
        owned = np.bincount(self.item_owner, counts, self.columns.members).astype(np.int64)
        members = np.flatnonzero(closed_member)
        kept, given, price = closed_form(
            member_block[members], owned[members], self.blocks.floor, self.blocks.extra
        )
        keeps = np.zeros(self.columns.members, np.int64)
        keeps[members] = kept
        gets = np.zeros(self.columns.members, np.int64)
        gets[members] = given
        closed_item = np.flatnonzero(closed_member[self.item_owner])
        closed_item = closed_item[np.argsort(self.item_owner[closed_item], kind="stable")]
        count, holder = counts[closed_item], self.item_owner[closed_item]
        sums = np.cumsum(count) - count
        first = np.searchsorted(holder, holder)
        earlier = sums - sums[first] if len(holder) else sums
        self.stay[closed_item] = np.clip(keeps[holder] - earlier, 0, count)
        in_closed = closed_member[self.out_member]
        self.given[in_closed] = gets[self.out_member[in_closed]]
        stays = np.bincount(self.item_pool, self.stay, len(self.pools.counts)).astype(np.int64)
        closed_slot = np.zeros(self.slots, bool)
        closed_slot[self.out_slot[in_closed]] = True
        edge = closed_slot[self.edge_slot]
        pool = self.edge_pool[edge]
        self.dealt[edge] = self.pools.counts[pool] - stays[pool]
        return price

    def _flow(
        self, rest: Objective, flowing: Bools, prices: list[Int64], time_left: TimeLeft
    ) -> None:
        pools, blocks = self.pools, self.blocks
        member_block = blocks.of_class[pools.member_class]
        item = np.flatnonzero(flowing[blocks.of_pool[self.item_pool]])
        edge = np.flatnonzero(flowing[blocks.of_pool[self.edge_pool]])
        out = np.flatnonzero(flowing[member_block[self.out_member]])
        member = np.flatnonzero(flowing[member_block])
        network, node = self._network(item, edge, out, member, flowing)
        sizes = np.cumsum([0, len(item), len(edge), len(out), len(member)])
        out_arcs, member_arcs = np.arange(sizes[2], sizes[3]), np.arange(sizes[3], sizes[4])
        found = None
        for index, tier in enumerate(rest):
            if tier in CONVEX:
                arcs = out_arcs if tier == "topic_balance" else member_arcs
                base, guess = self._squares(tier, network, out, member)
                found, network = least_squares(network, arcs, base, guess, time_left)
                continue
            cost = np.zeros(len(network.tail), np.int64)
            self._price_arcs(tier, cost[: sizes[1]], cost[sizes[1] : sizes[2]], item, edge)
            found = cheapest(network, cost, time_left)
            distance = potentials(network, cost, found)
            network = face(network, cost, distance)
            price = (
                distance[node["sink"] + member_block[member]] - distance[node["member"] + member]
            )
            prices[index][member] = self._lifted(price, member)
        if found is None:
            found = cheapest(network, np.zeros(len(network.tail), np.int64), time_left)
        self.stay[item] = found[: sizes[1]]
        self.dealt[edge] = found[sizes[1] : sizes[2]]
        self.given[out] = found[sizes[2] : sizes[3]]

    def _network(
        self, item: Int64, edge: Int64, out: Int64, member: Int64, flowing: Bools
    ) -> tuple[Network, dict[str, int]]:
        pools, columns, blocks = self.pools, self.columns, self.blocks
        names = ("pool", "slot", "member", "sink")
        counts = (len(pools.counts), self.slots, columns.members, len(blocks.floor))
        node = dict(zip(names, np.cumsum([0, *counts]).tolist(), strict=False))
        member_block = blocks.of_class[pools.member_class]
        item_count = np.bincount(self.item[self.item >= 0], minlength=len(self.item_pool))
        endless = int(pools.counts.sum()) + 1
        supplied = np.where(flowing[blocks.of_pool], pools.counts, 0)
        demand = np.bincount(blocks.of_pool, supplied, len(blocks.floor)).astype(np.int64)
        low, high = self._bounds(member, endless)
        item_head = self.item_slot[item] + node["slot" if self.apart else "member"]
        network = Network(
            tail=np.concatenate(
                (
                    self.item_pool[item],
                    self.edge_pool[edge],
                    self.out_slot[out] + node["slot"],
                    member + node["member"],
                )
            ),
            head=np.concatenate(
                (
                    item_head,
                    self.edge_slot[edge] + node["slot"],
                    self.out_member[out] + node["member"],
                    member_block[member] + node["sink"],
                )
            ),
            lower=np.concatenate((np.zeros(len(item) + len(edge) + len(out), np.int64), low)),
            upper=np.concatenate((item_count[item], np.full(len(edge) + len(out), endless), high)),
            supply=np.concatenate(
                (supplied, np.zeros(self.slots + columns.members, np.int64), -demand)
            ),
        )
        return network, node

    def _bounds(self, member: Int64, endless: int) -> tuple[Int64, Int64]:
        if not self.levelled:
            return np.zeros(len(member), np.int64), np.full(len(member), endless)
        classes = self.pools.member_class[member]
        level = self.blocks.level[self.blocks.of_class[classes]]
        kept = self.pools.class_kept[classes]
        return np.maximum(np.maximum(level, 0) - kept, 0), level + 1 - kept

    def _price_arcs(
        self, tier: str, item_cost: Int64, edge_cost: Int64, item: Int64, edge: Int64
    ) -> None:
        if tier == "stickiness":
            item_cost[:] = -1
        elif tier == "moved_weight":
            item_cost[:] = -self.item_weight[item]
        else:
            item_cost[:] = self.item_far[item]
            edge_cost[:] = self.edge_far[edge]

    def _squares(
        self, tier: str, network: Network, out: Int64, member: Int64
    ) -> tuple[Int64, Int64]:
        """(what each arc carries already, a first guess of what it will carry)."""
        columns, pools = self.columns, self.pools
        kept = np.flatnonzero(pools.kept)
        if tier == "balance":
            base = pools.class_kept[pools.member_class[member]]
            through = np.bincount(
                self.out_member[out],
                network.lower[-len(out) - len(member) : -len(member)],
                columns.members,
            )
            return base, through[member].astype(np.int64)
        topic = np.empty(self.slots, np.int64)
        topic[self.edge_slot] = pools.pool_topic[self.edge_pool]
        held = np.sort(
            columns.topic[kept].astype(np.int64) * columns.members + columns.owner[kept]
        )
        key = topic[self.out_slot[out]] * columns.members + self.out_member[out]
        base = np.searchsorted(held, key, side="right") - np.searchsorted(held, key)
        readers = np.bincount(topic, minlength=len(columns.counts))
        even = columns.counts // np.maximum(readers, 1)
        return base, np.maximum(even[topic[self.out_slot[out]]] - base, 0)

    def _lifted(self, price: Int64, member: Int64) -> Int64:
        """Lift prices to 0 or more where a member must carry what its level allows at most.

        That is so in blocks whose members all carry the same, where a shift of the whole block is
        free, and for members that keep as much already, whom nothing else can reach.
        """
        classes = self.pools.member_class[member]
        block = self.blocks.of_class[classes]
        least = np.full(len(self.blocks.floor), SAFE, np.int64)
        np.minimum.at(least, block, price)
        shifted = price - np.where(self.blocks.extra[block] == 0, least[block], 0)
        full = self.pools.class_kept[classes] > np.maximum(self.blocks.level[block], 0)
        return np.where(full, np.maximum(shifted, 0), shifted)

    def hand_out(self) -> Int64:
        """Return who gets each partition, (partitions,) int64, -1 where nobody reads it.

        In ascending order of partitions: the first of an item stay, the others of a pool go
        round its slots and their members.
        """
        columns, pools = self.columns, self.pools
        owner = np.where(pools.kept, columns.owner, NOBODY)
        count = np.bincount(self.item + 1, minlength=len(self.item_pool) + 1)[1:]
        everything = np.append(self.stay == count, False)
        stays = everything[self.item]
        owner[stays] = columns.owner[stays]
        some = np.append((self.stay > 0) & (self.stay < count), False)
        held = np.flatnonzero(some[self.item])
        held = held[order_by(self.item[held])]
        sizes = count[some[:-1]]
        rank = np.arange(len(held)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        first = held[rank < self.stay[self.item[held]]]
        owner[first] = columns.owner[first]
        left = np.flatnonzero((pools.pool >= 0) & (owner < 0))
        left = left[order_by(pools.pool[left])]
        by_pool = np.lexsort((self.edge_slot, self.edge_pool))
        slot = np.repeat(self.edge_slot[by_pool], self.dealt[by_pool])
        if self.apart:
            owner[left] = self.out_member[slot]
            return owner
        left = left[order_by(slot)]
        owner[left] = np.repeat(self.out_member, self.given)
        return owner


def _topic_slots(
    columns: Columns, pools: Pools, edge_pool: Int64, edge_class: Int64, far: Bools
) -> tuple[Int64, Int64, Bools, Int64]:
    """(pool, slot, far) of each edge from a pool to one member's part of its topic, and the keys.

    The key of a slot is ``topic * members + member``; slots are in ascending order of keys.
    """
    order = np.argsort(pools.member_class, kind="stable")
    starts = np.concatenate(([0], np.cumsum(pools.class_size)))
    size = pools.class_size[edge_class]
    edge = np.repeat(np.arange(len(edge_pool)), size)
    within = np.arange(len(edge)) - np.repeat(np.cumsum(size) - size, size)
    member = order[starts[edge_class[edge]] + within]
    keys, slot = np.unique(
        pools.pool_topic[edge_pool[edge]] * columns.members + member, return_inverse=True
    )
    return edge_pool[edge], slot.astype(np.int64), far[edge], keys


def _items(
    columns: Columns, pools: Pools, inside: Bools, rest: Objective
) -> tuple[Int64, tuple[Int64, Int64, Int64, Bools]]:
    """(item of each partition or -1, then per item: pool, owner, weight, whether it is far).

    Only partitions that a tier rewards for staying are in items.
    """
    item = np.full(columns.partitions, -1, np.int64)
    if not {"stickiness", "moved_weight"} & set(rest):
        nothing = np.empty(0, np.int64)
        return item, (nothing, nothing, nothing, np.empty(0, bool))
    held = np.flatnonzero((pools.pool >= 0) & (columns.owner >= 0))
    classes = len(pools.class_size)
    edges = (pools.edge_pool * classes + pools.edge_class)[inside]
    order = order_by(edges)
    edges = edges[order]
    pool, owner = pools.pool[held], columns.owner[held]
    allowed = among(edges, pool * classes + pools.member_class[owner], len(pools.counts) * classes)
    if not allowed.all():
        held, pool, owner = held[allowed], pool[allowed], owner[allowed]
    key, width = pool * columns.members + owner, len(pools.counts) * columns.members
    levels_of_weight = np.zeros(1, np.int64)
    if "moved_weight" in rest and columns.weight is not None:
        levels_of_weight, rank = np.unique(columns.weight[held], return_inverse=True)
        key, width = key * len(levels_of_weight) + rank, width * len(levels_of_weight)
    distinct, item[held] = numbered(key, width)
    pair, rank = np.divmod(distinct, max(len(levels_of_weight), 1))
    pool, owner = np.divmod(pair, max(columns.members, 1))
    weight = levels_of_weight[rank] if len(distinct) else rank
    far = np.zeros(len(distinct), bool)
    if len(distinct) and pools.far.any():
        key = pool * classes + pools.member_class[owner]
        far = pools.far[inside][order][np.searchsorted(edges, key)]
    return item, (pool, owner, weight, far)
