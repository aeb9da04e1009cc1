"""Algorithm: the steps of the exact network method, in order (docs/explanation/method.md)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from groups.arrays import exact_sums, frozen, greatest
from groups.assignment import Assignment
from groups.fleet import Fleet
from groups.tiers import SAFE_TOTAL, cost_of, is_laminar, values
from optimal.answer import Answer
from optimal.audit import Certificates
from optimal.flow.closed_form import are_separate, closed_counts, even_in_blocks, even_on_places
from optimal.flow.flows import Flows, Stages, laminar_proof
from optimal.flow.levels import levels, unlevelled
from optimal.flow.paths import Paths, hand_out
from optimal.flow.pools import pools_of
from optimal.flow.tier_flows import tier_flows
from optimal.proof import PRICED, Proof, ProofKind
from optimal.solution import Stopped
from optimal.time_left import OutOfTime, TimeLeft

if TYPE_CHECKING:
    import numpy.typing as npt

    from groups.arrays import Bools, Int64
    from groups.group import Group
    from groups.tiers import Exact, Objective


def flow(
    group: Group,
    objective: Objective,
    *,
    time_limit: float | None = None,
    closed_form: bool = True,
    settle_ties: bool = True,
) -> Answer:
    """Solve a group for an objective of flow tiers.

    Parameters
    ----------
    time_limit : seconds; checked between two flows
    closed_form : use the closed form where it applies
    settle_ties : as in :func:`optimal.flow.tier_flows.tier_flows`

    Raises
    ------
    BadInput
        If costs would leave 64 bits.
    """
    unknown, stages = (None,) * len(objective), Stages.of(objective)
    time_left = TimeLeft.of(time_limit)
    closed_form = closed_form and stages.has_closed_form
    try:
        found = flows_of(
            group, objective, time_left, closed_form=closed_form, settle_ties=settle_ties
        )
    except OutOfTime:
        return Answer(None, unknown, stopped=Stopped.TIME_LIMIT)
    in_closed_form = closed_form and found.in_closed_form.all()
    proof = proof_of(group, objective, found)
    if proof.kind is ProofKind.NONE:
        # The tiers before balance are optimal; nothing is known of the others.
        first = objective[: objective.index("balance")]
        least = values(Assignment(group, found.owner), first) if first else ()
        return Answer(found.owner, (*least, *unknown[len(first) :]), Stopped.TIME_LIMIT)
    return Answer(
        owner=found.owner,
        bounds=unknown,
        proof=proof,
        method="closed-form" if in_closed_form else "flow",
    )


def flows_of(
    group: Group,
    objective: Objective,
    time_left: TimeLeft,
    *,
    closed_form: bool = True,
    settle_ties: bool = True,
) -> Flows:
    """Run the network method: return the best assignment and the levels and prices that prove it.

    1. Tiers before balance leave each partition its cheapest readers.
    2. Partitions that the same members may read are a pool, members that read alike a class.
    3. Balance splits pools and classes into blocks of one level each.
    4. A block of one class needs no flow: a closed form says what its members keep.
    5. In the other blocks each later tier is a cheapest flow, one after the other: from a pool to
       the owner or a class, to a member, to the sink of the block.
    6. The partitions are handed out in ascending order.
    7. The levels and the prices of the flows are the proof.

    Raises
    ------
    BadInput
        If costs would leave 64 bits.
    OutOfTime
        If the time is up.
    """
    stages = Stages.of(objective)
    pools = pools_of(group, stages)
    blocks = levels(pools, time_left) if stages.levelled else unlevelled(pools)
    closed_form = closed_form and stages.has_closed_form
    if closed_form and stages.places:
        found = even_on_places(group, pools, blocks, stages)
        if found is not None:
            return found
        closed_form = False
    closed = (blocks.classes == 1) & closed_form
    separate = closed & are_separate(pools, blocks)
    if closed_form and separate.all():
        return even_in_blocks(group, pools, blocks, stages)

    paths = Paths.of(group, pools, blocks, stages)
    counts, price = closed_counts(pools, blocks, paths, closed)
    flowing, prices, asks, is_levelled = tier_flows(
        group,
        pools,
        blocks,
        paths,
        stages,
        flowing=~closed,
        time_left=time_left,
        settle_ties=settle_ties,
    )
    return Flows(
        owner=frozen(hand_out(group, pools, paths, counts + flowing)),
        level=blocks.level[paths.member_block],
        prices=[price + flow for flow in prices],
        in_closed_form=separate[paths.member_block],
        asks=asks,
        kept=pools.kept,
        is_levelled=is_levelled,
    )


def certificates_of(
    fleet: Fleet, objective: Objective, level: Int64, prices: list[Int64]
) -> tuple[npt.NDArray[np.str_], Certificates]:
    """Return the kind of proof of each group, (groups,) words, and the certificates.

    Parameters
    ----------
    level : (members,) int64
    prices : (members,) int64 for each tier after balance
    """
    has_one, scale = _scales(fleet, objective, prices)
    kinds = np.where(has_one, str(ProofKind.CERTIFICATE), str(ProofKind.SOLVER))
    price = np.zeros(len(level), np.int64)
    if "balance" not in objective or not has_one.any():
        return kinds, Certificates(price, price, scale)
    of_member = fleet.member_group
    for at, of_tier in enumerate(prices):
        price += scale[of_member, at] * of_tier
    return kinds, Certificates(level, price, scale)


def proof_of(group: Group, objective: Objective, flows: Flows) -> Proof:
    """Return the proof of one group; of kind none if balance may not be optimal."""
    if is_laminar(objective):
        return laminar_proof(group, objective, flows)
    (kind,), found = certificates_of(Fleet.one(group), objective, flows.level, flows.prices)
    if kind != ProofKind.CERTIFICATE or "balance" not in objective:
        return Proof(ProofKind(kind))
    scale = tuple(found.scale[0].tolist())
    return Proof(ProofKind.CERTIFICATE, level=found.level, price=found.price, scale=scale)


def _scales(fleet: Fleet, objective: Objective, prices: list[Int64]) -> tuple[Bools, Int64]:
    """Return which groups have a certificate, and the scale of each tier in it.

    A unit of a tier counts more than all later tiers together can cost, and more than their prices
    can differ, so that a later tier cannot reopen what an earlier one excluded. A group whose
    scale leaves 64 bits has no certificate, nor has an objective with a tier that the checker has
    no rule for.

    Returns
    -------
    (groups,) bool, and (groups, tiers after balance) int64
    """
    flows = Stages.of(objective).flows
    has_rule = objective == ("topic_balance",) or {*PRICED} >= set(objective)
    scale = np.ones((len(fleet), len(prices)), np.int64)
    if not has_rule or "balance" not in objective:
        return np.full(len(fleet), has_rule), scale
    rest: Exact = np.zeros(len(fleet), object)
    for at in reversed(range(len(prices))):
        fits = rest < SAFE_TOTAL
        scale[:, at] = np.where(fits, rest + 1, 1)
        steepest = 2 * greatest(np.abs(prices[at]), fleet.member_start) + 2
        dearest = cost_of(flows[at]).dearest(fleet.group).astype(np.int64, copy=False)
        cost = exact_sums(dearest, fleet.partition_start)
        rest = rest + (rest + 1) * (cost.astype(object) + steepest.astype(object))
    return np.asarray(rest < SAFE_TOTAL, bool), scale
