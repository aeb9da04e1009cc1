"""The certificates of the method's answers: a level and a price for each member."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from groups.columns.parts import exact_sums, greatest
from groups.fleet import Fleet
from groups.tiers import cost_of
from optimal.audit import Certificates
from optimal.flow.stages import Stages
from optimal.proof import PRICED, Proof, ProofKind

if TYPE_CHECKING:
    import numpy.typing as npt

    from groups.arrays import Int64
    from groups.group import Group
    from groups.tiers import Exact, Objective

SAFE = 2**62


def certificates_of(
    fleet: Fleet, objective: Objective, level: Int64, prices: list[Int64]
) -> tuple[npt.NDArray[np.str_], Certificates]:
    """Return the kind of proof that each group has, (groups,) words, and what proves it.

    Parameters
    ----------
    level : (members,) int64
    prices : (members,) int64 for each tier after balance
    """
    kinds, scale = _scales(fleet, objective, prices)
    price = np.zeros(len(level), np.int64)
    if "balance" not in objective or not (kinds == ProofKind.CERTIFICATE).any():
        return kinds, Certificates(price, price, scale)
    of_member = fleet.member_group
    for at, of_tier in enumerate(prices):
        price += scale[of_member, at] * of_tier
    return kinds, Certificates(level, price, scale)


def proof_of(group: Group, objective: Objective, level: Int64, prices: list[Int64]) -> Proof:
    """Return the proof of one group by itself, which has the same parameters."""
    (kind,), found = certificates_of(Fleet.one(group), objective, level, prices)
    if kind != ProofKind.CERTIFICATE or "balance" not in objective:
        return Proof(ProofKind(kind))
    scale = tuple(found.scale[0].tolist())
    return Proof(ProofKind.CERTIFICATE, level=found.level, price=found.price, scale=scale)


def _scales(
    fleet: Fleet, objective: Objective, prices: list[Int64]
) -> tuple[npt.NDArray[np.str_], Int64]:
    """Return the kind of proof that each group has, and what a unit of each tier counts in it.

    More than all later tiers together can cost, and more than their prices can differ, so that
    what an earlier tier ruled out stays ruled out. Where that leaves 64 bits the proof is the
    solver's word, and so it is of tiers that the checker has no rule for.

    Returns
    -------
    (groups,) words, and (groups, tiers after balance) int64
    """
    flows = Stages.of(objective).flows
    kinds = np.full(len(fleet), str(ProofKind.CERTIFICATE))
    scale = np.ones((len(fleet), len(prices)), np.int64)
    if objective == ("topic_balance",):
        return kinds, scale
    if not {*PRICED} >= set(objective):
        return np.full(len(fleet), str(ProofKind.SOLVER)), scale
    if "balance" not in objective:
        return kinds, scale
    rest: Exact = np.zeros(len(fleet), object)
    for at in reversed(range(len(prices))):
        fits = rest < SAFE
        scale[:, at] = np.where(fits, rest + 1, 1)
        steepest = 2 * greatest(np.abs(prices[at]), fleet.member_start) + 2
        dearest = cost_of(flows[at]).dearest(fleet.group).astype(np.int64, copy=False)
        cost = exact_sums(dearest, fleet.partition_start)
        rest = rest + (rest + 1) * (cost.astype(object) + steepest.astype(object))
    return np.where(rest < SAFE, kinds, str(ProofKind.SOLVER)), scale
