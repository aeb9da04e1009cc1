"""The densest set of members: those who have most to carry on average, by maximum flows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from ortools.graph.python import max_flow

if TYPE_CHECKING:
    from groups.arrays import Bools
    from optimal.exchange.choices import Choices


def densest(choices: Choices) -> Bools:
    """(members,) bool: a set whose own partitions weigh most per member, rounded up.

    Newton's method on the ratio (Dinkelbach 1967, doi:10.1287/mnsc.13.7.492): every member may
    carry the best average so far. Where not all weight gets through, the minimum cut shows a set
    with a higher one; where it does, there is none.
    """
    kinds, members = choices.may.shape
    weight = np.zeros(kinds, np.int64)
    np.add.at(weight, choices.kind, choices.size)
    kind, member = np.nonzero(choices.may)
    source, sink = kinds + members, kinds + members + 1
    total = int(weight.sum())
    found = np.ones(members, bool)
    while True:
        only = ~choices.may[:, ~found].any(axis=1)
        average = -(-int(weight[only].sum()) // sum(choices.rates[found].tolist()))
        solver = max_flow.SimpleMaxFlow()
        solver.add_arcs_with_capacity(
            np.concatenate((np.full(kinds, source), kind, kinds + np.arange(members))),
            np.concatenate((np.arange(kinds), kinds + member, np.full(members, sink))),
            np.concatenate((weight, np.full(len(kind), total), choices.room(average))),
        )
        if solver.solve(source, sink) != solver.OPTIMAL or solver.optimal_flow() == total:
            return found
        cut = np.array(solver.get_source_side_min_cut(), np.int64)
        found = np.zeros(members, bool)
        found[cut[(cut >= kinds) & (cut < kinds + members)] - kinds] = True
