"""The search: the busiest member and another split anew, until the peak meets its bound."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from optimal.exchange.hands import Hands
from optimal.exchange.pairs import split
from optimal.exchange.triples import split_three
from optimal.seed import SEED

if TYPE_CHECKING:
    from optimal.time_left import TimeLeft

# Partners of the busiest member that are tried before something else is.
PARTNERS = 12
TRIOS = 24
# Rounds that leave the peak where it is before pairs are split at random, how many, and by what
# part of what the two carry the split is uneven at most.
STALLED, KICKED, UNEVEN = 30, 3, 20


def lower_peak(
    hands: Hands, bound: int, time_left: TimeLeft, patience: int, *, most: int | None = None
) -> Hands:
    """Exchange partitions until the peak is at its bound, the time is up or nothing moves it.

    Where nothing has helped for a while some pairs are split at random. The best that was met is
    returned; `hands` is changed on the way.

    Parameters
    ----------
    patience : how many rounds without a lower peak are waited for
    most : how many rounds there are at most, None as many as it takes
    """
    rng = np.random.default_rng(SEED)
    waited, last, made = 0, _busy(hands), 0
    best, holder = hands.peak, hands.holder.copy()
    while hands.peak > bound and waited < patience and not time_left.is_up:
        if made == most:
            break
        made += 1
        if waited % STALLED == STALLED - 1:
            _kick(hands, rng)
        busiest = hands.busiest
        if not (_with_partner(hands, busiest, bound, rng) or _in_trio(hands, busiest, rng)):
            _shake(hands, busiest, rng)
        now = _busy(hands)
        waited, last = (0, now) if now < last else (waited + 1, last)
        if hands.peak < best:
            best, holder = hands.peak, hands.holder.copy()
    return hands if hands.peak <= best else Hands(hands.choices, holder)


def _kick(hands: Hands, rng: np.random.Generator) -> None:
    """Split a few pairs at random, not evenly."""
    for _ in range(KICKED):
        a, b = rng.integers(0, len(hands.loads), 2).tolist()
        if a == b:
            continue
        most = 1 + int(hands.loads[a] + hands.loads[b]) // UNEVEN
        found = split(hands, a, b, rng, off=int(rng.integers(-most, most + 1)))
        if found is not None:
            hands.give((a, b), found)


def _busy(hands: Hands) -> tuple[float, int]:
    """(greatest height, how many members have it)."""
    heights = hands.heights
    highest = heights.max(initial=0)
    return highest, int(np.count_nonzero(heights == highest))


def _with_partner(hands: Hands, busiest: int, bound: int, rng: np.random.Generator) -> bool:
    """Split the busiest member and one that carries little, so that both carry less."""
    idle = _idlest(hands, busiest, rng)
    before = hands.heights[busiest]
    for partner in idle:
        found = split(hands, busiest, partner, rng)
        if found is None:
            continue
        if hands.worst((busiest, partner), found) < before:
            hands.give((busiest, partner), found)
            return True
    return False


def _idlest(hands: Hands, busiest: int, rng: np.random.Generator) -> list[int]:
    """Return some of the members that carry least, then some at random."""
    others, heights = len(hands.loads) - 1, hands.heights
    few = min(PARTNERS, others)
    least = np.argpartition(heights, min(few, others))[: few + 1]
    least = least[np.argsort(heights[least], kind="stable")]
    drawn = rng.integers(0, len(hands.loads), PARTNERS // 2)
    return [m for m in dict.fromkeys((*least.tolist(), *drawn.tolist())) if m != busiest]


def _in_trio(hands: Hands, busiest: int, rng: np.random.Generator) -> bool:
    """Split the busiest member and two others, so that all carry less."""
    if len(hands.loads) < 3 or hands.choices.rate is not None:
        return False
    below = int(hands.loads[busiest])
    for _ in range(TRIOS):
        b, c = rng.choice(len(hands.loads), 2, replace=False).tolist()
        if busiest in (b, c):
            continue
        parts = split_three(hands, (busiest, b, c), below, rng)
        if parts is not None:
            hands.give((busiest, b, c), parts)
            return True
    return False


def _shake(hands: Hands, busiest: int, rng: np.random.Generator) -> None:
    """Split two members in another way, neither to carry as much as the busiest does."""
    below = hands.heights[busiest]
    for _ in range(PARTNERS):
        a, b = rng.integers(0, len(hands.loads), 2).tolist()
        room = 2 * int(hands.loads[busiest]) - int(hands.loads[a] + hands.loads[b])
        if hands.choices.rate is not None:
            room = 1 + int(hands.loads[a] + hands.loads[b]) // UNEVEN
        if a == b or room <= 0:
            continue
        found = split(hands, a, b, rng, off=int(rng.integers(-room, room + 1)))
        if found is None:
            continue
        worst = hands.worst((a, b), found)
        if busiest in (a, b):
            if worst <= below:
                hands.give((a, b), found)
                return
        elif worst < below:
            hands.give((a, b), found)
            return
