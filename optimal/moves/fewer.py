"""Fewer: moves taken back one by one, or many at once, while nobody carries more than a peak."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from optimal.exchange.hands import Hands
from optimal.moves.search import lower_peak_within, moved_now, moves_of
from optimal.moves.steps import moved
from optimal.seed import SEED

if TYPE_CHECKING:
    from groups.arrays import Int64
    from optimal.time_left import TimeLeft

# The share of the patience that each number of moves is tried for at first.
AT_FIRST = 16


def fewer_moves(
    hands: Hands,
    home: Int64,
    start: Hands,
    peak: int,
    least: int,
    time_left: TimeLeft,
    patience: int,
) -> Hands:
    """Find few moves under a peak, from what is held and from what moves the fewest of all.

    Moves of what is held are taken back, alone or in exchange. Then numbers of moves are tried,
    by bisection between the bound and the fewest known, each by a search for the peak within so
    many moves; the rounds are doubled where that leaves a gap.

    Parameters
    ----------
    hands : an assignment whose peak is no higher; changed on the way
    home : (read,) int64, the owner of each partition, -1 nobody
    start : the fewest moves of all, whatever the peak
    least : no assignment has fewer moves, nor has `start`
    patience : how many rounds without a lower peak are waited for at the most
    """
    take_back(hands, home, peak)
    best, fewest = hands, moves_of(home, hands.holder)
    rounds = max(1, patience // AT_FIRST)
    while fewest > least and rounds <= patience and not time_left.is_up:
        # First as many moves as there may be: the search takes what brings most per move.
        low, high, tried = least, fewest, fewest - 1
        while low < high and not time_left.is_up:
            found = Hands(start.choices, start.holder)
            found = lower_peak_within(found, home, tried, peak, time_left, rounds)
            if found.peak > peak:
                low = tried + 1
            else:
                take_back(found, home, peak)
                best, high = found, moves_of(home, found.holder)
            tried = (low + high) // 2
        fewest = min(high, fewest)
        rounds *= 2
    return best


def take_back(hands: Hands, home: Int64, peak: int) -> None:
    """Let partitions go back to their owners, alone or in exchange, where that saves moves."""
    rng, again = np.random.default_rng(SEED), True
    while again:
        again = False
        for p in rng.permutation(np.flatnonzero(moved_now(hands, home))).tolist():
            if home[p] != hands.holder[p] and _goes_back(hands, home, p, peak):
                again = True


def _goes_back(hands: Hands, home: Int64, p: int, peak: int) -> bool:
    """Let a partition go back, if that saves a move and both carry no more than the peak."""
    choices, room = hands.choices, hands.choices.room(peak)
    owner, holder, pile = int(home[p]), int(hands.holder[p]), int(choices.pile[p])
    size = int(choices.size[p])
    if not choices.may[choices.kind[p], owner]:
        return False
    mine, theirs = hands.of[holder], hands.of[owner]
    fits = hands.held[pile, holder] > choices.least[pile, holder]
    fits &= hands.held[pile, owner] < choices.most[pile, owner]
    if fits and int(hands.loads[owner]) + size <= int(room[owner]):
        hands.give((holder, owner), (mine[mine != p], np.append(theirs, p)))
        return True
    same = theirs[choices.pile[theirs] == pile]
    same = same[choices.may[choices.kind[same], holder]]
    apart = size - choices.size[same]
    extra = moved(home, same, holder) - moved(home, same, owner)
    good = (extra <= 0) & (hands.loads[owner] + apart <= room[owner])
    good &= hands.loads[holder] - apart <= room[holder]
    if not good.any():
        return False
    some = same[good]
    q = int(some[extra[good].argmin()])
    hands.give((holder, owner), (np.append(mine[mine != p], q), np.append(theirs[theirs != q], p)))
    return True
