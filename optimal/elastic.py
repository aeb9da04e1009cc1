"""Elastic: the fewest members that hold all partitions within a capacity, then the least moved.

Bin packing with a history: sizes change, and a partition that leaves its member costs its speed.
The problem of Landau, Andrade and Barbosa, "Kafka Consumer Group Autoscaler", arXiv:2206.11170.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from functools import cached_property
from heapq import nlargest
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np

from groups.arrays import NOBODY
from groups.errors import BadInput, ProofError
from optimal.arc_flow import MOST_ARCS, ArcFlow, TooLarge
from optimal.proof import ProofKind
from optimal.solution import Status, Term
from optimal.time_left import TimeLeft

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

# The knapsack of what one member can keep has at most so many loads; more are rounded.
MOST_POINTS = 5_000
# Sums of speeds are added up in 64 bits.
MOST_SPEED = 2**62


@dataclass(frozen=True)
class Elastic:
    """Partitions with speeds, the capacity of every member, and who holds what now.

    A partition that is faster than the capacity counts as one of just the capacity: it fills a
    member, which falls behind. Beside it only partitions of speed 0 fit.

    Attributes
    ----------
    speeds : speed of each partition, a whole number of 0 or more, in any unit
    capacity : the most speed that a member can take, 1 or more, in the same unit
    owner : for each partition the number of the member that holds it, -1 where nobody does
    """

    speeds: tuple[int, ...]
    capacity: int
    owner: tuple[int, ...]

    def __post_init__(self) -> None:
        """Require whole numbers in their ranges."""
        if type(self.capacity) is not int or self.capacity < 1:
            raise BadInput(f"capacity: {self.capacity!r}, expected a whole number of 1 or more")
        if len(self.owner) != len(self.speeds):
            raise BadInput(f"owner: {len(self.owner)} values for {len(self.speeds)} partitions")
        for name, least in (("speeds", 0), ("owner", NOBODY)):
            for p, value in enumerate(getattr(self, name)):
                if type(value) is not int or value < least:
                    raise BadInput(
                        f"{name}.{p}: {value!r}, expected a whole number of {least} or more"
                    )
        if sum(self.speeds) >= MOST_SPEED:
            raise BadInput(f"speeds: {sum(self.speeds):,} together, expected less than 2^62")

    @cached_property
    def sizes(self) -> list[int]:
        """What each partition takes of a member's capacity: its speed, at most all of it."""
        return [min(speed, self.capacity) for speed in self.speeds]

    @cached_property
    def held(self) -> dict[int, list[int]]:
        """The partitions that each member holds now, by its number."""
        found = defaultdict(list)
        for p, member in enumerate(self.owner):
            if member != NOBODY:
                found[member].append(p)
        return dict(found)

    @cached_property
    def most_kept(self) -> dict[int, tuple[int, set[int]]]:
        """For each member an upper bound on the speed that it can keep, and those partitions.

        A knapsack: the fastest set of what it holds that fits. If there are too many loads, sizes
        are rounded down, so that the bound holds but the set may not fit.
        """
        grain = -(-self.capacity // MOST_POINTS)
        found = {}
        for member, held in self.held.items():
            best, better = np.zeros(self.capacity // grain + 1, np.int64), []
            for p in held:
                size = self.sizes[p] // grain
                taken = best[: len(best) - size] + self.speeds[p]
                better.append(taken > best[size:])
                best[size:] = np.maximum(best[size:], taken)
            part, load = set(), len(best) - 1
            for p, takes in zip(reversed(held), reversed(better), strict=True):
                size = self.sizes[p] // grain
                if load >= size and takes[load - size]:
                    part.add(p)
                    load -= size
            found[member] = int(best[-1]), part
        return found

    def moved(self, owner: Sequence[int]) -> int:
        """Return the sum of the speeds of the partitions that leave their member."""
        pairs = zip(self.speeds, self.owner, owner, strict=True)
        return sum(speed for speed, old, new in pairs if old not in (NOBODY, new))


@dataclass(frozen=True)
class Packing:
    """An assignment within the capacity, with its values, bounds and proof.

    Attributes
    ----------
    owner : for each partition the number of its member; numbers not in use now are new members
    terms : `members` if the fewest were asked for, then `moved_weight` among the packings of at
        most `at_most` members; its bound is None if the fewest members are not proved
    at_most : the most members allowed for the least moved weight
    proof : a certificate if `members_bound` and `moved_bound` meet every term
    """

    owner: tuple[int, ...]
    terms: tuple[Term, ...]
    at_most: int
    proof: ProofKind
    seconds: float

    @property
    def members(self) -> int:
        """The number of members that hold something."""
        return len(set(self.owner))

    @property
    def moved(self) -> int:
        """The sum of the speeds of the partitions that move."""
        return self.terms[-1].value

    @property
    def status(self) -> Status:
        """Optimal if there is a proof, otherwise feasible."""
        return Status.FEASIBLE if self.proof is ProofKind.NONE else Status.OPTIMAL


def pack(
    elastic: Elastic, *, at_most: int | None = None, time_limit: float | None = 10.0
) -> Packing:
    """Find the fewest members that hold everything, then the packing that moves least weight.

    Parameters
    ----------
    at_most : do not look for the fewest members, but move least weight with at most so many
    time_limit : seconds

    Raises
    ------
    BadInput
        If no packing of at most so many members was found.
    """
    started, left = perf_counter(), TimeLeft.of(time_limit)
    enough = len(elastic.speeds)
    tries = (_pack_by_fit(elastic, keepers, enough) for keepers in ((), elastic.held))
    found = [packing for packing in tries if packing is not None]
    bound, terms, by_solver = members_bound(elastic), [], False
    most = min(len({*owner}) for owner in found) if at_most is None else at_most
    if at_most is None and most > bound:
        fewest, claimed = _pack_by_solver(elastic, None, TimeLeft.of(left.share(2)))
        found += fewest
        by_solver = claimed is not None and claimed > bound
        bound, most = max(bound, claimed or 0), min(len({*owner}) for owner in found)
    if at_most is None:
        terms = [Term("members", most, bound)]
    found = [owner for owner in found if len({*owner}) <= most] + _pack_by_keeping(elastic, most)
    least, moved = moved_bound(elastic, most), min(map(elastic.moved, found), default=None)
    if moved is None or moved > least:
        fits, claimed = _pack_by_solver(elastic, most, left)
        found += [owner for owner in fits if len({*owner}) <= most]
        by_solver |= claimed is not None and claimed > least
        least = max(least, claimed or 0)
    if not found:
        raise BadInput(f"at_most: no packing of {most} members found; at least {bound} are needed")
    best = min(found, key=elastic.moved)
    is_open = at_most is None and most > bound
    terms.append(Term("moved_weight", elastic.moved(best), None if is_open else least))
    proof = ProofKind.SOLVER if by_solver else ProofKind.CERTIFICATE
    if any(term.value != term.bound for term in terms):
        proof = ProofKind.NONE
    answer = Packing(best, tuple(terms), most, proof, perf_counter() - started)
    check(elastic, answer)
    return answer


def frontier(elastic: Elastic, *, time_limit: float | None = 30.0) -> list[Packing]:
    """Return packings of the fewest members, then of each number with which less has to move.

    If the time is enough, the last one moves only what must move with any number of members.
    """
    left = TimeLeft.of(time_limit)
    points = [pack(elastic, time_limit=left.share(2))]
    least = moved_bound(elastic, len(elastic.speeds))
    for most in range(points[0].at_most + 1, len(elastic.speeds) + 1):
        if points[-1].moved == least or left.is_up:
            break
        point = pack(elastic, at_most=most, time_limit=left.share(2))
        if point.moved < points[-1].moved:
            points.append(point)
    return points


def members_bound(elastic: Elastic) -> int:
    """Return a lower bound on the members: L2 of Martello and Toth.

    For any k up to half of the capacity: a partition above capacity - k shares its member with
    none of size k or more, and no two partitions above half share a member; so all others of size
    k or more need the room that is left, or further members.

    Source: Martello and Toth 1990, doi:10.1016/0166-218X(90)90094-S
    """
    sizes, capacity = elastic.sizes, elastic.capacity
    best = int(bool(sizes))
    for k in {0, *(size for size in sizes if 2 * size <= capacity)}:
        large = [size for size in sizes if 2 * size > capacity]
        room = sum(capacity - size for size in large if size <= capacity - k)
        small = sum(size for size in sizes if k <= size and 2 * size <= capacity)
        best = max(best, len(large) + max(0, -(-(small - room) // capacity)))
    return best


def moved_bound(elastic: Elastic, at_most: int) -> int:
    """Return a lower bound on the moved weight with at most so many members.

    No member keeps more than the fastest set of what it holds that fits, and at most so many
    members keep anything.
    """
    most = nlargest(at_most, (kept for kept, _ in elastic.most_kept.values()))
    return sum(elastic.speeds[p] for held in elastic.held.values() for p in held) - sum(most)


def check(elastic: Elastic, packing: Packing) -> None:
    """Check a packing in plain Python, without a solver.

    The bounds of a certificate are computed again; those of a solver are not checked.

    Raises
    ------
    ProofError
        If a member is above the capacity, or a value or bound is wrong.
    """
    loads: dict[int, int] = {}
    for size, member in zip(elastic.sizes, packing.owner, strict=True):
        loads[member] = loads.get(member, 0) + size
    if min(loads, default=0) < 0 or max(loads.values(), default=0) > elastic.capacity:
        raise ProofError("a partition is with nobody, or a member is above the capacity")
    right = {"members": len(loads), "moved_weight": elastic.moved(packing.owner)}
    bounds = {
        "members": members_bound(elastic),
        "moved_weight": moved_bound(elastic, packing.at_most),
    }
    for term in packing.terms:
        if term.value != right[term.name]:
            raise ProofError(f"{term.name}: {term.value}, but it is {right[term.name]}")
        if term.bound is not None and term.bound > term.value:
            raise ProofError(f"{term.name}: the bound {term.bound} is above {term.value}")
        if packing.proof is ProofKind.CERTIFICATE and term.value != bounds[term.name]:
            raise ProofError(f"{term.name}: no certificate, the bound is {bounds[term.name]}")


def _pack_by_fit(elastic: Elastic, keepers: Collection[int], most: int) -> tuple[int, ...] | None:
    """Return a packing by best fit, the fastest first; None if it takes too many members.

    Parameters
    ----------
    keepers : members that first keep what fits of what they hold
    most : the most members allowed
    """
    sizes = elastic.sizes
    loads: dict[int, int] = {}
    owner = [NOBODY] * len(sizes)
    order = sorted(range(len(sizes)), key=lambda p: -elastic.speeds[p])

    def put(p: int, member: int) -> None:
        owner[p], loads[member] = member, loads.get(member, 0) + sizes[p]

    at = elastic.owner
    mine = [p for p in order if at[p] in keepers]
    for p in sorted(mine, key=lambda p: p not in elastic.most_kept[at[p]][1]):
        if loads.get(at[p], 0) + sizes[p] <= elastic.capacity:
            put(p, at[p])
    for p in order:
        if owner[p] == NOBODY:
            fits = [m for m, load in loads.items() if load + sizes[p] <= elastic.capacity]
            if not fits and len(loads) == most:
                return None
            fullest = max(fits, key=lambda m: (loads[m], -m), default=None)
            put(p, _unused(elastic, loads) if fullest is None else fullest)
    return _put_back_idle(elastic, owner if keepers else _give_bins_to_members(elastic, owner))


def _pack_by_keeping(elastic: Elastic, most: int) -> list[tuple[int, ...]]:
    """Return a packing in which the members that can keep most keep it, in a list, empty if none.

    As many members as possible keep what they hold.
    """
    kept = elastic.most_kept
    ranked = sorted(kept, key=lambda member: (-kept[member][0], member))
    released = [0, *(2**i for i in range(len(ranked).bit_length()))]
    tries = (_pack_by_fit(elastic, {*ranked[: max(0, most - less)]}, most) for less in released)
    return [found for found in tries if found is not None][:1]


def _unused(elastic: Elastic, used: dict[int, int]) -> int:
    """Return the lowest member number that is not in use."""
    return next(m for m in range(len(elastic.speeds) + len(used)) if m not in used)


def _give_bins_to_members(elastic: Elastic, bins: Sequence[int]) -> list[int]:
    """Return a packing in which each bin goes to the member that keeps most speed with it."""
    kept: Counter[tuple[int, int]] = Counter()
    for p, (bin_, member) in enumerate(zip(bins, elastic.owner, strict=True)):
        kept[bin_, member] += elastic.speeds[p] if member != NOBODY else 0
    name: dict[int, int] = {}
    for bin_, member in sorted(kept, key=lambda pair: (-kept[pair], pair)):
        if bin_ not in name and member != NOBODY and member not in name.values():
            name[bin_] = member
    for bin_ in sorted(set(bins) - name.keys()):
        name[bin_] = _unused(elastic, dict.fromkeys(name.values(), 0))
    return [name[bin_] for bin_ in bins]


def _pack_by_solver(
    elastic: Elastic, at_most: int | None, left: TimeLeft
) -> tuple[list[tuple[int, ...]], int | None]:
    """Return packings from arc flows, and the bound that a solver claims; None if it has none.

    If the network is too large, sizes are rounded: down for the bound, since everything that fits
    still fits; up for the packing, so that it fits.

    Parameters
    ----------
    at_most : the most members allowed; None: minimise their number
    """
    grain = 1
    while True:
        try:
            below = _network(elastic, at_most, grain, 0)
            above = below if grain == 1 else _network(elastic, at_most, grain, grain - 1)
        except TooLarge:
            grain = max(2 * grain, elastic.capacity // MOST_ARCS)
            continue
        bound, bins = below.solve(left.share(1 if below is above else 2))
        if below is not above:
            _, bins = above.solve(left.share(1))
        if bins is None:
            return [], bound
        if at_most is None:
            bins = _give_bins_to_members(elastic, bins)
        return [_put_back_idle(elastic, bins)], bound


def _network(elastic: Elastic, at_most: int | None, grain: int, more: int) -> ArcFlow:
    """Return the network with sizes in units of `grain`; `more` is added to each size before."""
    capacity = elastic.capacity // grain
    sizes = [min((size + more) // grain, capacity) for size in elastic.sizes]
    held = {} if at_most is None else elastic.held
    return ArcFlow(sizes, capacity, elastic.speeds, held, at_most)


def _put_back_idle(elastic: Elastic, owner: Sequence[int]) -> tuple[int, ...]:
    """Return the packing with each partition of speed 0, which fits anywhere, where it was.

    If its member is no longer used, it goes to the member of the lowest number.
    """
    sized = [m for m, speed in zip(owner, elastic.speeds, strict=True) if speed]
    used = set(sized) or {max(0, max(elastic.owner, default=0))}
    return tuple(
        member if speed else old if old in used else min(used)
        for member, speed, old in zip(owner, elastic.speeds, elastic.owner, strict=True)
    )
