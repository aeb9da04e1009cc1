"""Flows: what the network method found, and what members and places ask, which proves it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from groups.tiers import SQUARED_LOADS, TIERS, places_of
from optimal.flow.stages import Stages
from optimal.proof import Proof, ProofKind

if TYPE_CHECKING:
    from groups.arrays import Bools, Int32, Int64
    from groups.columns.places import Places
    from groups.group import Group
    from groups.tiers import Objective


@dataclass(frozen=True, eq=False)
class Flows:
    """What the network method found.

    Attributes
    ----------
    owner : (all partitions,) int32, -1 where nobody reads
    level : (members,) int64
    prices : (members,) int64 for each tier after balance
    in_closed_form : (members,) bool, whose part needed no flow
    tolls : (hosts and racks,) int64 for each, their prices
    kept : (members,) int64, how many partitions the tiers before balance leave each member
    is_levelled : whether no loads are more even where balance comes after a tier of places
    """

    owner: Int32
    level: Int64
    prices: list[Int64]
    in_closed_form: Bools
    tolls: list[Int64]
    kept: Int64
    is_levelled: bool = True


def laminar_proof(group: Group, objective: Objective, flows: Flows) -> Proof:
    """Return the proof of what flows found; none where loads may be less even than they can be."""
    squares = set(objective) >= SQUARED_LOADS
    kinds = places_of(objective)
    if (squares and kinds) or ("balance" in objective and not flows.is_levelled):
        return Proof(ProofKind.NONE)
    if squares or "topic_balance" in objective:
        return Proof(ProofKind.SOLVER)
    places = [group.places(kind) for kind in kinds]
    table = _potentials(objective, flows, sum(len(one.names) for one in places))
    sizes = [len(flows.level), *(len(one.names) for one in places)]
    asks = np.split(table, np.cumsum(sizes)[:-1])
    _raise_idle(group, objective, flows, places, asks)
    prices = dict(zip(("member", *kinds), asks, strict=True))
    return Proof(ProofKind.CERTIFICATE, prices=prices)


def _potentials(objective: Objective, flows: Flows, places: int) -> Int64:
    """(members and places, tiers) int64; tiers before all flows leave no prices, but 0."""
    stages, columns = Stages.of(objective), []
    for tier in objective:
        member, toll = np.zeros(len(flows.level), np.int64), np.zeros(places, np.int64)
        if tier == "balance" and stages.levelled:
            # What one more partition adds to the squares at a level.
            member = 2 * flows.level + 1
        elif tier in stages.flows:
            at = stages.flows.index(tier)
            member, toll = flows.prices[at], flows.tolls[at]
        columns.append(np.concatenate((member, toll)))
    return np.stack(columns, axis=1)


def _raise_idle(
    group: Group, objective: Objective, flows: Flows, places: list[Places], asks: list[Int64]
) -> None:
    """Let members and places that only keep partitions ask for what the last of these costs.

    No flow went there, so that none says it; and nobody goes there if they ask for more.
    """
    held = np.bincount(flows.owner[flows.owner >= 0], minlength=len(flows.kept))
    everybody = np.zeros(len(held), np.int64)
    units = [np.arange(len(held)), *(one.member for one in places), everybody]
    weights = [(1,) * len(held), *(one.weight for one in places)]
    above = [*asks[1:], np.zeros((1, len(objective)), np.int64)]
    for at in reversed(range(len(asks))):
        load, kept = (np.bincount(units[at], n, len(asks[at])) for n in (held, flows.kept))
        kind = places_of(objective)[at - 1] if at else None
        squared = np.array([TIERS[t].is_convex and TIERS[t].place == kind for t in objective])
        over = np.zeros(len(asks[at]), np.int64)
        over[units[at]] = units[at + 1]
        for unit in np.flatnonzero((kept > 0) & (load == kept)).tolist():
            last = weights[at][unit] * (2 * int(load[unit]) - 1) * squared
            row = max(asks[at][unit].tolist(), (above[at][over[unit]] + last).tolist())
            asks[at][unit] = row
