"""Lower bounds: what the busiest member carries at least, whatever is done, and why.

Where the peak is a time, members are uniform machines, Q||Cmax with counts: an average is one of
rates, and where the heaviest partitions do not all fit within a time it takes longer.
"""

from __future__ import annotations

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


# Kinds of partitions whose readers are looked at: those of the heaviest ones.
KINDS = 200
# How many numbers of heavy partitions are looked at.
CROWDS = 32
# Cells of the linear program beyond which it takes too long, and the seconds that it has.
MOST_RELAXED, SECONDS = 20_000, 2.0
# The weights are integers of about this size together.
SCALE = 2**30


def highest_floor(candidates: Candidates) -> tuple[int, Floor | None]:
    """Return the highest bound on the peak that the checker can recompute, and its reason.

    None, with bound 0, where nothing weighs anything.
    """
    best: tuple[int, Floor | None] = 0, None
    for members in _sets(candidates):
        for bound, floor in _floors(candidates, members, best[0]):
            if bound > best[0]:
                best = bound, floor
    return best


def _sets(candidates: Candidates) -> Iterator[Bools]:
    """Yield sets of members that may have much to carry, (members,) bool each.

    All; those who may hold the partitions of one kind, with the heaviest partition first; and
    the one that has most to carry on average.
    """
    everybody = np.ones(candidates.members, bool)
    yield everybody
    if candidates.may.all() or not len(candidates.size):
        return
    seen = {everybody.tobytes()}
    heaviest = np.zeros(len(candidates.may), np.int64)
    np.maximum.at(heaviest, candidates.kind, candidates.size)
    rows = candidates.may[np.argsort(-heaviest, kind="stable")[:KINDS]]
    for members in (densest(candidates), *_parts(candidates), *rows):
        if members.tobytes() not in seen:
            seen.add(members.tobytes())
            yield members


def _parts(candidates: Candidates) -> list[Bools]:
    """Return the members of each connected part: who shares partitions, if through others."""
    label = np.arange(candidates.members)
    beyond = candidates.members
    while True:
        of_kind = np.where(candidates.may, label, beyond).min(axis=1, initial=beyond)
        least = np.where(candidates.may, of_kind[:, None], beyond).min(axis=0, initial=beyond)
        found = np.minimum(label, least)
        if np.array_equal(found, label):
            return [label == part for part in np.unique(label)][:KINDS]
        label = found


def densest(candidates: Candidates) -> Bools:
    """(members,) bool: a set whose own partitions weigh most per member, rounded up.

    Newton's method on the ratio (Dinkelbach 1967, doi:10.1287/mnsc.13.7.492): every member may
    carry the best average so far. Where not all weight gets through, the minimum cut shows a set
    with a higher one; where it does, there is none.
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
    """Yield of each topic with a heaviest partition its readers, and what they carry with it.

    They hold their share, rounded down, of every topic that they read, the lightest of it.

    Parameters
    ----------
    only : (kinds,) bool, whether some members alone may hold partitions of a kind
    heaviest : what the heaviest partition of those weighs
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
    """Yield the least peak that some members have, on average and for their crowds.

    Parameters
    ----------
    best : crowds that show no more than that are left out
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
    """Return the least peak under which members may hold the heavy partitions together.

    Parameters
    ----------
    sums : of the 0, 1, 2, ... lightest of the heavy partitions, and of the others
    alike : rates, how many partitions a member holds at least and at most, and how many members
        are like that
    best : that peak where it is enough
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

    low, high = best, -(-int(heavy[-1] + light[-1]) // min(rate for rate, *_ in alike))
    if low >= high or is_enough(low):
        return low
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle + 1, high)
    return low


def least_score(tier: str, candidates: Candidates, peak: int) -> int:
    """Return what no spread or balance is below, given that the peak is reached, 0 for none.

    The j fullest members carry the j heaviest partitions and the lightest ones that make up their
    numbers; and the next member carries at least the average of what is left
    (docs/explanation/proof.md).
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
    """Return the best bound by weights of members, where every topic has counts of its own.

    What members carry, each as often as its weight says, is least where the heaviest partitions
    of each topic are with the readers of least weight. The peak is no less than that divided by
    all weights. The weights are the dual values of the linear relaxation, which no other weights
    beat.

    Returns
    -------
    the bound, 0 where there is too much to relax
    """
    weight = _dual_values(candidates) if candidates.cells <= MOST_RELAXED else None
    if weight is None:
        return 0
    scaled = np.rint(weight * (SCALE / weight.sum())).astype(np.int64)
    scaled //= np.gcd.reduce(scaled)
    return -(-_least_weighted_sum(candidates, scaled) // int(scaled.sum()))


def _least_weighted_sum(candidates: Candidates, weight: Int64) -> int:
    """Return the least sum of what members carry, each as often as its weight says."""
    total = 0
    for pile in range(len(candidates.least)):
        size = np.sort(candidates.size[candidates.pile == pile])[::-1]
        readers = np.flatnonzero(candidates.most[pile] > 0)
        least, most = candidates.least[pile, readers], candidates.most[pile, readers]
        places = np.repeat(weight[readers], least)
        more = np.sort(np.repeat(weight[readers], most - least))[: len(size) - len(places)]
        places = np.sort(np.concatenate((places, more)))
        # Beyond 64 bits.
        total += sum(map(mul, size.tolist(), places.tolist()))
    return total


def _dual_values(candidates: Candidates) -> np.ndarray[tuple[int], np.dtype[np.float64]] | None:
    """(members,) float64: what each member's load is worth in the linear relaxation.

    A partition may be split among its readers; no member may carry more than the peak.
    """
    # Only here: half a second that other groups need not wait for.
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
class Leavers:
    """What each member owned, and how many partitions it may hold.

    Attributes
    ----------
    owned : of each member the sums of its 0, 1, 2, ... lightest partitions, int64 each
    light : (read + 1,) int64, the same of all partitions
    least, most : (members,) int64, how many partitions a member holds
    unowned : how many partitions nobody owns
    """

    owned: list[Int64]
    light: Int64
    least: Int64
    most: Int64
    unowned: int

    @staticmethod
    def of(candidates: Candidates) -> Leavers:
        """Sort what everybody owned."""
        home = candidates.home
        order = np.lexsort((candidates.size, home))
        ends = np.searchsorted(home[order], np.arange(candidates.members + 1))
        owned = [starts(candidates.size[order[a:b]]) for a, b in pairwise(ends.tolist())]
        return Leavers(
            owned,
            starts(np.sort(candidates.size)),
            candidates.least.sum(axis=0),
            np.minimum(candidates.most.sum(axis=0), len(home)),
            int((home < 0).sum()),
        )

    def needed(self, room: Int64) -> int:
        """Return a bound on the moves that it takes until nobody carries more than its room.

        Each member has to give up its heaviest partitions until the rest fits, with the lightest
        ones that make up its number. Those that owned too much, together, have to take as many
        back as their numbers ask for, and others have to give them up (docs/explanation/lag.md).

        Parameters
        ----------
        room : (members,) int64

        Returns
        -------
        more than there are partitions where no number of moves is enough
        """
        givers, rooms = list(self.givers(room)), room.tolist()
        columns = zip(self.owned, self.least.tolist(), self.most.tolist(), rooms, strict=True)
        gives = [self._given(*one)[0] for one in columns]
        inside = sum(gives[m] for m in givers)
        outside = sum(gives) - inside
        nothing = np.zeros(0, np.int64)
        sizes = np.concatenate([nothing, *(np.diff(self.owned[m]) for m in givers)])
        least, most = (int(of[givers].sum()) for of in (self.least, self.most))
        room_of_all = sum(rooms[m] for m in givers)
        out, back = self._given(starts(np.sort(sizes)), least, most, room_of_all)
        return max(inside, out) + max(outside, back - self.unowned)

    def givers(self, room: Int64) -> tuple[int, ...]:
        """Return the members that owned more than their room."""
        return tuple(m for m, sums in enumerate(self.owned) if int(sums[-1]) > int(room[m]))

    def _given(self, sums: Int64, least: int, most: int, room: int) -> tuple[int, int]:
        """(how many partitions leave some members, how many come to them instead) at least.

        Parameters
        ----------
        sums : of the 0, 1, 2, ... lightest that they owned; least, most : how many they may hold
        """
        count = len(sums) - 1
        given = np.arange(max(0, count - most), count + 1)
        taken = np.maximum(least - count + given, 0)
        fits = sums[count - given] + self.light[np.minimum(taken, len(self.light) - 1)] <= room
        if not fits.any():
            return len(self.light), 0
        at = int(fits.argmax())
        return int(given[at]), int(taken[at])
