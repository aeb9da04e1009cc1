"""Pairs: what two members hold together, split as evenly as so many moves allow."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from optimal.exchange.pairs import counts_of, divided, target_of, together
from optimal.exchange.sums import HALF, Half, meet, subset_sums, subsets
from optimal.moves.steps import moved

if TYPE_CHECKING:
    from groups.arrays import Bools, Int64
    from optimal.exchange.hands import Hands
    from optimal.exchange.pairs import Split


def split_within(
    hands: Hands, home: Int64, a: int, b: int, slack: int, rng: np.random.Generator
) -> Split | None:
    """Return the evenest split of what two members hold that takes no more moves than there are.

    Exact where they may exchange up to 2 * HALF partitions of one pile; of more, those whose
    exchange is no move come first, and some of the others are drawn.

    Parameters
    ----------
    home : (read,) int64, the owner of each partition, -1 nobody
    slack : how many more moves there may be

    Returns
    -------
    what each of the two holds then, None where they have nothing to exchange or there are several
    piles
    """
    if len(hands.choices.least) > 1:
        return None
    both, with_a, free = together(hands, a, b)
    if not len(free):
        return None
    extra = moved(home, both[free], a) - moved(home, both[free], b)
    rank = np.where(extra == 0, 0.5, 1) * rng.random(len(free))
    free = free[np.argsort(rank)[: 2 * HALF]]
    to_a = _split(hands, home, (a, b), both[free], with_a[free], slack)
    return None if to_a is None else divided(both, with_a, free, to_a)


def _split(
    hands: Hands, home: Int64, pair: tuple[int, int], free: Int64, with_a: Bools, slack: int
) -> Bools | None:
    """Return for each free partition whether it goes to the first; a count outweighs all sizes."""
    choices, n, (a, b) = hands.choices, len(free), pair
    counts = counts_of(choices, hands, 0, a, b, n, int(with_a.sum()))
    size = choices.size[free]
    twice, total = target_of(hands, a, b, size, with_a, 0)
    extra = moved(home, free, a) - moved(home, free, b)
    most = slack + int(extra[with_a].sum())
    unit, any_count = total + 1, len(counts) == n + 1
    counted = size if any_count else size + unit
    middle = n // 2
    sums = subset_sums(counted[:middle]), subset_sums(counted[middle:])
    moves = subset_sums(extra[:middle]), subset_sums(extra[middle:])
    order = np.argsort(sums[1])
    best: tuple[int, int, int] | None = None
    for spent in np.unique(moves[0]).tolist():
        first = np.flatnonzero(moves[0] == spent)
        second = order[moves[1][order] <= most - spent]
        if not len(second):
            continue
        halves = Half(sums[0][first], first), Half(sums[1][second], second)
        for count in (0,) if any_count else counts:
            base = 0 if any_count else count * unit
            found, i, j = meet(*halves, 2 * base + twice, base, base + total)
            away = abs(2 * (found - base) - twice)
            if i >= 0 and (best is None or away < best[0]):
                best = away, i, j
    if best is None:
        return None
    _, i, j = best
    goes = np.concatenate((subsets(middle)[i], subsets(n - middle)[j]))
    return np.asarray(goes > 0, bool)
