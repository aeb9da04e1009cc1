"""Arc flow: bins as paths through their loads; a path begins with what a member keeps."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import count, islice
from math import ceil
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

# The tolerance with which a solver's floats are taken for integers.
NEAR = 1e-6
# Networks with more arcs are not solved.
MOST_ARCS = 12_000


class TooLarge(Exception):
    """The network has more than `MOST_ARCS` arcs."""


class ArcFlow:
    """The packings of at most so many members, as an integer flow.

    A path begins with a member or with a new bin. If it begins with a member, it goes through the
    partitions that the member holds, one after the other, and takes or leaves each. Then it takes
    other partitions, the largest first: there is one arc for each load and size, so that bins of
    one load are not distinguished. The linear relaxation is as tight as that of all patterns that
    fill a bin.

    Source: Valerio de Carvalho 1999, Annals of Operations Research 86, doi:10.1023/A:1018952112615

    Parameters
    ----------
    sizes : size of each partition, at most the capacity
    speeds : cost of a move of each partition
    held : the partitions of each member; empty to minimise the number of bins
    at_most : the most bins allowed; None: minimise their number

    Raises
    ------
    TooLarge
        If there are too many arcs.
    """

    def __init__(
        self,
        sizes: Sequence[int],
        capacity: int,
        speeds: Sequence[int],
        held: Mapping[int, Sequence[int]],
        at_most: int | None,
    ) -> None:
        self.sizes, self.speeds, self.at_most = sizes, speeds, at_most
        self.upper: list[int] = []
        self.starts: dict[int, int] = {}
        self.keeps: dict[int, list[int]] = {}
        self.balances: list[tuple[list[int], list[int]]] = []
        self.into: dict[int, list[int]] = defaultdict(list)
        self.out: dict[int, dict[int, int]] = defaultdict(dict)
        self.held = {m: [p for p in mine if speeds[p]] for m, mine in held.items()}
        for member, mine in self.held.items():
            self._add_member(member, mine, capacity)
        self.new = self._add_arc(len(sizes) if at_most is None else at_most)
        self.into[0].append(self.new)
        self.count = Counter(size for size in sizes if size)
        for size in sorted(self.count, reverse=True):
            self._add_size(size, capacity)

    def _add_arc(self, most: int) -> int:
        if len(self.upper) >= MOST_ARCS:
            raise TooLarge
        self.upper.append(most)
        return len(self.upper) - 1

    def _add_member(self, member: int, mine: Sequence[int], capacity: int) -> None:
        """Add the arcs of what a member holds; nodes are the loads after each partition."""
        self.starts[member] = self._add_arc(1)
        loads = {0: [self.starts[member]]}
        for p in mine:
            after: dict[int, list[int]] = defaultdict(list)
            self.keeps[p] = []
            for load, into in loads.items():
                out = [self._add_arc(1)]
                after[load].append(out[0])
                if load + self.sizes[p] <= capacity:
                    out.append(self._add_arc(1))
                    after[load + self.sizes[p]].append(out[1])
                    self.keeps[p].append(out[1])
                self.balances.append((into, out))
            loads = after
        for load, into in loads.items():
            self.into[load] += into

    def _add_size(self, size: int, capacity: int) -> None:
        """Add the arcs of a size, from each load that larger sizes and this size can reach."""
        for load in sorted(self.into):
            at = load
            while at + size <= capacity and size not in self.out[at]:
                arc = self.out[at][size] = self._add_arc(self.count[size])
                at += size
                self.into[at].append(arc)

    def solve(self, seconds: float | None) -> tuple[int | None, list[int] | None]:
        """Return the bound that the solver claims, and the bin of each partition; None if none.

        A bin has the number of the member that it begins with, new ones have unused numbers; -1
        for partitions of size 0, which fit anywhere.
        """
        from ortools.linear_solver import pywraplp

        solver = pywraplp.Solver.CreateSolver("CBC")
        arcs = [solver.IntVar(0, most, "") for most in self.upper]
        for least, most, signed in self._constraints():
            row = solver.Constraint(least, solver.infinity() if most is None else most)
            for sign, indices in signed:
                for arc in indices:
                    row.SetCoefficient(arcs[arc], sign)
        objective, (cost, constant) = solver.Objective(), self._cost()
        for arc, each in cost.items():
            objective.SetCoefficient(arcs[arc], each)
        exact = pywraplp.MPSolverParameters()
        exact.SetDoubleParam(pywraplp.MPSolverParameters.RELATIVE_MIP_GAP, 0.0)
        if seconds is not None:
            solver.SetTimeLimit(max(1, int(1000 * seconds)))
        status = solver.Solve(exact)
        if status not in (solver.OPTIMAL, solver.FEASIBLE):
            return None, None
        flow = [round(arc.solution_value()) for arc in arcs]
        bound = objective.BestBound()
        least = ceil(bound - NEAR * max(1.0, NEAR * abs(bound)))
        if status == solver.OPTIMAL:
            least = sum(each * flow[arc] for arc, each in cost.items())
        return constant + least, self._bins(flow)

    def _constraints(self) -> Iterator[tuple[int, int | None, list[tuple[int, Iterable[int]]]]]:
        """Yield constraints: least, most, and arcs with their signs."""
        for into, out in self.balances:
            yield 0, 0, [(1, into), (-1, out)]
        carrying: dict[int, list[int]] = defaultdict(list)
        for load, leaving in self.out.items():
            yield 0, None, [(1, self.into[load]), (-1, leaving.values())]
            for size, arc in leaving.items():
                carrying[size].append(arc)
        for p, kept in self.keeps.items():
            carrying[self.sizes[p]] += kept
        for size, many in self.count.items():
            yield many, many, [(1, carrying[size])]
        if self.at_most is not None:
            yield 0, self.at_most, [(1, [*self.starts.values(), self.new])]

    def _cost(self) -> tuple[dict[int, int], int]:
        """Return the cost of arcs and a constant: the number of bins, or the moved weight."""
        if self.at_most is None:
            return {self.new: 1}, 0
        kept = {arc: -self.speeds[p] for p, arcs in self.keeps.items() for arc in arcs}
        return kept, sum(self.speeds[p] for p in self.keeps)

    def _bins(self, flow: Sequence[int]) -> list[int]:
        """(partitions,) the bin of each, from the flow's paths, the least load first."""
        bins = [-1] * len(self.sizes)
        at: dict[int, list[int]] = defaultdict(list)
        for member, start in self.starts.items():
            if flow[start]:
                mine = [p for p in self.held[member] if any(flow[arc] for arc in self.keeps[p])]
                for p in mine:
                    bins[p] = member
                at[sum(self.sizes[p] for p in mine)].append(member)
        used = {member for member, start in self.starts.items() if flow[start]}
        unused = (number for number in count() if number not in used)
        at[0] += islice(unused, flow[self.new])
        left: dict[int, list[int]] = defaultdict(list)
        for p, size in enumerate(self.sizes):
            if bins[p] == -1:
                left[size].append(p)
        for load in sorted(self.into):
            for size, arc in self.out[load].items():
                for _ in range(flow[arc]):
                    bin_ = at[load].pop()
                    bins[left[size].pop()] = bin_
                    at[load + size].append(bin_)
        return bins
