"""Weights: what members carry on average, where some of them count more than others."""

from __future__ import annotations

from operator import mul
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from groups.arrays import Int64
    from optimal.loads.candidates import Candidates

# Cells of the linear program beyond which it takes too long, and the seconds that it has.
MOST_CELLS, SECONDS = 20_000, 2.0
# The weights are integers of about this size together.
SCALE = 2**30


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
    weight = _dual_values(candidates) if candidates.cells <= MOST_CELLS else None
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
