"""Flows: the stages in which the network method serves tiers, its result, and the proof."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import numpy as np

from groups.arrays import NOBODY
from groups.tiers import SQUARED_LOADS, TIERS, places_of
from optimal.proof import ASKED, Proof, ProofKind, heights_of

if TYPE_CHECKING:
    from groups.arrays import Bools, Int32, Int64, Ints
    from groups.columns.places import PlaceKind
    from groups.group import Group
    from groups.tiers import Objective
    from optimal.proof import Height


# Tiers that are sums of squares: of what members carry, of all topics or of one, or of what places
# have.
CONVEX = tuple(name for name, tier in TIERS.items() if tier.is_convex)


@dataclass(frozen=True)
class Stages:
    """The stages that serve the tiers of an objective: cheapest readers, then levels, then flows.

    Attributes
    ----------
    before : tiers before the first convex one; what a partition costs in them depends on its
        member only, so each partition is left its cheapest readers
    levelled : whether the first convex tier is balance, which levels serve
    flows : the tiers after that; each is a cheapest flow
    """

    before: Objective
    levelled: bool
    flows: Objective

    @staticmethod
    @lru_cache(maxsize=64)
    def of(objective: Objective) -> Stages:
        """Return the stages of an objective; if no tier evens out members, balance is the last."""
        of_members = {tier for tier in CONVEX if TIERS[tier].place is None}
        tiers = objective if set(objective) & of_members else (*objective, "balance")
        if tiers == ("balance",):
            # The certificate of balance alone is that of balance > stickiness: move nothing.
            tiers = ("balance", "stickiness")
        first = min(tiers.index(tier) for tier in CONVEX if tier in tiers)
        levelled = tiers[first] == "balance"
        return Stages(tiers[:first], levelled, tiers[first + levelled :])

    @cached_property
    def has_parts(self) -> bool:
        """Whether a tier counts parts of what a member has: topics, or what keeps state."""
        return bool({"topic_balance", "stateful_balance"} & {*self.flows})

    def parts(self, group: Group) -> Ints:
        """(partitions,) int: the part of each: its topic, or 1 if it keeps state and 0 if not."""
        if "stateful_balance" in self.flows and group.copies is not None:
            return (group.copies.replicas >= 0).astype(np.int64)
        return group.topic

    @cached_property
    def places(self) -> tuple[PlaceKind, ...]:
        """The kinds of places that tiers are about, hosts before racks."""
        return places_of(self.flows)

    @cached_property
    def tiers(self) -> Objective:
        """All tiers except a balance that levels serve."""
        return (*self.before, *self.flows)

    @cached_property
    def has_closed_form(self) -> bool:
        """Whether groups whose members read alike need no flow: even loads, places, then moves."""
        loads = SQUARED_LOADS & {"balance" * self.levelled, *self.flows}
        places = [f"{kind}_balance" for kind in self.places]
        served = {*loads, *places, "stickiness"}
        return (
            not self.before
            and len(loads) == 1
            and (self.levelled if not places else len(places) == 1)
            and {*self.flows} <= served
            and "stickiness" not in self.flows[:-1]
        )


@dataclass(frozen=True, eq=False)
class Flows:
    """The result of the network method.

    Attributes
    ----------
    owner : (all partitions,) int32, -1 where nobody reads
    level : (members,) int64
    prices : (members,) int64 for each tier after balance
    in_closed_form : (members,) bool, the members of blocks that needed no flow
    asks : for each tier of `Stages.flows`, if the certificate has prices of every tier: the prices
        of all `optimal.proof.heights_of`, one height after the other, int64
    kept : (partitions,) bool, those that the tiers before balance leave only their owner; None if
        there are none
    is_levelled : False if balance comes after a tier of places and loads may not be most even
    """

    owner: Int32
    level: Int64
    prices: list[Int64]
    in_closed_form: Bools
    asks: list[Int64] = field(default_factory=list)
    kept: Bools | None = None
    is_levelled: bool = True


def laminar_proof(group: Group, objective: Objective, flows: Flows) -> Proof:
    """Return the proof with prices for every tier; of kind none if balance may not be optimal."""
    squares = set(objective) >= SQUARED_LOADS
    if (squares and places_of(objective)) or ("balance" in objective and not flows.is_levelled):
        return Proof(ProofKind.NONE)
    if squares or not set(objective) <= ASKED:
        return Proof(ProofKind.SOLVER)
    stages, heights = Stages.of(objective), heights_of(group, objective)
    *ends, places = np.cumsum([len(height.over) for height in heights]).tolist()
    # What each place asks in each tier, (places of all heights, tiers); 0 before balance.
    every = np.zeros((places, len(objective)), np.int64)
    for at, tier in enumerate(objective):
        if tier == "balance" and stages.levelled:
            # What one more partition adds to the square of a load at its level.
            below = np.tile(2 * flows.level + 1, 1 + (heights[0].kind == "state"))
            every[: len(below), at] = below
        elif tier in stages.flows:
            every[:, at] = flows.asks[stages.flows.index(tier)]
    asks = np.split(every, ends)
    if flows.kept is not None:
        _raise_idle(group, flows, flows.kept, heights, asks)
    prices = {height.kind: ask for height, ask in zip(heights, asks, strict=True)}
    return Proof(ProofKind.CERTIFICATE, prices=prices)


def _raise_idle(
    group: Group, flows: Flows, kept: Bools, heights: list[Height], asks: list[Int64]
) -> None:
    """Raise what members and places ask that only keep partitions, to the cost of the last one.

    No flow goes through them, so that it leaves no price for them; a higher price sends nothing
    else there.
    """
    stay = np.where(kept, flows.owner, NOBODY)
    above = raised = np.zeros((1, asks[0].shape[1]), np.int64)
    for height, ask in zip(reversed(heights), reversed(asks), strict=True):
        before = ask.copy()
        ask += raised[height.over]
        load, stays = height.loads(group, flows.owner), height.loads(group, stay)
        last = height.steps(load) + above[height.over]
        for unit in np.flatnonzero((stays > 0) & (load == stays)).tolist():
            ask[unit] = max(ask[unit].tolist(), last[unit].tolist())
        above, raised = ask, ask - before
