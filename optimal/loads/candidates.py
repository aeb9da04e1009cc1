"""Candidates: the assignments that are optimal in the earlier tiers.

They say who may hold which partition, and how many. The flow's prices are dual values: an
assignment is optimal in the earlier tiers if and only if every partition is with a reader of least
cost and price, and members with a price hold as many, or as few, as they may (complementary
slackness, docs/explanation/lag.md). Budgets on counts narrow the candidates to windows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from groups.tiers import SAFE_TOTAL, TIERS, cost_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from groups.arrays import Bools, Floats, Int32, Int64
    from groups.group import Group
    from groups.tiers import Objective
    from optimal.proof import Proof


@dataclass(frozen=True, eq=False)
class Candidates:
    """Who may hold which partition, how many partitions, and their lag or weight.

    Attributes
    ----------
    read : (read,) int64, the partitions that somebody reads
    size : (read,) int64, lag or weight of each
    kind : (read,) int64, the row of `may` for each
    may : (kinds, members) bool, whether a member may hold partitions of a kind
    pile : (read,) int64; partitions of one pile are counted together
    least, most : (piles, members) int64, how many partitions of a pile a member may hold
    home : (read,) int64, the owner of each partition, -1 nobody
    moves : how many partitions may leave their owner, None for any number
    rate : (members,) int64, the records that each works off in a second, capped at `total`; None
        unless the peak is a time
    """

    read: Int64
    size: Int64
    kind: Int64
    may: Bools
    pile: Int64
    least: Int64
    most: Int64
    home: Int64
    moves: int | None = None
    rate: Int64 | None = None

    @property
    def members(self) -> int:
        """Number of members."""
        return int(self.may.shape[1])

    @property
    def total(self) -> int:
        """The sum of all sizes."""
        return int(self.size.sum())

    @property
    def cells(self) -> int:
        """The number of pairs of a partition and a member that may hold it."""
        readers = self.may.sum(axis=1)
        return int(readers[self.kind].sum())

    def room(self, peak: int) -> Int64:
        """(members,) int64: the load that each member may carry under a peak, at most `total`."""
        if self.rate is None:
            return np.full(self.members, peak, np.int64)
        whole = self.total // self.rate
        return np.where(peak > whole, self.total, self.rate * np.minimum(peak, whole))

    @property
    def rates(self) -> Int64:
        """(members,) int64: the rates, 1 unless the peak is a time."""
        return np.ones(self.members, np.int64) if self.rate is None else self.rate

    def peak(self, loads: Int64) -> int:
        """Return the greatest load, or the seconds until the last member has caught up."""
        return int((-(-loads // self.rates)).max(initial=0))

    def heights(self, loads: Int64) -> Int64 | Floats:
        """(members,): what the peak is the greatest of: loads, or seconds before rounding up."""
        return loads if self.rate is None else loads / self.rate

    def moved(self, partition: Int64, member: Int64 | int) -> Int64:
        """1 where a partition is moved if a member holds it, else 0; shapes are broadcast."""
        owner = self.home[partition]
        return np.asarray((owner >= 0) & (owner != member), np.int64)

    def keeps(self, holder: Int64) -> bool:
        """Return whether an assignment, (read,) int64 members, is a candidate; ignores moves."""
        held = np.zeros(self.least.shape, np.int64)
        np.add.at(held, (self.pile, holder), 1)
        within = (self.least <= held) & (held <= self.most)
        return bool(self.may[self.kind, holder].all() and within.all())


def candidates_of(group: Group, earlier: Objective, proof: Proof, column: Int64) -> Candidates:
    """Return the assignments that are optimal in tiers that the flow has minimised.

    Parameters
    ----------
    earlier : `topic_balance`, or any of the tiers that have a certificate, or none
    proof : the flow's certificate for them
    column : (all partitions,) int64, lag or weight
    """
    members = len(group.members)
    read = np.flatnonzero(group.readers[group.topic] > 0)
    reads = np.zeros((len(group.topics), members), bool)
    by, topics = group.subscription_pairs
    reads[topics, by] = True
    topic, home = group.topic[read].astype(np.int64), group.owner[read].astype(np.int64)
    if earlier == ("topic_balance",):
        those, topic = np.unique(topic, return_inverse=True)
        share, more = np.divmod(group.partitions[those], group.readers[those])
        least = np.where(reads[those], share[:, None], 0)
        most = np.where(reads[those], (share + (more > 0))[:, None], 0)
        return Candidates(read, column[read], topic, reads[those], topic, least, most, home)
    level = price = np.zeros(members, np.int64)
    one_pile = np.zeros(len(read), np.int64)
    least, most = np.zeros(members, np.int64), np.full(members, len(read))
    if "balance" in earlier:
        level, price = proof.columns()
        least, most = np.maximum(level, 0), level + 1
        least, most = np.where(price > 0, most, least), np.where(price < 0, least, most)
    example, kind = _kinds(group, earlier, read)
    may = reads[topic[example]]
    may = _cheapest(group, earlier, proof.scale, read[example], may, level, price)
    rows, of_kind = np.unique(np.packbits(may, axis=1), axis=0, return_inverse=True)
    may = np.unpackbits(rows, axis=1, count=members).astype(bool)
    kind = of_kind.reshape(-1)[kind]
    return Candidates(read, column[read], kind, may, one_pile, least[None], most[None], home)


def _kinds(group: Group, earlier: Objective, read: Int64) -> tuple[Int64, Int64]:
    """(an example of each kind, kind of each read partition); tiers tell kinds apart."""
    columns = [group.topic[read].astype(np.int64)]
    if {"stickiness", "moved_weight"} & set(earlier):
        columns.append(group.owner[read].astype(np.int64))
    if "moved_weight" in earlier and group.weight is not None:
        columns.append(group.weight[read])
    if "racks" in earlier and group.racks is not None:
        columns.append(group.racks.replicas[read].astype(np.int64))
    if not len(read):
        return read, read
    _, example, kind = np.unique(np.stack(columns), axis=1, return_index=True, return_inverse=True)
    return example, kind.reshape(-1)


def _cheapest(
    group: Group,
    earlier: Objective,
    scale: tuple[int, ...],
    example: Int64,
    may: Bools,
    level: Int64,
    price: Int64,
) -> Bools:
    """(kinds, members) bool: the readers with whom a partition costs least, tier by tier."""
    at = earlier.index("balance") if "balance" in earlier else len(earlier)
    for tier in earlier[:at]:
        may = _least(may, _costs(group, tier, example))
    if "balance" not in earlier:
        return may
    may = _least(may, np.broadcast_to(level, may.shape))
    paid = np.broadcast_to(price.astype(object), may.shape)
    after = earlier[at + 1 :]
    units = scale or (1,) * len(after)
    costs = [_costs(group, tier, example) for tier in after]
    steepest = sum(u * int(c.max(initial=0)) for u, c in zip(units, costs, strict=True))
    if steepest + int(np.abs(price).max(initial=0)) < SAFE_TOTAL:
        paid = paid.astype(np.int64)
    for unit, cost in zip(units, costs, strict=True):
        paid = paid + unit * cost.astype(paid.dtype)
    return _least(may, paid)


def _least(may: Bools, cost: Int64) -> Bools:
    """(kinds, members) bool: the readers of each kind that have the least cost."""
    beyond = int(cost.max(initial=0)) + 1
    lowest = np.where(may, cost, beyond).min(axis=1, initial=beyond, keepdims=True)
    return np.asarray(may & (cost == lowest), bool)


def _costs(group: Group, tier: str, example: Int64) -> Int64:
    """(kinds, members) int64: what a partition of each kind costs with each member."""
    cost, shape = cost_of(tier), (len(example), len(group.members))
    member, partition = map(np.ravel, np.meshgrid(np.arange(shape[1]), example))
    if cost.far:
        racks = group.racks
        far = np.zeros(len(member)) if racks is None else racks.misses(member, partition)
        return far.reshape(shape).astype(np.int64)
    owner = group.owner[partition]
    leaves = (owner >= 0) & (owner != member)
    return np.where(leaves, cost.of_leaving(group, partition), 0).reshape(shape)


def column_of(group: Group, tier: str) -> Int64:
    """(all partitions,) int64: the lag or the weight that a tier adds up."""
    column = group.lag_records if TIERS[tier].needs == "lag" else group.weight
    return np.zeros(group.n_partitions, np.int64) if column is None else column


def owner_of(group: Group, candidates: Candidates, holder: Int64) -> Int32:
    """(all partitions,) int32: the assignment in which read partitions are with `holder`."""
    owner = np.full(group.n_partitions, -1, np.int32)
    owner[candidates.read] = holder
    return owner


@dataclass(frozen=True, eq=False)
class Windows:
    """The candidates within budgets on counts.

    A budget on the spread allows counts from k to k + spread, for some k: a window for each k.

    Attributes
    ----------
    hull : candidates that contain all windows
    each : the candidates of each window
    spread : by how much the counts of two members may differ, None for any
    """

    hull: Candidates
    each: list[Candidates]
    spread: int | None = None

    @staticmethod
    def of(candidates: Candidates, at_most: Mapping[str, int], even: Int64) -> Windows:
        """Return the candidates within budgets.

        Parameters
        ----------
        even : (members,) int64, how many each member holds in the most even assignment; its least
            and greatest count say which windows there are
        """
        if not candidates.members or not {"load_spread", "idle_members"} & at_most.keys():
            return Windows(candidates, [candidates])
        least, most = _counts_within(candidates.members, len(candidates.read), at_most)
        spread = at_most.get("load_spread")
        hull = _within(candidates, least, most)
        if spread is None:
            return Windows(hull, [hull])
        first = max(0, int(even.max()) - spread)
        each = [
            _within(candidates, max(low, least), min(low + spread, most))
            for low in range(first, int(even.min()) + 1)
        ]
        return Windows(hull, each, spread)


def _counts_within(members: int, partitions: int, at_most: Mapping[str, int]) -> tuple[int, int]:
    """(the fewest, the most) partitions that a member can hold within budgets on counts.

    With a budget on the spread, the emptiest member holds least if all others hold `spread` more,
    and the fullest holds most if all others hold `spread` less. With at most 0 idle members, each
    holds one or more if there are enough partitions, otherwise one at most.
    """
    least, most = 0, partitions
    if (spread := at_most.get("load_spread")) is not None:
        difference = (members - 1) * spread
        least, most = (
            max(0, -((difference - partitions) // members)),
            (partitions + difference) // members,
        )
    if at_most.get("idle_members") == 0:
        least = max(least, int(partitions >= members))
        most = most if partitions >= members else 1
    return least, min(most, partitions)


def _within(candidates: Candidates, least: int, most: int) -> Candidates:
    least_of, most_of = np.maximum(candidates.least, least), np.minimum(candidates.most, most)
    return replace(candidates, least=least_of, most=most_of)
