"""Counted: the lowest peak that so many rounds find, the same whatever else the machine does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from groups.tiers import TIERS
from optimal.exchange.bounds import highest_floor
from optimal.exchange.choices import choices_of, column_of, owner_of
from optimal.exchange.closing import close, is_closable
from optimal.exchange.hands import Hands
from optimal.exchange.recipe import SMALL_PATIENCE, of_earlier, serves, start_of
from optimal.exchange.search import lower_peak
from optimal.flow.recipe import flow
from optimal.limits import LIMITS
from optimal.moves.asked import before_peak

if TYPE_CHECKING:
    from groups.arrays import Int32
    from groups.group import Group
    from groups.tiers import Objective
    from optimal.time_left import TimeLeft

# CP-SAT's own counted time for a round, which takes about as long on an idle machine.
EFFORT = 0.001
# Ways to give a partition to a member that the constraint program looks through for a round.
CLOSED = 10


@dataclass(frozen=True, eq=False)
class Counted:
    """What so many rounds found.

    Attributes
    ----------
    owner : (all partitions,) int32, -1 where nobody reads
    peak, bound : its peak, and what no peak is below as the earlier tiers are at their optimum
    in_time : whether the time limit let all rounds be made
    """

    owner: Int32
    peak: int
    bound: int
    in_time: bool


def counted_peak(
    group: Group, objective: Objective, rounds: int, time_left: TimeLeft
) -> Counted | None:
    """Lower the peak, the last tier of an objective, in so many rounds.

    No clock is looked at but for the time limit, which is to be far.

    Returns
    -------
    None where the exchange search does not serve the objective or cannot add its numbers, or
    nothing was found in time
    """
    exact = all(TIERS[tier].greatest(group) < LIMITS["exchange"] for tier in objective)
    if not serves(objective) or not exact:
        return None
    earlier = before_peak(objective)
    found = flow(group, earlier or ("stickiness",), time_limit=time_left.share(1))
    if found.owner is None:
        return None
    proof = of_earlier(group, earlier, found.proof)
    choices = choices_of(group, earlier, proof, column_of(group, objective[-1]))
    bound, _ = highest_floor(choices)
    hands = Hands(choices, start_of(choices, found.owner[choices.read].astype(np.int64)))
    small = choices.cells <= CLOSED * rounds
    patience = min(rounds, SMALL_PATIENCE) if small else rounds
    hands = lower_peak(hands, bound, time_left, patience, most=rounds)
    closable = small and is_closable(choices, hands.peak) and not time_left.is_up
    if hands.peak > bound and closable:
        holder, bound = close(hands, bound, time_left, effort=EFFORT * rounds)
        hands = Hands(choices, holder)
    return Counted(owner_of(group, choices, hands.holder), hands.peak, bound, not time_left.is_up)
