"""The search within a budget: the busiest member relieved, by no more moves than there may be."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from optimal.exchange.hands import Hands
from optimal.moves.pairs import split_within
from optimal.moves.steps import best_step, moved, take
from optimal.seed import SEED

if TYPE_CHECKING:
    from groups.arrays import Bools, Int64
    from optimal.time_left import TimeLeft

# Partners of the busiest member that are tried before something else is.
PARTNERS = 8
# Rounds without a lower peak after which some moves are taken back, and how many at most.
STALLED, TAKEN_BACK = 8, 3


def moves_of(home: Int64, holder: Int64) -> int:
    """Return how many partitions have left their owner."""
    return int(((home >= 0) & (home != holder)).sum())


def lower_peak_within(
    hands: Hands, home: Int64, most: int, bound: int, time_left: TimeLeft, patience: int
) -> Hands:
    """Relieve the busiest member until the peak is at its bound, or the time or patience is up.

    What is above a target is taken off first, the most per move; the target is the bound, and in
    later rounds a higher one. Where no step helps, pairs are split anew, and where that does not
    help, some partitions go back to their owners, which lets others move. The best that was met
    is returned; `hands`, of at most so many moves, is changed on the way.

    Parameters
    ----------
    home : (read,) int64, the owner of each partition, -1 nobody
    most : the budget on moves
    patience : how many rounds without a lower peak are waited for
    """
    rng = np.random.default_rng(SEED)
    best, holder, target = hands.peak, hands.holder.copy(), bound
    waited, spent = 0, moves_of(home, hands.holder)
    while best > bound and waited < patience and not time_left.is_up:
        if waited % STALLED == STALLED - 1:
            spent -= _take_back(hands, home, rng)
            target = bound + int(rng.random() ** 2 * (best - bound))
        room = hands.choices.room(target)
        busiest = hands.busiest
        # By turns, where the peak has not been lowered: splits reach what no single step does.
        turn = waited % 2 == 1 and _with_partner(hands, home, busiest, most - spent, rng)
        step = None if turn else best_step(hands, home, busiest, most - spent, room, rng)
        if step is not None:
            take(hands, step, busiest)
        spent = moves_of(home, hands.holder)
        peak = hands.peak
        if peak < best:
            best, holder, waited = peak, hands.holder.copy(), 0
        else:
            waited += 1
    return hands if hands.peak <= best else Hands(hands.choices, holder)


def _with_partner(
    hands: Hands, home: Int64, busiest: int, slack: int, rng: np.random.Generator
) -> bool:
    """Split the busiest member and one that carries little, so that both carry less."""
    height = hands.heights
    few = np.argsort(height, kind="stable")[:PARTNERS].tolist()
    drawn = rng.integers(0, len(height), PARTNERS).tolist()
    for partner in dict.fromkeys((*few, *drawn)):
        if partner == busiest:
            continue
        found = split_within(hands, home, busiest, partner, slack, rng)
        if found is None:
            continue
        pair = (busiest, partner)
        if hands.worst(pair, found) < height[busiest]:
            hands.give(pair, found)
            return True
    return False


def _take_back(hands: Hands, home: Int64, rng: np.random.Generator) -> int:
    """Let a few partitions go back to their owners; return how many moves that saves."""
    choices, saved = hands.choices, 0
    for p in rng.permutation(np.flatnonzero(moved_now(hands, home)))[:TAKEN_BACK].tolist():
        owner, holder, pile = int(home[p]), int(hands.holder[p]), int(choices.pile[p])
        if owner == holder or not choices.may[choices.kind[p], owner]:
            continue
        mine, theirs = hands.of[holder], hands.of[owner]
        fits = hands.held[pile, holder] > choices.least[pile, holder]
        if fits and hands.held[pile, owner] < choices.most[pile, owner]:
            hands.give((holder, owner), (mine[mine != p], np.append(theirs, p)))
            saved += 1
            continue
        # In exchange for one that does not move more often by it.
        same = theirs[choices.pile[theirs] == pile]
        same = same[choices.may[choices.kind[same], holder]]
        extra = moved(home, same, holder) - moved(home, same, owner)
        if not len(same):
            continue
        q = int(same[extra.argmin()] if rng.random() < 0.5 else rng.choice(same))
        if int(extra[same == q][0]) > 1:
            continue
        hands.give(
            (holder, owner),
            (np.append(mine[mine != p], q), np.append(theirs[theirs != q], p)),
        )
        saved += 1 - int(extra[same == q][0])
    return saved


def moved_now(hands: Hands, home: Int64) -> Bools:
    """(read,) bool: whether a partition has an owner and is not with it."""
    return np.asarray((home >= 0) & (home != hands.holder), bool)
