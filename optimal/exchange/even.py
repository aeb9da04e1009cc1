"""Evenness after the peak: all members evened out under it, and how even they can be at most."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from groups.tiers import pairwise_difference
from optimal.exchange.pairs import split
from optimal.seed import SEED

if TYPE_CHECKING:
    from groups.arrays import Int64
    from optimal.exchange.choices import Choices
    from optimal.exchange.hands import Hands
    from optimal.time_left import TimeLeft

# Partners that each member is split with in a round: those that differ most, and some drawn.
FAR, DRAWN = 4, 4


def score_of(tier: str, loads: Int64) -> int:
    """Return the value of a spread or a balance of loads."""
    if tier.endswith("_spread"):
        return int(loads.max(initial=0) - loads.min(initial=loads.max(initial=0)))
    return pairwise_difference(loads.tolist())


def least_score(tier: str, choices: Choices, peak: int) -> int:
    """Return what no spread or balance is below, given that the peak is reached, 0 for none.

    The j fullest members carry the j heaviest partitions and the lightest ones that make up their
    numbers; and the next member carries at least the average of what is left
    (docs/explanation/proof.md).
    """
    members, total = choices.members, choices.total
    size = np.sort(choices.size)
    held = 0
    if len(choices.least) == 1:
        least, most = choices.least[0], choices.most[0]
        held = int(np.maximum(least, most - (int(most.sum()) - len(size))).min(initial=len(size)))
    j = np.arange(members + 1)
    light = np.concatenate(([0], np.cumsum(size)))
    heavy = np.minimum(j, len(size))
    more = np.clip(j * held - heavy, 0, len(size) - heavy)
    fullest = (total - light[len(size) - heavy] + light[more]).tolist()
    if members:
        fullest[1] = max(fullest[1], peak)
    for i in range(1, members + 1):
        rest = total - fullest[i - 1]
        fullest[i] = max(fullest[i], fullest[i - 1] - (-rest // (members - i + 1)))
    if tier.endswith("_spread"):
        rests = [(total - fullest[i]) // (members - i) for i in range(1, members)]
        return max(0, fullest[1] - min(rests)) if rests else 0
    return int(2 * sum(fullest[1:members]) - max(0, members - 1) * total)


def even_out(hands: Hands, tier: str, bound: int, time_left: TimeLeft, patience: int) -> None:
    """Split pairs evenly until the score is at its bound, the time is up or nothing helps.

    An even split of two makes the whole more even by every measure, and no peak rises.

    Parameters
    ----------
    patience : how many rounds without a lower score are waited for
    """
    rng = np.random.default_rng(SEED)
    waited, last = 0, score_of(tier, hands.loads)
    while last > bound and waited < patience and not time_left.is_up:
        order = np.argsort(-hands.loads, kind="stable").tolist()
        for full in order[: max(1, len(order) // 2)]:
            drawn = rng.integers(0, len(order), DRAWN).tolist()
            for idle in (*order[: -FAR - 1 : -1], *drawn):
                if not time_left.is_up:
                    _split_evenly(hands, full, idle, rng)
        now = score_of(tier, hands.loads)
        waited, last = (0, now) if now < last else (waited + 1, last)


def _split_evenly(hands: Hands, a: int, b: int, rng: np.random.Generator) -> None:
    """Split two members more evenly, or as evenly as before in another way."""
    apart = abs(int(hands.loads[a]) - int(hands.loads[b]))
    if a == b:
        return
    found = split(hands, a, b, rng, off=0 if apart > 1 else apart)
    if found is None:
        return
    sums = [int(hands.choices.size[part].sum()) for part in found]
    if max(sums) - min(sums) <= apart:
        hands.give((a, b), found)
