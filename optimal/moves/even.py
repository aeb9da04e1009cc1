"""Evenness within a budget: pairs split evenly, by no more moves than there may be."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from optimal.exchange.even import DRAWN, FAR, score_of
from optimal.moves.pairs import split_within
from optimal.moves.search import moves_of
from optimal.seed import SEED

if TYPE_CHECKING:
    from groups.arrays import Int64
    from optimal.exchange.hands import Hands
    from optimal.time_left import TimeLeft


def even_out_within(
    hands: Hands,
    home: Int64,
    most: int,
    aim: tuple[str, int],
    time_left: TimeLeft,
    patience: int,
) -> None:
    """Split pairs evenly until the score is at its bound, the time is up or nothing helps.

    Parameters
    ----------
    home : (read,) int64, the owner of each partition, -1 nobody
    most : the budget on moves
    aim : the tier and its bound
    patience : how many rounds without a lower score are waited for
    """
    rng, (tier, bound) = np.random.default_rng(SEED), aim
    waited, last = 0, score_of(tier, hands.loads)
    while last > bound and waited < patience and not time_left.is_up:
        order = np.argsort(-hands.loads, kind="stable").tolist()
        for full in order[: max(1, len(order) // 2)]:
            drawn = rng.integers(0, len(order), DRAWN).tolist()
            for idle in dict.fromkeys((*order[: -FAR - 1 : -1], *drawn)):
                if idle != full and not time_left.is_up:
                    slack = most - moves_of(home, hands.holder)
                    _split_evenly(hands, home, full, idle, slack, rng)
        now = score_of(tier, hands.loads)
        waited, last = (0, now) if now < last else (waited + 1, last)


def _split_evenly(
    hands: Hands, home: Int64, a: int, b: int, slack: int, rng: np.random.Generator
) -> None:
    """Split two members no less evenly than before."""
    found = split_within(hands, home, a, b, slack, rng)
    if found is None:
        return
    sums = [int(hands.choices.size[part].sum()) for part in found]
    if max(sums) - min(sums) <= abs(int(hands.loads[a]) - int(hands.loads[b])):
        hands.give((a, b), found)
