"""Local search: lower the peak to its bound, save moves under a peak, and even out loads.

If the candidates have a budget on moves, no split and no step exceeds it, and rounds that do not
lower the peak take some moves back.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from groups.tiers import pairwise_difference
from optimal.answer import SEED
from optimal.loads.incumbent import Incumbent
from optimal.loads.neighbourhood import best_step, go_back, split, take

if TYPE_CHECKING:
    from groups.arrays import Int64
    from optimal.time_left import TimeLeft


# How many partners of the busiest member are tried.
PARTNERS = 12
# After STALLED rounds without a lower peak, KICKED pairs are split at random, unevenly by up to
# 1/UNEVEN of what the two carry.
STALLED, KICKED, UNEVEN = 30, 3, 20
# With a budget on moves: after so many rounds without a lower peak, so many moves are taken back.
COUNTED_STALLED, TAKEN_BACK = 8, 3
# Partners that each member is split with in a round: the least loaded, and some drawn.
LEAST_LOADED, DRAWN = 4, 4
# The search for a number of moves starts with 1/AT_FIRST of the patience.
AT_FIRST = 16


def lower_peak(
    incumbent: Incumbent,
    bound: int,
    time_left: TimeLeft,
    patience: int,
    *,
    most: int | None = None,
) -> Incumbent:
    """Return the assignment of the lowest peak that exchanges find, starting from `incumbent`.

    The search ends if the peak is at its bound, the time is up or the patience is used up.
    `incumbent` is changed on the way.

    Parameters
    ----------
    patience : the search stops after so many rounds in a row without a lower peak
    most : the search stops after so many rounds in all, None: no limit
    """
    rng = np.random.default_rng(SEED)
    waited, made, room = 0, 0, incumbent.candidates.room(bound)
    last, best, holder = _peak_and_count(incumbent), incumbent.peak, incumbent.holder.copy()
    while best > bound and waited < patience and made != most and not time_left.is_up:
        made += 1
        if incumbent.candidates.moves is not None:
            if waited % COUNTED_STALLED == COUNTED_STALLED - 1:
                for p in rng.permutation(np.flatnonzero(incumbent.moved))[:TAKEN_BACK].tolist():
                    go_back(incumbent, p)
            # Every second round without progress tries splits, which reach what no step does.
            if not (waited % 2 == 1 and _with_partner(incumbent, rng)):
                step = best_step(incumbent, incumbent.busiest, room, rng)
                if step is not None:
                    take(incumbent, step, incumbent.busiest)
        else:
            if waited % STALLED == STALLED - 1:
                _kick(incumbent, rng)
            if not _with_partner(incumbent, rng):
                _shake(incumbent, rng)
        now = _peak_and_count(incumbent)
        waited, last = (0, now) if now < last else (waited + 1, last)
        if incumbent.peak < best:
            best, holder = incumbent.peak, incumbent.holder.copy()
    return incumbent if incumbent.peak <= best else Incumbent(incumbent.candidates, holder)


def _peak_and_count(incumbent: Incumbent) -> tuple[float, int]:
    """(greatest height, how many members have it): each round should lower it."""
    heights = incumbent.heights
    highest = heights.max(initial=0)
    return highest, int(np.count_nonzero(heights == highest))


def _with_partner(incumbent: Incumbent, rng: np.random.Generator) -> bool:
    """Share out the partitions of the busiest member and a partner, so that both carry less.

    The least loaded partners are tried first, then some at random. Return whether one served.
    """
    busiest, heights = incumbent.busiest, incumbent.heights
    few = min(PARTNERS, len(heights) - 1)
    least = np.argpartition(heights, few)[: few + 1]
    least = least[np.argsort(heights[least], kind="stable")]
    drawn = rng.integers(0, len(heights), PARTNERS // 2)
    for partner in dict.fromkeys((*least.tolist(), *drawn.tolist())):
        found = split(incumbent, busiest, partner, rng) if partner != busiest else None
        if found and incumbent.worst((busiest, partner), found) < heights[busiest]:
            incumbent.give((busiest, partner), found)
            return True
    return False


def _shake(incumbent: Incumbent, rng: np.random.Generator) -> None:
    """Share out the partitions of two members anew, so that neither carries the peak."""
    busiest = incumbent.busiest
    below = incumbent.heights[busiest]
    for _ in range(PARTNERS):
        a, b = rng.integers(0, len(incumbent.loads), 2).tolist()
        room = 2 * int(incumbent.loads[busiest]) - int(incumbent.loads[a] + incumbent.loads[b])
        if incumbent.candidates.rate is not None:
            room = 1 + int(incumbent.loads[a] + incumbent.loads[b]) // UNEVEN
        if a == b or room <= 0:
            continue
        found = split(incumbent, a, b, rng, off=int(rng.integers(-room, room + 1)))
        if found is None:
            continue
        worst = incumbent.worst((a, b), found)
        if worst < below or (busiest in (a, b) and worst == below):
            incumbent.give((a, b), found)
            return


def _kick(incumbent: Incumbent, rng: np.random.Generator) -> None:
    """Share out the partitions of a few pairs of members at random, unevenly."""
    for _ in range(KICKED):
        a, b = rng.integers(0, len(incumbent.loads), 2).tolist()
        if a == b:
            continue
        most = 1 + int(incumbent.loads[a] + incumbent.loads[b]) // UNEVEN
        found = split(incumbent, a, b, rng, off=int(rng.integers(-most, most + 1)))
        if found is not None:
            incumbent.give((a, b), found)


def fewer_moves(
    incumbent: Incumbent,
    start: Incumbent,
    peak: int,
    least: int,
    time_left: TimeLeft,
    patience: int,
) -> Incumbent:
    """Return an assignment of few moves under a peak.

    First, partitions of the incumbent go back to their owners, alone or in exchange. Then numbers
    of moves are tried by bisection between the bound and the fewest known, each by a search for
    the peak within so many moves; if a gap is left, the rounds are doubled.

    Parameters
    ----------
    incumbent : an assignment whose peak is no higher; changed on the way
    start : the assignment with the fewest moves under any peak
    least : a lower bound on the moves, at least those of `start`
    patience : a search never stops later than after so many rounds without a lower peak
    """
    _take_back(incumbent, peak)
    best, fewest = incumbent, incumbent.moves
    rounds = max(1, patience // AT_FIRST)
    while fewest > least and rounds <= patience and not time_left.is_up:
        # Begin with the most moves allowed: the search prefers steps that gain most per move.
        low, high, tried = least, fewest, fewest - 1
        while low < high and not time_left.is_up:
            within = replace(start.candidates, moves=tried)
            found = lower_peak(Incumbent(within, start.holder), peak, time_left, rounds)
            if found.peak > peak:
                low = tried + 1
            else:
                _take_back(found, peak)
                best, high = found, found.moves
            tried = (low + high) // 2
        fewest = min(high, fewest)
        rounds *= 2
    return best


def _take_back(incumbent: Incumbent, peak: int) -> None:
    """Return partitions to their owners if that saves moves and keeps to a peak."""
    rng, changed, room = np.random.default_rng(SEED), True, incumbent.candidates.room(peak)
    while changed:
        changed = False
        for p in rng.permutation(np.flatnonzero(incumbent.moved)).tolist():
            changed |= go_back(incumbent, p, room)


def score_of(tier: str, loads: Int64) -> int:
    """Return the value of a spread or a balance of loads."""
    if tier.endswith("_spread"):
        return int(loads.max(initial=0) - loads.min(initial=loads.max(initial=0)))
    return pairwise_difference(loads.tolist())


def even_out(
    incumbent: Incumbent, tier: str, bound: int, time_left: TimeLeft, patience: int
) -> None:
    """Split pairs evenly until the score is at its bound, the time is up or nothing helps.

    A more even split of two members improves every measure of evenness and raises no peak.

    Parameters
    ----------
    patience : the search stops after so many rounds without a lower score
    """
    rng = np.random.default_rng(SEED)
    waited, last = 0, score_of(tier, incumbent.loads)
    while last > bound and waited < patience and not time_left.is_up:
        order = np.argsort(-incumbent.loads, kind="stable").tolist()
        for full in order[: max(1, len(order) // 2)]:
            drawn = rng.integers(0, len(order), DRAWN).tolist()
            for idle in (*order[: -LEAST_LOADED - 1 : -1], *drawn):
                gap = abs(int(incumbent.loads[full]) - int(incumbent.loads[idle]))
                if full == idle or time_left.is_up:
                    continue
                # If the pair cannot be more even, another split that is as even may help others.
                found = split(incumbent, full, idle, rng, off=0 if gap > 1 else gap)
                if found is None:
                    continue
                sums = [int(incumbent.candidates.size[part].sum()) for part in found]
                if max(sums) - min(sums) <= gap:
                    incumbent.give((full, idle), found)
        now = score_of(tier, incumbent.loads)
        waited, last = (0, now) if now < last else (waited + 1, last)
