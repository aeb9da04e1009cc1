"""Scales: what a unit of each tier counts in the common price of each group."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from groups.columns.parts import greatest, sums
from groups.errors import BadInput
from groups.tiers import cost_of
from optimal.proof import ProofKind

if TYPE_CHECKING:
    from groups.arrays import Int64
    from groups.fleet import Fleet
    from groups.tiers import Objective
    from optimal.flow.stages import Stages

SAFE = 2.0**60


def scales_of(
    fleet: Fleet, objective: Objective, stages: Stages, prices: list[Int64]
) -> tuple[ProofKind, Int64]:
    """Return the kind of proof that the groups have, and the scale of each.

    As `optimal.flow.proof` does for one group: more than all later tiers together can cost.

    Parameters
    ----------
    prices : (members,) int64 for each tier after balance

    Returns
    -------
    scale : (groups, tiers after balance) int64

    Raises
    ------
    BadInput
        Where one could leave 64 bits.
    """
    scale = np.ones((len(fleet), len(prices)), np.int64)
    if "topic_balance" in objective and objective != ("topic_balance",):
        return ProofKind.SOLVER, scale
    if "balance" not in objective:
        return ProofKind.CERTIFICATE, scale
    rest, likely = np.zeros(len(fleet), np.int64), np.zeros(len(fleet))
    for at in reversed(range(len(prices))):
        scale[:, at] = rest + 1
        steepest = 2 * greatest(np.abs(prices[at]), fleet.member_start) + 2
        cost = sums(cost_of(stages.flows[at]).dearest(fleet.group), fleet.partition_start)
        likely += scale[:, at].astype(float) * (cost.astype(float) + steepest)
        if likely.max(initial=0) >= SAFE:
            raise BadInput("objective: the costs of the tiers after balance leave 64 bits")
        rest += scale[:, at] * (cost + steepest)
    return ProofKind.CERTIFICATE, scale
