"""The certificate of the method's answer: a level and a price for each member."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from groups.tiers import cost_of
from optimal.proof import Proof, ProofKind

if TYPE_CHECKING:
    from groups.arrays import Int64
    from groups.group import Group
    from groups.tiers import Objective
    from optimal.flow.stages import Stages

SAFE = 2**62


def proof_of(
    group: Group, objective: Objective, stages: Stages, level: Int64, prices: list[Int64]
) -> Proof:
    """Put the prices of all tiers together into one.

    Parameters
    ----------
    level : (members,) int64
    prices : (members,) int64 for each tier after balance
    """
    if "topic_balance" in objective and objective != ("topic_balance",):
        return Proof(ProofKind.SOLVER)
    if "balance" not in objective:
        return Proof(ProofKind.CERTIFICATE)
    units = _units(prices, [int(cost_of(tier).dearest(group).sum()) for tier in stages.flows])
    if units is None:
        return Proof(ProofKind.SOLVER)
    price = np.zeros(len(level), np.int64)
    for unit, of_tier in zip(units, prices, strict=True):
        price += unit * of_tier
    return Proof(ProofKind.CERTIFICATE, level=level, price=price, scale=units)


def _units(prices: list[Int64], most: list[int]) -> tuple[int, ...] | None:
    """Return what one unit of each tier counts in the common price, None beyond 64 bits.

    More than all later tiers together can cost, and more than their prices can differ, so that
    what an earlier tier ruled out stays ruled out.
    """
    units: list[int] = []
    rest = 0
    for price, cost in zip(reversed(prices), reversed(most), strict=True):
        units.append(rest + 1)
        steepest = 2 * int(np.abs(price).max(initial=0)) + 2
        rest += units[-1] * (cost + steepest)
    return tuple(reversed(units)) if rest < SAFE else None
