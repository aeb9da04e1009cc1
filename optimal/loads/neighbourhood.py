"""Neighbourhood: the changes that the local search makes to an assignment.

A step gives one partition to another member, or exchanges two, so that less load is above a
target; a split divides the partitions of two members anew.
"""

from __future__ import annotations

from functools import lru_cache, reduce
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from groups.arrays import frozen

if TYPE_CHECKING:
    from collections.abc import Iterator

    from groups.arrays import Bools, Int64
    from optimal.loads.incumbent import Incumbent


# Pairs of partitions that are looked at in one step; if there are more, some are drawn.
MOST_PAIRS = 200_000
# Added to a step's moves when its gain is divided by them, so that free steps compare, too.
FREE = 0.25


class Step(NamedTuple):
    """A partition that goes to another member, and perhaps one that comes back in exchange.

    Attributes
    ----------
    gives, to : the partition, a position among the read ones, and the member that gets it
    takes : the partition that comes back, -1 if none does
    """

    gives: int
    to: int
    takes: int


def best_step(
    incumbent: Incumbent, member: int, room: Int64, rng: np.random.Generator
) -> Step | None:
    """Return the step of a member that reduces the load above `room` most per move.

    Parameters
    ----------
    room : (members,) int64, the most that each member should carry

    Returns
    -------
    None if no step reduces it
    """
    candidates, slack = incumbent.candidates, incumbent.moves_left or 0
    mine, others = incumbent.of[member], np.flatnonzero(incumbent.holder != member)
    if len(mine) * len(others) > MOST_PAIRS:
        mine = rng.permutation(mine)[: 1 + MOST_PAIRS // max(1, len(others))]
    found = [
        _best_gift(incumbent, member, mine, slack, room),
        _best_exchange(incumbent, member, mine, others, slack, room),
    ]
    best = max(found, key=lambda one: one[0])
    if best[0] <= 0 or not len(candidates.size):
        return None
    return best[1]


def take(incumbent: Incumbent, step: Step, member: int) -> None:
    """Apply a step of a member."""
    mine, theirs = incumbent.of[member], incumbent.of[step.to]
    mine, theirs = mine[mine != step.gives], np.append(theirs[theirs != step.takes], step.gives)
    if step.takes >= 0:
        mine = np.append(mine, step.takes)
    incumbent.give((member, step.to), (mine, theirs))


def _above(loads: Int64, room: Int64) -> Int64:
    return np.asarray(np.maximum(loads - room, 0), np.int64)


def _best(gain: Int64, moves: Int64, allowed: Bools) -> tuple[float, int]:
    """(greatest gain per move, its flat index)."""
    if not gain.size:
        return 0.0, 0
    worth = np.where(allowed, gain / (np.maximum(moves, 0) + FREE), 0.0)
    at = int(worth.argmax())
    return float(worth.flat[at]), at


def _best_gift(
    incumbent: Incumbent, member: int, mine: Int64, slack: int, room: Int64
) -> tuple[float, Step]:
    """(gain per move, step) of the best way to give one of the partitions to another member."""
    candidates = incumbent.candidates
    size, pile = candidates.size[mine], candidates.pile[mine]
    spare = incumbent.held[:, member] > candidates.least[:, member]
    open_to = candidates.may[candidates.kind[mine]] & spare[pile][:, None]
    open_to &= (incumbent.held < candidates.most)[pile]
    open_to[:, member] = False
    others = np.arange(candidates.members)
    moves = candidates.moved(mine[:, None], others) - candidates.moved(mine, member)[:, None]
    load = incumbent.loads
    before = _above(load[member], room[member]) + _above(load, room)
    after = _above(load[member] - size, room[member])[:, None]
    after = after + _above(load + size[:, None], room)
    worth, at = _best(before - after, moves, open_to & (moves <= slack))
    p, to = divmod(at, candidates.members)
    return worth, Step(int(mine[p]) if len(mine) else -1, to, -1)


def _best_exchange(
    incumbent: Incumbent,
    member: int,
    mine: Int64,
    others: Int64,
    slack: int,
    room: Int64,
) -> tuple[float, Step]:
    """(gain per move, step) of the best exchange of a partition in `mine` for one in `others`."""
    if not (len(mine) and len(others)):
        return 0.0, Step(-1, -1, -1)
    candidates, holder = incumbent.candidates, incumbent.holder[others]
    allowed = candidates.may[candidates.kind[mine]][:, holder]
    allowed &= candidates.may[candidates.kind[others], member]
    if len(candidates.least) > 1:
        allowed &= _counts_allow(incumbent, member, mine, others)
    moves = candidates.moved(mine[:, None], holder) - candidates.moved(mine, member)[:, None]
    moves = moves + candidates.moved(others, member) - candidates.moved(others, holder)
    difference = candidates.size[mine][:, None] - candidates.size[others]
    load = incumbent.loads
    before = _above(load[member], room[member]) + _above(load, room)[holder]
    after = _above(load[member] - difference, room[member])
    after = after + _above(load[holder] + difference, room[holder])
    worth, at = _best(before - after, moves, allowed & (moves <= slack))
    p, q = divmod(at, len(others))
    return worth, Step(int(mine[p]), int(holder[q]), int(others[q]))


def _counts_allow(incumbent: Incumbent, member: int, mine: Int64, others: Int64) -> Bools:
    """(mine, others) bool: whether an exchange keeps to the least and most of every pile."""
    candidates, holder = incumbent.candidates, incumbent.holder[others]
    own, theirs = candidates.pile[mine], candidates.pile[others]
    spare, room = incumbent.held > candidates.least, incumbent.held < candidates.most
    gives = (spare[own, member])[:, None] & room[own][:, holder]
    takes = spare[theirs, holder] & room[theirs, member]
    same = own[:, None] == theirs
    return np.asarray(same | (gives & takes), bool)


def go_back(incumbent: Incumbent, p: int, room: Int64 | None = None) -> bool:
    """Return a partition to its owner, alone or in exchange for another; return whether it went.

    The partition in exchange is the one that saves most moves.

    Parameters
    ----------
    room : (members,) int64, the most that the two members may carry afterwards, None: anything
    """
    candidates = incumbent.candidates
    room = np.full(candidates.members, candidates.total) if room is None else room
    owner, holder, pile = (
        int(candidates.home[p]),
        int(incumbent.holder[p]),
        int(candidates.pile[p]),
    )
    if owner == holder or not candidates.may[candidates.kind[p], owner]:
        return False
    mine, theirs, size = incumbent.of[holder], incumbent.of[owner], int(candidates.size[p])
    fits = incumbent.held[pile, holder] > candidates.least[pile, holder]
    fits &= incumbent.held[pile, owner] < candidates.most[pile, owner]
    if fits and int(incumbent.loads[owner]) + size <= int(room[owner]):
        incumbent.give((holder, owner), (mine[mine != p], np.append(theirs, p)))
        return True
    same = theirs[candidates.pile[theirs] == pile]
    same = same[candidates.may[candidates.kind[same], holder]]
    difference = size - candidates.size[same]
    extra = candidates.moved(same, holder) - candidates.moved(same, owner)
    good = (extra <= 0) & (incumbent.loads[owner] + difference <= room[owner])
    good &= incumbent.loads[holder] - difference <= room[holder]
    if not good.any():
        return False
    q = int(same[good][extra[good].argmin()])
    incumbent.give(
        (holder, owner), (np.append(mine[mine != p], q), np.append(theirs[theirs != q], p))
    )
    return True


# Partitions in each half of a split: all subsets of a half are enumerated.
HALF = 10
# With several piles: partitions that two members may exchange at once, and the most ways per half.
SPREAD, WAYS = 24, 4096

Split = tuple["Int64", "Int64"]


def split(
    incumbent: Incumbent, a: int, b: int, rng: np.random.Generator, *, off: int = 0
) -> Split | None:
    """Return the most even split of what two members hold together.

    It is exact if they may exchange at most 2 * HALF partitions of one pile; if there are more,
    some are drawn. A budget on moves is kept to.

    Parameters
    ----------
    off : how much more `a` should carry than `b`; not 0 for uneven splits

    Returns
    -------
    the partitions of `a` and of `b`; None if they have nothing to exchange, or if there are
    several piles and a budget on moves
    """
    candidates = incumbent.candidates
    both = np.concatenate((incumbent.of[a], incumbent.of[b]))
    with_a = np.arange(len(both)) < len(incumbent.of[a])
    free = np.flatnonzero(candidates.may[candidates.kind[both], np.where(with_a, b, a)])
    one_pile = len(candidates.least) == 1
    if not len(free) or not (one_pile or candidates.moves is None):
        return None
    if not one_pile or len(free) > 2 * HALF:
        free = rng.permutation(free)[: 2 * HALF if one_pile else SPREAD]
    to_a = (_one_pile if one_pile else _several_piles)(
        incumbent, a, b, both[free], with_a[free], off
    )
    if to_a is None:
        return None
    goes = with_a.copy()
    goes[free] = to_a
    return both[goes], both[~goes]


def _target(
    incumbent: Incumbent, a: int, b: int, size: Int64, with_a: Bools, off: int
) -> tuple[int, int]:
    """(twice the size of the free partitions that a should hold, the size of all free ones)."""
    total, mine = int(size.sum()), int(size[with_a].sum())
    one, other = int(incumbent.loads[a]), int(incumbent.loads[b])
    gap = other - one
    if incumbent.candidates.rate is not None:
        rate, rates = int(incumbent.candidates.rate[a]), incumbent.candidates.rate[[a, b]].tolist()
        gap = 2 * ((one + other) * rate // sum(rates) - one)
    return min(max(2 * mine + gap + off, 0), 2 * total), total


def _counts(incumbent: Incumbent, pile: int, a: int, b: int, n: int, n_a: int) -> range:
    """Return how many of n free partitions of a pile, of which a holds n_a now, may go to a."""
    candidates = incumbent.candidates
    fixed_a = int(incumbent.held[pile, a]) - n_a
    fixed_b = int(incumbent.held[pile, b]) - (n - n_a)
    least = max(
        0, int(candidates.least[pile, a]) - fixed_a, n - int(candidates.most[pile, b]) + fixed_b
    )
    most = min(
        n, int(candidates.most[pile, a]) - fixed_a, n - int(candidates.least[pile, b]) + fixed_b
    )
    return range(least, most + 1)


def _one_pile(
    incumbent: Incumbent, a: int, b: int, free: Int64, with_a: Bools, off: int
) -> Bools | None:
    """Return for each free partition whether it goes to a, if there is one pile.

    If the count matters, it is added to each size as a unit that outweighs the sum of all sizes.
    """
    candidates, n = incumbent.candidates, len(free)
    counts = _counts(incumbent, 0, a, b, n, int(with_a.sum()))
    size = candidates.size[free]
    twice, total = _target(incumbent, a, b, size, with_a, off)
    unit, any_count = total + 1, len(counts) == n + 1
    counted = size if any_count else size + unit
    middle, best = n // 2, None
    for first, second in _halves(incumbent, a, b, free, with_a, counted):
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


def _halves(
    incumbent: Incumbent, a: int, b: int, free: Int64, with_a: Bools, counted: Int64
) -> Iterator[tuple[Ways, Ways]]:
    """Yield pairs of ways, of the first and second half of the free partitions, to combine.

    One pair of all ways; with a budget on moves, a pair for each number of moves in the first
    half, with the ways of the second that keep to the budget.
    """
    middle, left = len(free) // 2, incumbent.moves_left
    sums = subset_sums(counted[:middle]), subset_sums(counted[middle:])
    order = np.argsort(sums[1])
    if left is None:
        yield (sums[0], np.arange(2**middle)), (sums[1][order], order)
        return
    extra = incumbent.candidates.moved(free, a) - incumbent.candidates.moved(free, b)
    most = left + int(extra[with_a].sum())
    moves = subset_sums(extra[:middle]), subset_sums(extra[middle:])
    for spent in np.unique(moves[0]).tolist():
        first = np.flatnonzero(moves[0] == spent)
        second = order[moves[1][order] <= most - spent]
        if len(second):
            yield (sums[0][first], first), (sums[1][second], second)


def _several_piles(
    incumbent: Incumbent, a: int, b: int, free: Int64, with_a: Bools, off: int
) -> Bools | None:
    """Return for each free partition whether it goes to a, if each pile has counts of its own.

    For each pile there is an option, the subsets that its counts allow; the options are divided
    into two halves of about as many ways.
    """
    candidates = incumbent.candidates
    options: list[tuple[Int64, Int64, Int64]] = []
    pile = candidates.pile[free]
    for number in np.unique(pile).tolist():
        at = np.flatnonzero(pile == number)[:HALF]
        n = len(at)
        counts = _counts(incumbent, number, a, b, n, int(with_a[at].sum()))
        allowed = (sizes(n) >= counts.start) & (sizes(n) < counts.stop)
        way = np.flatnonzero(allowed)
        if len(way) > 1:
            options.append((at, way, subset_sums(candidates.size[free[at]])[way]))
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
    size = candidates.size[free[moved]]
    twice, total = _target(incumbent, a, b, size, with_a[moved], off)
    # The sum of each way to take one entry of each option, the last varying fastest.
    start = np.zeros(1, np.int64)
    sums = [
        reduce(lambda sums, option: np.add.outer(sums, option[2]).ravel(), half, start)
        for half in halves
    ]
    order = np.argsort(sums[1])
    first, second = (sums[0], np.arange(len(sums[0]))), (sums[1][order], order)
    _, *picks = meet(first, second, twice, 0, total)
    goes = with_a.copy()
    for half, pick in zip(halves, picks, strict=True):
        numbers = np.unravel_index(pick, [len(way) for _, way, _ in half]) if half else ()
        for (at, way, _), number in zip(half, numbers, strict=True):
            goes[at] = subsets(len(at))[way[number]] > 0
    return goes


@lru_cache(maxsize=32)
def subsets(n: int) -> Int64:
    """(2^n, n) int64: 1 where the subset of that index contains the element."""
    return frozen((np.arange(2**n)[:, None] >> np.arange(n)) & 1)


@lru_cache(maxsize=32)
def sizes(n: int) -> Int64:
    """(2^n,) int64: how many elements each subset has."""
    return frozen(subsets(n).sum(axis=1))


def subset_sums(values: Int64) -> Int64:
    """(2^n,) int64: the sum of each subset of (n,) int64."""
    sums = np.zeros(2 ** len(values), np.int64)
    for i, value in enumerate(values.tolist()):
        np.add(sums[: 2**i], value, out=sums[2**i : 2 ** (i + 1)])
    return sums


# Ways to choose from one half of the partitions: the sum of each, (ways,) int64, and its index
# among the subsets that the caller enumerated.
Ways = tuple["Int64", "Int64"]


def meet(first: Ways, second: Ways, twice: int, least: int, most: int) -> tuple[int, int, int]:
    """Return the sum of one way of each half that is closest to a target, and the two picks.

    Meet in the middle (Horowitz and Sahni 1974, doi:10.1145/321812.321823): for each way of the
    first half, the closest sum of the second is found by binary search.

    Parameters
    ----------
    second : its sums ascend
    twice : twice the target, which may lie between two integers
    least, most : the range of sums allowed, which contains the target

    Returns
    -------
    the sum and the picks; -1 for the picks if no sum is allowed
    """
    (one, one_pick), (other, other_pick) = first, second
    rest = np.searchsorted(other, twice // 2 - one, side="right")
    best = (2 * (most - least) + 2, least - 1, -1, -1)
    for at in (np.maximum(rest - 1, 0), np.minimum(rest, len(other) - 1)):
        found = one + other[at]
        off = np.abs(2 * found - twice)
        off[(found < least) | (found > most)] = best[0]
        i = int(off.argmin())
        if off[i] < best[0]:
            best = int(off[i]), int(found[i]), int(one_pick[i]), int(other_pick[at[i]])
    return best[1:]
