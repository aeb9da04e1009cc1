"""Lower bounds on the peak, on how even loads are, and on moves, and the reasons for them.

If the peak is a time, members are uniform machines, Q||Cmax with counts: averages are weighted by
rates.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from itertools import pairwise
from operator import mul
from typing import TYPE_CHECKING

import numpy as np
from ortools.graph.python import max_flow

from groups.arrays import starts
from optimal.proof import Floor

if TYPE_CHECKING:
    from collections.abc import Iterator

    from groups.arrays import Bools, Int64
    from optimal.loads.candidates import Candidates


# The sets of members tried are the readers of so many kinds, those with the heaviest partitions.
KINDS = 200
# How many sets of heavy partitions are tried for each set of members.
CROWDS = 32
# The most cells with which the linear program is solved, and its seconds.
MOST_RELAXED, SECONDS = 20_000, 2.0
# The weights of members are integers that add up to about this.
SCALE = 2**30


def highest_floor(candidates: Candidates) -> tuple[int, Floor | None]:
    """Return the highest bound on the peak that the checker can recompute, and its reason.

    The bound is 0 and the reason None if all sizes are 0.
    """
    best: tuple[int, Floor | None] = 0, None
    for members in _likely_sets(candidates):
        for bound, floor in _floors(candidates, members, best[0]):
            if bound > best[0]:
                best = bound, floor
    return best


def _likely_sets(candidates: Candidates) -> Iterator[Bools]:
    """Yield sets of members that are likely to give a high bound, (members,) bool each.

    All members; the set with the highest average; and the members that may hold the partitions of
    one kind, for the kinds with the heaviest partitions.
    """
    everybody = np.ones(candidates.members, bool)
    yield everybody
    if candidates.may.all() or not len(candidates.size):
        return
    seen = {everybody.tobytes()}
    heaviest = np.zeros(len(candidates.may), np.int64)
    np.maximum.at(heaviest, candidates.kind, candidates.size)
    rows = candidates.may[np.argsort(-heaviest, kind="stable")[:KINDS]]
    for members in (densest(candidates), *rows):
        if members.tobytes() not in seen:
            seen.add(members.tobytes())
            yield members


def densest(candidates: Candidates) -> Bools:
    """(members,) bool: a set with the highest average of partitions that it alone may hold.

    Newton's method on the ratio (Dinkelbach 1967, doi:10.1287/mnsc.13.7.492): each member gets
    the best average so far as its capacity. If a maximum flow cannot carry all weight, the minimum
    cut is a set of a higher average; if it can, no average is higher.
    """
    kinds, members = candidates.may.shape
    weight = np.zeros(kinds, np.int64)
    np.add.at(weight, candidates.kind, candidates.size)
    kind, member = np.nonzero(candidates.may)
    source, sink = kinds + members, kinds + members + 1
    total = int(weight.sum())
    found = np.ones(members, bool)
    while True:
        only = ~candidates.may[:, ~found].any(axis=1)
        average = -(-int(weight[only].sum()) // sum(candidates.rates[found].tolist()))
        solver = max_flow.SimpleMaxFlow()
        solver.add_arcs_with_capacity(
            np.concatenate((np.full(kinds, source), kind, kinds + np.arange(members))),
            np.concatenate((np.arange(kinds), kinds + member, np.full(members, sink))),
            np.concatenate((weight, np.full(len(kind), total), candidates.room(average))),
        )
        if solver.solve(source, sink) != solver.OPTIMAL or solver.optimal_flow() == total:
            return found
        cut = np.array(solver.get_source_side_min_cut(), np.int64)
        found = np.zeros(members, bool)
        found[cut[(cut >= kinds) & (cut < kinds + members)] - kinds] = True


def _lightest_with_one(
    candidates: Candidates, only: Bools, heaviest: int
) -> Iterator[tuple[Int64, Int64]]:
    """Yield for each topic with a heaviest partition its readers, and the least load with it.

    Each reader also holds at least its share, rounded down, of every topic that it reads: the
    lightest partitions.

    Parameters
    ----------
    only : (kinds,) bool, whether the set of members alone may hold partitions of a kind
    heaviest : the weight of the heaviest of those partitions
    """
    piles, members = candidates.least.shape
    share = candidates.least.max(axis=1, initial=0)
    order = np.lexsort((candidates.size, candidates.pile))
    ends = np.searchsorted(candidates.pile[order], np.arange(piles + 1))
    size = candidates.size[order]
    light = [int(size[ends[t] : ends[t] + share[t]].sum()) for t in range(piles)]
    row = np.zeros((piles, members), bool)
    row[candidates.pile] = candidates.may[candidates.kind]
    of_member = np.where(row, np.array(light, np.int64)[:, None], 0).sum(axis=0)
    heavy = only[candidates.kind] & (candidates.size >= heaviest)
    for t in np.unique(candidates.pile[heavy]).tolist():
        mine = size[ends[t] : ends[t + 1]]
        others = int(mine[: max(0, int(share[t]) - 1)].sum())
        readers = np.flatnonzero(row[t])
        yield readers, of_member[readers] - light[t] + heaviest + others


def _floors(candidates: Candidates, members: Bools, best: int) -> Iterator[tuple[int, Floor]]:
    """Yield bounds on the peak of a set of members: by their average, and by crowds.

    Parameters
    ----------
    best : crowds that give no higher bound than this are left out
    """
    only = np.asarray(~candidates.may[:, ~members].any(axis=1), bool)
    able = np.asarray(candidates.may[:, members].any(axis=1), bool)
    mine = np.flatnonzero(only[candidates.kind])
    if not len(mine):
        return
    size, names = candidates.size, tuple(np.flatnonzero(members).tolist())
    rates = candidates.rates
    yield -(-int(size[mine].sum()) // sum(rates[members].tolist())), Floor("average", names)
    mine = mine[np.argsort(-size[mine], kind="stable")]
    rest = np.flatnonzero(able[candidates.kind])
    rest = rest[np.argsort(size[rest], kind="stable")]
    if len(candidates.least) > 1:
        heaviest = int(size[mine[0]])
        with_one = _lightest_with_one(candidates, only, heaviest)
        yield (
            min(int((-(-loads // rates[who])).min()) for who, loads in with_one),
            Floor("crowd", names, heaviest),
        )
        return
    least, most = candidates.least[0, members], candidates.most[0, members]
    least = np.maximum(least, most - (int(most.sum()) - len(mine)))
    alike, number = np.unique((rates[members], least, most), axis=1, return_counts=True)
    places = np.arange(len(mine))[:: len(names)][:CROWDS]
    if candidates.rate is not None:
        places = np.unique(np.geomspace(1, len(mine), CROWDS).astype(np.int64)) - 1
    for at_least in dict.fromkeys(size[mine[places]].tolist()):
        if at_least == 0:
            continue
        heavy = mine[size[mine] >= at_least]
        light = rest[~np.isin(rest, heavy)]
        sums = starts(size[heavy[::-1]]), starts(size[light])
        bound = _least_peak(sums, [*zip(*alike.tolist(), number.tolist(), strict=True)], best)
        if bound > best:
            best = bound
            yield bound, Floor("crowd", names, at_least)


def _least_peak(
    sums: tuple[Int64, Int64], alike: list[tuple[int, int, int, int]], best: int
) -> int:
    """Return the least peak, `best` or more, under which members could hold all heavy partitions.

    Parameters
    ----------
    sums : weights of the 0, 1, 2, ... lightest of the heavy partitions, and of the others
    alike : for members that are alike, their rate, the least and the most partitions that each
        holds, and the number of such members
    """
    heavy, light = sums
    wanted, carried = len(heavy) - 1, []
    for _, least, most, _ in alike:
        taken = np.arange(min(wanted, most) + 1)
        more = np.clip(least - taken, 0, len(light) - 1)
        carried.append(np.minimum.accumulate((heavy[taken] + light[more])[::-1])[::-1])

    def is_enough(peak: int) -> bool:
        fits = 0
        for (rate, _, _, members), loads in zip(alike, carried, strict=True):
            room = min(peak * rate, int(loads[-1]))
            fits += members * max(0, int(np.searchsorted(loads, room, side="right")) - 1)
        return fits >= wanted

    high = -(-int(heavy[-1] + light[-1]) // min(rate for rate, *_ in alike))
    if best >= high or is_enough(best):
        return best
    return best + bisect_left(range(best, high), True, key=is_enough)


def least_score(tier: str, candidates: Candidates, peak: int) -> int:
    """Return a lower bound on a spread or balance of loads, given a peak that is reached.

    The j fullest members carry at least the j heaviest partitions and the lightest ones that make
    up their numbers; the next member carries at least the average of the rest
    (docs/explanation/proof.md).

    Parameters
    ----------
    peak : the load of the fullest member, 0 if it is not known
    """
    members, total = candidates.members, candidates.total
    size = np.sort(candidates.size)
    held = 0
    if len(candidates.least) == 1:
        least, most = candidates.least[0], candidates.most[0]
        held = int(np.maximum(least, most - (int(most.sum()) - len(size))).min(initial=len(size)))
    j = np.arange(members + 1)
    light = starts(size)
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


def weighted_average(candidates: Candidates) -> int:
    """Return a bound on the peak by a weighted average of loads, if each topic has its own counts.

    The weighted sum of loads is least if the heaviest partitions of each topic are with the
    readers of least weight. The peak is at least that sum divided by the sum of weights. The
    weights are the dual values of the linear relaxation, which give the best such bound.

    Returns
    -------
    the bound, 0 if the linear program would be too large
    """
    found = _dual_values(candidates) if candidates.cells <= MOST_RELAXED else None
    if found is None:
        return 0
    weight, total = np.rint(found * (SCALE / found.sum())).astype(np.int64), 0
    weight //= np.gcd.reduce(weight)
    for pile in range(len(candidates.least)):
        size = np.sort(candidates.size[candidates.pile == pile])[::-1]
        readers = np.flatnonzero(candidates.most[pile] > 0)
        least, most = candidates.least[pile, readers], candidates.most[pile, readers]
        places = np.repeat(weight[readers], least)
        more = np.sort(np.repeat(weight[readers], most - least))[: len(size) - len(places)]
        places = np.sort(np.concatenate((places, more)))
        # Python integers, since the sum may leave 64 bits.
        total += sum(map(mul, size.tolist(), places.tolist()))
    return -(-total // int(weight.sum()))


def _dual_values(candidates: Candidates) -> np.ndarray[tuple[int], np.dtype[np.float64]] | None:
    """(members,) float64: dual value of each member's load in the linear relaxation.

    A partition may be split among its readers; no member may carry more than the peak. None if
    the solver finds no optimum in time.
    """
    # Loading takes half a second, which other groups need not wait for.
    from ortools.linear_solver import pywraplp

    solver = pywraplp.Solver.CreateSolver("GLOP")
    peak = solver.NumVar(0, solver.infinity(), "peak")
    carried = [solver.Constraint(-solver.infinity(), 0) for _ in range(candidates.members)]
    for one in carried:
        one.SetCoefficient(peak, -1)
    pile, member = np.nonzero(candidates.most)
    held = {
        (p, m): solver.Constraint(int(candidates.least[p, m]), int(candidates.most[p, m]))
        for p, m in zip(pile.tolist(), member.tolist(), strict=True)
    }
    for size, kind, pile_of in zip(candidates.size, candidates.kind, candidates.pile, strict=True):
        whole = solver.Constraint(1, 1)
        for m in np.flatnonzero(candidates.may[kind]).tolist():
            part = solver.NumVar(0, 1, "")
            whole.SetCoefficient(part, 1)
            carried[m].SetCoefficient(part, int(size))
            held[int(pile_of), m].SetCoefficient(part, 1)
    solver.Minimize(peak)
    solver.SetTimeLimit(int(1000 * SECONDS))
    if solver.Solve() != solver.OPTIMAL:
        return None
    weight = np.maximum([-one.dual_value() for one in carried], 0.0)
    return weight if weight.sum() > 0 else None


@dataclass(frozen=True, eq=False)
class FewestMoves:
    """A lower bound on the moves that take every member's load below a limit.

    Attributes
    ----------
    owned : for each member, int64 weights of the 0, 1, 2, ... lightest partitions that it owned
    light : (read + 1,) int64, weights of the 0, 1, 2, ... lightest of all partitions
    least, most : (members,) int64, how many partitions a member may hold
    unowned : how many partitions nobody owned
    """

    owned: list[Int64]
    light: Int64
    least: Int64
    most: Int64
    unowned: int

    @staticmethod
    def of(candidates: Candidates) -> FewestMoves:
        """Sort the partitions that each member owned by weight."""
        home = candidates.home
        order = np.lexsort((candidates.size, home))
        ends = np.searchsorted(home[order], np.arange(candidates.members + 1))
        owned = [starts(candidates.size[order[a:b]]) for a, b in pairwise(ends.tolist())]
        return FewestMoves(
            owned,
            starts(np.sort(candidates.size)),
            candidates.least.sum(axis=0),
            np.minimum(candidates.most.sum(axis=0), len(home)),
            int((home < 0).sum()),
        )

    def needed(self, room: Int64) -> int:
        """Return a lower bound on the moves until no member carries more than its room.

        Each member has to give up its heaviest partitions until the rest fits, together with the
        lightest ones that make up its least number. Members that owned too much also have to take
        other partitions until all hold their least number, and others have to give these up
        (docs/explanation/lag.md).

        Parameters
        ----------
        room : (members,) int64, the most load of each member

        Returns
        -------
        the bound; more than there are partitions if no number of moves is enough
        """
        givers, rooms = list(self.givers(room)), room.tolist()
        columns = zip(self.owned, self.least.tolist(), self.most.tolist(), rooms, strict=True)
        gives = [self._fewest_given(*one)[0] for one in columns]
        inside = sum(gives[m] for m in givers)
        outside = sum(gives) - inside
        nothing = np.zeros(0, np.int64)
        sizes = np.concatenate([nothing, *(np.diff(self.owned[m]) for m in givers)])
        least, most = (int(of[givers].sum()) for of in (self.least, self.most))
        room_of_all = sum(rooms[m] for m in givers)
        out, back = self._fewest_given(starts(np.sort(sizes)), least, most, room_of_all)
        return max(inside, out) + max(outside, back - self.unowned)

    def givers(self, room: Int64) -> tuple[int, ...]:
        """Return the members that owned more than their room."""
        return tuple(m for m, sums in enumerate(self.owned) if int(sums[-1]) > int(room[m]))

    def _fewest_given(self, sums: Int64, least: int, most: int, room: int) -> tuple[int, int]:
        """(the fewest partitions that leave some members, the fewest others that come to them).

        Parameters
        ----------
        sums : weights of the 0, 1, 2, ... lightest partitions that they owned
        least, most : how many partitions they may hold
        room : the most load that they may carry
        """
        count = len(sums) - 1
        given = np.arange(max(0, count - most), count + 1)
        taken = np.maximum(least - count + given, 0)
        fits = sums[count - given] + self.light[np.minimum(taken, len(self.light) - 1)] <= room
        if not fits.any():
            return len(self.light), 0
        at = int(fits.argmax())
        return int(given[at]), int(taken[at])
