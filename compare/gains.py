"""Gains: what a few moves buy of what all of them would, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from groups.assignment import Assignment
from groups.tiers import values
from groups.wording import counted
from optimal.time_left import TimeLeft

if TYPE_CHECKING:
    from compare.judged import Judged

IMPROVABLE = ("improvable", "balance")
# Percent of the gain that is worth stopping at.
ENOUGH = 80
# Beyond it the flows of a few budgets take more than about a tenth of a second.
MOST_READERS = 8_000


def early_gain(judged: Judged) -> str | None:
    """Return how few moves bring most of what all moves to the optimum would gain in balance.

    None where that is not sure, all moves are needed, or the group is large: where the readers of
    all partitions add up to more than 8,000, members that read alike counted once. Each number of
    moves tried is a flow, and the assignment that it finds is there: what is said can be had.
    """
    target, verdict = judged.target, judged.verdict
    if target is None or not verdict.sure or (verdict.says, verdict.tier) != IMPROVABLE:
        return None
    group, every = target.group, len(target.moved)
    readers = np.bincount(group.subscription_topics, minlength=len(group.topics))
    if int((readers * group.partitions).sum()) > MOST_READERS:
        return None
    from optimal.budgets.most_even import most_even

    now, best = (values(one, ("balance",))[0] for one in (judged.now, target))
    gains: dict[int, int] = {every: now - best}
    low, high = 0, every
    while high - low > 1:
        few = (low + high) // 2
        owner, _ = most_even(group, few, TimeLeft.of(None))
        gains[few] = now - values(Assignment(group, owner), ("balance",))[0]
        if 100 * gains[few] >= ENOUGH * gains[every]:
            high = few
        else:
            low = few
    return f"{what_moves_buy(high, gains[high], every, now - best)}." if high < every else None


def what_moves_buy(few: int, gain: int, every: int, most: int) -> str:
    """Return what share of the gain a part of the moves has.

    Parameters
    ----------
    few, gain : so many moves, and how far they bring a tier down
    every, most : the same of all moves
    """
    gives = "gives" if few == 1 else "give"
    return f"{counted(few, 'move')} {gives} {100 * gain // most}% of what {every} would"
