"""The recipe of the exchange search, step by step (docs/explanation/lag.md)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from groups.assignment import Assignment
from groups.errors import BadInput
from groups.tiers import TIERS, values
from optimal.answer import Answer
from optimal.cpsat import least_within
from optimal.exchange.bounds import highest_floor
from optimal.exchange.choices import Choices, choices_of, column_of, owner_of, timed
from optimal.exchange.closing import close, is_closable
from optimal.exchange.even import even_out, least_score, score_of
from optimal.exchange.few.dealing import Dealing, are_few
from optimal.exchange.hands import Hands
from optimal.exchange.search import lower_peak
from optimal.exchange.start import longest_first
from optimal.exchange.weights import weighted_average
from optimal.flow.recipe import flow
from optimal.limits import LIMITS, require_costs_within
from optimal.moves.asked import before_peak
from optimal.proof import PRICED, Proof, ProofKind
from optimal.solution import Stopped
from optimal.time_left import TimeLeft

if TYPE_CHECKING:
    from groups.arrays import Int64
    from groups.group import Group
    from groups.tiers import Objective

# Rounds without a lower peak that are waited for: few where a constraint program proves what is
# left in less time.
PATIENCE, SMALL_PATIENCE = 3000, 30
# The share of the time that exchanges have before the constraint program.
FIRST = 0.7
# The share that deals have before it, where members hold few partitions each.
DEALT = 0.95
# So many ways to give a partition to a member are few.
SMALL = 200
# Rounds over all members without a more even score that are waited for.
EVEN_PATIENCE = 20
# Members whose pairs CP-SAT scores, and a cost that it scores exactly for so many.
MOST_PAIRED, SCORED = 100, LIMITS["cp-sat"]
# A table of kinds of partitions and members stays below it.
MOST_CELLS = 2**26


def exchange(group: Group, objective: Objective, *, time_limit: float | None = None) -> Answer:
    """Lower the peak as far as the tiers before it allow, and prove how far that is.

    Parameters
    ----------
    objective : flow tiers that have a certificate, or none, and a peak
    time_limit : seconds after which the best so far is returned, with a true bound

    Raises
    ------
    BadInput
        Where the objective is another one, or costs would leave 64 bits.
    """
    if not serves(objective):
        shown = " > ".join(objective)
        raise BadInput(f"method: exchange does not serve {shown}; use cp-sat or brute")
    require_costs_within(group, objective, "exchange")
    time_left = TimeLeft.of(time_limit)
    earlier = before_peak(objective)
    peak, *even = objective[len(earlier) :]
    found = flow(group, earlier or ("stickiness",), time_limit=time_limit)
    if found.owner is None:
        return Answer(None, (None,) * len(objective), Stopped.TIME_LIMIT)
    proof = of_earlier(group, earlier, found.proof)
    choices = choices_of(group, earlier, proof, column_of(group, peak))
    if peak == "peak_time":
        choices = timed(group, choices)
    bound, floor = highest_floor(choices)
    kind = ProofKind.CERTIFICATE
    uneven = choices.rate is None and not choices.may.all()
    if earlier == ("topic_balance",) and uneven and (more := weighted_average(choices)) > bound:
        kind, bound = ProofKind.SOLVER, more
    hands = Hands(choices, start_of(choices, found.owner[choices.read].astype(np.int64)))
    patience = SMALL_PATIENCE if choices.cells <= SMALL else PATIENCE
    searching = TimeLeft.of(None if time_limit is None else FIRST * time_limit)
    if choices.rate is None and are_few(choices):
        hands = lower_peak(hands, bound, searching, SMALL_PATIENCE)
        dealing = Dealing(hands, bound)
        dealing.run(TimeLeft.of(None if time_limit is None else DEALT * time_limit))
        if dealing.bound > bound:
            kind, bound = ProofKind.EXHAUSTION, dealing.bound
        hands = dealing.hands
    hands = lower_peak(hands, bound, searching, patience)
    if hands.peak > bound and is_closable(choices, hands.peak) and not time_left.is_up:
        kind = ProofKind.SOLVER
        holder, bound = close(hands, bound, time_left)
        hands = Hands(choices, holder)
    bounds: tuple[int | None, ...] = (bound, *(None for _ in even))
    if even and hands.peak == bound:
        least = least_score(even[0], choices, bound)
        even_out(hands, even[0], least, searching, min(patience, EVEN_PATIENCE))
        if score_of(even[0], hands.loads) > least and is_scorable(group, objective, choices):
            kind = ProofKind.SOLVER
            hands, least = _closed(group, objective, hands, least, time_left)
        bounds = bound, least
    owner = owner_of(group, choices, hands.holder)
    reached = values(Assignment(group, owner), objective)
    bounds = (*reached[: len(earlier)], *bounds)
    if reached != bounds:
        return Answer(owner, bounds, Stopped.TIME_LIMIT)
    if kind is not ProofKind.CERTIFICATE:
        return Answer(owner, bounds, proof=Proof(kind))
    return Answer(owner, bounds, proof=replace(proof, floor=floor))


def is_scorable(group: Group, objective: Objective, choices: Choices) -> bool:
    """Return whether CP-SAT may be of use for a score of all pairs of members."""
    exact = all(TIERS[tier].greatest(group) < SCORED for tier in objective)
    return exact and is_closable(choices) and len(group.members) <= MOST_PAIRED


def _closed(
    group: Group, objective: Objective, hands: Hands, least: int, time_left: TimeLeft
) -> tuple[Hands, int]:
    """Return what CP-SAT makes of the last tier, and its bound, the others at their optimum."""
    owner = owner_of(group, hands.choices, hands.holder)
    reached = dict(zip(objective, values(Assignment(group, owner), objective), strict=True))
    limits = {tier: (value, value) for tier, value in reached.items()}
    last = objective[-1]
    limits[last] = least, reached[last]
    found = least_within(group, last, limits, start=owner, seconds=time_left.share(1))
    if found.owner is None:
        return hands, least
    return Hands(hands.choices, found.owner[hands.choices.read].astype(np.int64)), found.bound


def serves(objective: Objective) -> bool:
    """Return whether the exchange search serves an objective."""
    earlier = before_peak(objective)
    if earlier == objective:
        return False
    return earlier == ("topic_balance",) or {*PRICED} >= set(earlier)


def of_earlier(group: Group, earlier: Objective, proof: Proof) -> Proof:
    """Return the certificate of the earlier tiers as they stand before a peak.

    For `balance` alone the flow's prices are about moves, which do not count here.
    """
    if "balance" not in earlier:
        return Proof(ProofKind.CERTIFICATE)
    if earlier == ("balance",):
        return replace(proof, price=np.zeros(len(group.members), np.int64), scale=())
    return proof


def start_of(choices: Choices, holder: Int64) -> Int64:
    """Return the flow's assignment, or a better one by longest first."""
    found = longest_first(choices)
    if found is None:
        return holder
    return min((found, holder), key=lambda one: Hands(choices, one).peak)
