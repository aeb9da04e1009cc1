"""Program: a constraint program over the candidates, for what exchanges leave open."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from ortools.sat.python import cp_model

if TYPE_CHECKING:
    from groups.arrays import Int64
    from optimal.loads.candidates import Candidates
    from optimal.loads.incumbent import Incumbent
    from optimal.time_left import TimeLeft


# OR-tools has no types: a linear expression of variables.
Cost = Any
# Variables beyond which a program is hardly ever proved, and takes long to write down.
MOST_CELLS = 20_000
# CP-SAT compares value and bound as floats, and presolves with coefficients of 32 bits.
TOLD_APART = 2**53
PRESOLVED = 2**30
# CP-SAT refuses a sum whose terms add up to 64 bits.
SUMMED = 2**62


def is_closable(candidates: Candidates, peak: int = 1) -> bool:
    """Return whether a constraint program may be of use, and adds up what is up to a peak."""
    exact = (
        candidates.total < TOLD_APART and max(candidates.rates.tolist(), default=1) * peak < SUMMED
    )
    return candidates.cells <= MOST_CELLS and exact


@dataclass(frozen=True, eq=False)
class Program:
    """A program over the candidates, which starts from what is held.

    Attributes
    ----------
    cells : whether a member holds a partition, by (partition, member)
    loads, counts : of each member what it carries and how many partitions it holds
    """

    incumbent: Incumbent
    model: cp_model.CpModel
    cells: dict[tuple[int, int], Cost]
    loads: list[Cost]
    counts: list[Cost]

    @staticmethod
    def of(incumbent: Incumbent) -> Program:
        """Return the program: each partition with one of its members, who keep their counts."""
        candidates, model = incumbent.candidates, cp_model.CpModel()
        cells = {
            (p, m): model.new_bool_var("")
            for p, kind in enumerate(candidates.kind.tolist())
            for m in np.flatnonzero(candidates.may[kind]).tolist()
        }
        of_partition: list[list[Cost]] = [[] for _ in candidates.size]
        of_member: list[list[tuple[int, Cost]]] = [[] for _ in range(candidates.members)]
        for (p, m), held in cells.items():
            of_partition[p].append(held)
            of_member[m].append((p, held))
            model.add_hint(held, int(incumbent.holder[p] == m))
        for one in of_partition:
            model.add_exactly_one(one)
        size, pile = candidates.size.tolist(), candidates.pile.tolist()
        loads = [sum(size[p] * held for p, held in some) for some in of_member]
        for m, some in enumerate(of_member):
            of_pile: dict[int, list[Cost]] = {}
            for p, held in some:
                of_pile.setdefault(pile[p], []).append(held)
            for number, held_of in of_pile.items():
                least, most = int(candidates.least[number, m]), int(candidates.most[number, m])
                model.add_linear_constraint(sum(held_of), least, most)
        counts = [sum(held for _, held in some) for some in of_member]
        return Program(incumbent, model, cells, loads, counts)

    def keep_under(self, peak: int) -> None:
        """Let nobody carry more than a peak."""
        for load, room in zip(
            self.loads, self.incumbent.candidates.room(peak).tolist(), strict=True
        ):
            self.model.add(load <= room)

    def top(self, bound: int) -> Cost:
        """Return a variable that is at least the peak, and no less than a bound."""
        top = self.model.new_int_var(bound, self.incumbent.peak, "peak")
        for load, rate in zip(self.loads, self.incumbent.candidates.rates.tolist(), strict=True):
            self.model.add(load <= rate * top)
        return top

    def keep_together(self, spread: int) -> None:
        """Let no two members differ by more than so many partitions."""
        low = self.model.new_int_var(0, len(self.incumbent.holder), "")
        for count in self.counts:
            self.model.add_linear_constraint(count - low, 0, spread)

    def moves(self) -> Cost:
        """Return how many partitions are not with their owner."""
        home = self.incumbent.candidates.home
        return sum(held for (p, m), held in self.cells.items() if home[p] not in (-1, m))

    def least(
        self, cost: Cost, bound: int, time_left: TimeLeft, *, effort: float | None = None
    ) -> tuple[Int64, int]:
        """Return what costs least by CP-SAT with one worker, and what nothing costs less than.

        (read,) int64 members, and the solver's word or the bound given. What is held stands
        where the solver finds nothing.

        Parameters
        ----------
        effort : CP-SAT's counted time at most, which is about seconds and the same on each
            machine; None without limit
        """
        self.model.minimize(cost)
        solver = cp_model.CpSolver()
        solver.parameters.num_workers = 1
        solver.parameters.cp_model_presolve = self.incumbent.candidates.total < PRESOLVED
        if (seconds := time_left.share(1)) is not None:
            solver.parameters.max_time_in_seconds = seconds
        if effort is not None:
            solver.parameters.max_deterministic_time = effort
        status = solver.solve(self.model)
        holder = self.incumbent.holder.copy()
        if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
            # What is held is an answer: a solver that finds none is not believed.
            return holder, bound
        for (p, m), held in self.cells.items():
            if solver.boolean_value(held):
                holder[p] = m
        if status == cp_model.OPTIMAL:
            return holder, int(solver.value(cost))
        return holder, max(bound, int(solver.response_proto.inner_objective_lower_bound))
