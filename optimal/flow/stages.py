"""Stages: the tiers of an objective in the order in which the network method serves them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from groups.tiers import SQUARED_LOADS, TIERS, places_of

if TYPE_CHECKING:
    from groups.arrays import Ints
    from groups.columns.places import PlaceKind
    from groups.group import Group
    from groups.tiers import Objective

# Tiers whose cost grows with the square of what a member carries, of all topics or of one, or of
# what a place has.
CONVEX = tuple(name for name, tier in TIERS.items() if tier.is_convex)


@dataclass(frozen=True)
class Stages:
    """What serves the tiers of an objective: cheapest readers, then levels, then flows.

    Attributes
    ----------
    before : tiers before the first convex one; each costs a partition by itself, so they leave
        it its cheapest readers
    levelled : whether the first convex tier is balance, which levels serve
    flows : the tiers after that; each is a cheapest flow
    """

    before: Objective
    levelled: bool
    flows: Objective

    @staticmethod
    @lru_cache(maxsize=64)
    def of(objective: Objective) -> Stages:
        """Sort the tiers of an objective; where none evens members out, balance decides last."""
        of_members = {tier for tier in CONVEX if TIERS[tier].place is None}
        tiers = objective if set(objective) & of_members else (*objective, "balance")
        if tiers == ("balance",):
            # The certificate of balance alone is that of balance > stickiness: move nothing.
            tiers = ("balance", "stickiness")
        first = min(tiers.index(tier) for tier in CONVEX if tier in tiers)
        levelled = tiers[first] == "balance"
        return Stages(tiers[:first], levelled, tiers[first + levelled :])

    @property
    def apart(self) -> bool:
        """Whether a tier looks at parts of what a member has: topics, or what keeps state."""
        return bool({"topic_balance", "stateful_balance"} & {*self.flows})

    def parts(self, group: Group) -> Ints:
        """(partitions,) int: the part of what a member has that each is in; 1 keeps state."""
        if "stateful_balance" in self.flows and group.copies is not None:
            return (group.copies.replicas >= 0).astype(np.int64)
        return group.topic

    @property
    def places(self) -> tuple[PlaceKind, ...]:
        """The kinds of places that tiers look at, the finer first."""
        return places_of(self.flows)

    @property
    def tiers(self) -> Objective:
        """All tiers but a balance that levels serve."""
        return (*self.before, *self.flows)

    @property
    def has_closed_form(self) -> bool:
        """Whether members who read alike need no flow: even loads, hosts or racks, then moves."""
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
