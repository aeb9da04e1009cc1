"""Pairs: what two members hold together, split anew as evenly as it can be."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from optimal.exchange.sums import HALF, Half, meet, sizes, subset_sums, subsets

if TYPE_CHECKING:
    from groups.arrays import Bools, Int64
    from optimal.exchange.choices import Choices
    from optimal.exchange.hands import Hands

# Partitions of several piles that two members may exchange at once, and the ways of a half.
SPREAD, WAYS = 24, 4096

Split = tuple["Int64", "Int64"]


def split(hands: Hands, a: int, b: int, rng: np.random.Generator, *, off: int = 0) -> Split | None:
    """Return a split of what two members hold together, the larger part as small as possible.

    Exact where they may exchange few partitions, 2 * HALF of one pile; of more, some are drawn.

    Parameters
    ----------
    off : what the first is to carry more than half of it all, for splits that are not the evenest

    Returns
    -------
    what each of the two holds then, None where they have nothing to exchange
    """
    both, with_a, free = together(hands, a, b)
    if not len(free):
        return None
    if len(hands.choices.least) == 1:
        if len(free) > 2 * HALF:
            free = rng.permutation(free)[: 2 * HALF]
        to_a = _one_pile(hands, a, b, both[free], with_a[free], off)
    else:
        free = rng.permutation(free)[:SPREAD]
        to_a = _several_piles(hands, a, b, both[free], with_a[free], off)
    return None if to_a is None else divided(both, with_a, free, to_a)


def together(hands: Hands, a: int, b: int) -> tuple[Int64, Bools, Int64]:
    """(what two members hold, whether a holds it, which of it either of them may hold)."""
    both = np.concatenate((hands.of[a], hands.of[b]))
    with_a = np.arange(len(both)) < len(hands.of[a])
    kind = hands.choices.kind[both]
    return both, with_a, np.flatnonzero(hands.choices.may[kind, np.where(with_a, b, a)])


def divided(both: Int64, with_a: Bools, free: Int64, to_a: Bools) -> Split:
    """Return what each of two holds where of the free ones these go to a, and others stay."""
    goes = with_a.copy()
    goes[free] = to_a
    return both[goes], both[~goes]


def target_of(
    hands: Hands, a: int, b: int, size: Int64, with_a: Bools, off: int
) -> tuple[int, int]:
    """(twice the sum of free ones that would make the two even, the sum of all of them)."""
    total, mine = int(size.sum()), int(size[with_a].sum())
    one, other = int(hands.loads[a]), int(hands.loads[b])
    gap = other - one
    if hands.choices.rate is not None:
        rate, rates = int(hands.choices.rate[a]), hands.choices.rate[[a, b]].tolist()
        gap = 2 * ((one + other) * rate // sum(rates) - one)
    return min(max(2 * mine + gap + off, 0), 2 * total), total


def counts_of(
    choices: Choices, hands: Hands, pile: int, a: int, b: int, n: int, n_a: int
) -> range:
    """Return how many of n free partitions of a pile, n_a of them with a, may go to a."""
    fixed_a = int(hands.held[pile, a]) - n_a
    fixed_b = int(hands.held[pile, b]) - (n - n_a)
    least = max(0, int(choices.least[pile, a]) - fixed_a, n - int(choices.most[pile, b]) + fixed_b)
    most = min(n, int(choices.most[pile, a]) - fixed_a, n - int(choices.least[pile, b]) + fixed_b)
    return range(least, most + 1)


def _one_pile(hands: Hands, a: int, b: int, free: Int64, with_a: Bools, off: int) -> Bools | None:
    """Return for each free partition whether it goes to a; a unit of count outweighs all sizes."""
    choices, n = hands.choices, len(free)
    counts = counts_of(choices, hands, 0, a, b, n, int(with_a.sum()))
    size = choices.size[free]
    twice, total = target_of(hands, a, b, size, with_a, off)
    unit = total + 1
    any_count = len(counts) == n + 1
    counted = size if any_count else size + unit
    middle = n // 2
    first = Half(subset_sums(counted[:middle]), np.arange(2**middle))
    sums = subset_sums(counted[middle:])
    order = np.argsort(sums)
    second = Half(sums[order], order)
    best: tuple[int, int, int] | None = None
    for count in (0,) if any_count else counts:
        base = 0 if any_count else count * unit
        found, i, j = meet(first, second, 2 * base + twice, base, base + total)
        away = abs(2 * (found - base) - twice)
        if i >= 0 and (best is None or away < best[0]):
            best = away, i, j
    if best is None:
        return None
    _, i, j = best
    goes = np.concatenate((subsets(middle)[i], subsets(n - middle)[j]))
    return np.asarray(goes > 0, bool)


def _several_piles(
    hands: Hands, a: int, b: int, free: Int64, with_a: Bools, off: int
) -> Bools | None:
    """Return the same where each pile has counts of its own: one option each, in halves."""
    choices = hands.choices
    options: list[tuple[Int64, Int64, Int64]] = []
    pile = choices.pile[free]
    for number in np.unique(pile).tolist():
        at = np.flatnonzero(pile == number)[:HALF]
        n = len(at)
        counts = counts_of(choices, hands, number, a, b, n, int(with_a[at].sum()))
        allowed = (sizes(n) >= counts.start) & (sizes(n) < counts.stop)
        way = np.flatnonzero(allowed)
        if len(way) > 1:
            options.append((at, way, subset_sums(choices.size[free[at]])[way]))
    halves: list[list[tuple[Int64, Int64, Int64]]] = [[], []]
    ways = [1, 1]
    for option in sorted(options, key=lambda o: len(o[1])):
        side = int(ways[1] < ways[0])
        if ways[side] * len(option[1]) <= WAYS or ways[side] == 1:
            halves[side].append(option)
            ways[side] *= len(option[1])
    used = [at for half in halves for at, _, _ in half]
    if not used:
        return None
    moved = np.concatenate(used)
    size = choices.size[free[moved]]
    twice, total = target_of(hands, a, b, size, with_a[moved], off)
    sums = [_combined([option[2] for option in half]) for half in halves]
    order = np.argsort(sums[1])
    first, second = Half(sums[0], np.arange(len(sums[0]))), Half(sums[1][order], order)
    _, *picks = meet(first, second, twice, 0, total)
    goes = with_a.copy()
    for half, pick in zip(halves, picks, strict=True):
        numbers = np.unravel_index(pick, [len(way) for _, way, _ in half]) if half else ()
        for (at, way, _), number in zip(half, numbers, strict=True):
            goes[at] = subsets(len(at))[way[number]] > 0
    return goes


def _combined(options: list[Int64]) -> Int64:
    """Return the sum of each way to take one of each of several options, last one fastest."""
    sums = np.zeros(1, np.int64)
    for option in options:
        sums = np.add.outer(sums, option).ravel()
    return sums
