"""Closing: a constraint program over the choices, for what exchanges leave open."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from ortools.sat.python import cp_model

if TYPE_CHECKING:
    from groups.arrays import Int64
    from optimal.exchange.choices import Choices
    from optimal.exchange.hands import Hands
    from optimal.time_left import TimeLeft


# OR-tools has no types: a linear expression of variables.
Cost = Any
# Variables beyond which a program is hardly ever proved, and takes long to write down.
MOST_CELLS = 20_000
# CP-SAT compares value and bound as floats, and presolves with coefficients of 32 bits.
TOLD_APART = 2**53
PRESOLVED = 2**30


def is_closable(choices: Choices) -> bool:
    """Say whether a constraint program may be of use."""
    return choices.cells <= MOST_CELLS and choices.total < TOLD_APART


def close(hands: Hands, bound: int, time_left: TimeLeft) -> tuple[Int64, int]:
    """Search for a lower peak from what is held, by CP-SAT with one worker.

    Returns
    -------
    (read,) int64 members, no worse than what is held, and what no peak is below by the solver's
    word, or by the bound given
    """
    choices, peak = hands.choices, hands.peak
    model = cp_model.CpModel()
    top = model.new_int_var(bound, peak, "peak")
    cells = {
        (p, m): model.new_bool_var("")
        for p, kind in enumerate(choices.kind.tolist())
        for m in np.flatnonzero(choices.may[kind]).tolist()
    }
    of_partition: list[list[Cost]] = [[] for _ in choices.size]
    of_member: list[list[tuple[int, Cost]]] = [[] for _ in range(choices.members)]
    for (p, m), held in cells.items():
        of_partition[p].append(held)
        of_member[m].append((p, held))
        model.add_hint(held, int(hands.holder[p] == m))
    for one in of_partition:
        model.add_exactly_one(one)
    size, pile = choices.size.tolist(), choices.pile.tolist()
    for m, some in enumerate(of_member):
        model.add(sum(size[p] * held for p, held in some) <= top)
        of_pile: dict[int, list[Cost]] = {}
        for p, held in some:
            of_pile.setdefault(pile[p], []).append(held)
        for number, held_of in of_pile.items():
            least, most = int(choices.least[number, m]), int(choices.most[number, m])
            model.add_linear_constraint(sum(held_of), least, most)
    model.minimize(top)
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.cp_model_presolve = choices.total < PRESOLVED
    if (seconds := time_left.share(1)) is not None:
        solver.parameters.max_time_in_seconds = seconds
    status = solver.solve(model)
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        # What is held is an answer: a solver that finds none is not believed.
        return hands.holder, bound
    holder = hands.holder.copy()
    for (p, m), held in cells.items():
        if solver.boolean_value(held):
            holder[p] = m
    if status == cp_model.OPTIMAL:
        return holder, int(solver.value(top))
    return holder, max(bound, int(solver.response_proto.inner_objective_lower_bound))
