"""Flows: what the network method found, and what members and places ask, which proves it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from groups.arrays import NOBODY
from groups.tiers import SQUARED_LOADS, places_of
from optimal.flow.stages import Stages
from optimal.proof import Proof, ProofKind, heights_of

if TYPE_CHECKING:
    from groups.arrays import Bools, Int32, Int64
    from groups.group import Group
    from groups.tiers import Objective
    from optimal.proof import Height


@dataclass(frozen=True, eq=False)
class Flows:
    """What the network method found.

    Attributes
    ----------
    owner : (all partitions,) int32, -1 where nobody reads
    level : (members,) int64
    prices : (members,) int64 for each tier after balance
    in_closed_form : (members,) bool, whose part needed no flow
    asks : (members, hosts and racks,) int64 for each where prices of every tier are the
        certificate: those of all `optimal.proof.heights_of`, one after the other
    kept : (partitions,) bool, which of them the tiers before balance leave only their owner; None
        where these are none
    is_levelled : whether no loads are more even where balance comes after a tier of places
    """

    owner: Int32
    level: Int64
    prices: list[Int64]
    in_closed_form: Bools
    asks: list[Int64] = field(default_factory=list)
    kept: Bools | None = None
    is_levelled: bool = True


def laminar_proof(group: Group, objective: Objective, flows: Flows) -> Proof:
    """Return the proof of what flows found; none where loads may be less even than they can be."""
    squares = set(objective) >= SQUARED_LOADS
    if (squares and places_of(objective)) or ("balance" in objective and not flows.is_levelled):
        return Proof(ProofKind.NONE)
    if squares or "topic_balance" in objective:
        return Proof(ProofKind.SOLVER)
    heights = heights_of(group, objective)
    ends = np.cumsum([len(height.over) for height in heights])
    asks = np.split(_potentials(objective, flows, heights), ends[:-1])
    if flows.kept is not None:
        _raise_idle(group, flows, flows.kept, heights, asks)
    prices = {height.kind: ask for height, ask in zip(heights, asks, strict=True)}
    return Proof(ProofKind.CERTIFICATE, prices=prices)


def _potentials(objective: Objective, flows: Flows, heights: list[Height]) -> Int64:
    """(all of all heights, tiers) int64; tiers before all flows leave no prices, but 0."""
    stages, columns = Stages.of(objective), []
    for tier in objective:
        ask = np.zeros(sum(len(height.over) for height in heights), np.int64)
        if tier == "balance" and stages.levelled:
            # What one more partition adds to the squares at a level.
            below = np.tile(2 * flows.level + 1, 1 + (heights[0].kind == "state"))
            ask[: len(below)] = below
        elif tier in stages.flows:
            ask = flows.asks[stages.flows.index(tier)]
        columns.append(ask)
    return np.stack(columns, axis=1)


def _raise_idle(
    group: Group, flows: Flows, kept: Bools, heights: list[Height], asks: list[Int64]
) -> None:
    """Let members and places that only keep partitions ask for what the last of these costs.

    No flow went there, so that none says it; and nobody goes there if they ask for more.
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
