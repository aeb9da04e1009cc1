"""Hinted: CP-SAT from where flows and exchanges bring the tiers that they serve."""

from __future__ import annotations

from typing import TYPE_CHECKING

from groups.tiers import is_flow
from optimal.cpsat import cpsat
from optimal.flow.recipe import flow
from optimal.moves.recipe import exchanged, is_worth_it
from optimal.time_left import TimeLeft

if TYPE_CHECKING:
    from groups.arrays import Int32
    from groups.group import Group
    from groups.tiers import Objective
    from optimal.answer import Answer

# Readers of all partitions added up: of fewer a program is proved before a hint is made.
FEW = 500
# The parts of the time of which one is for the hint, and seconds where there is no limit.
PARTS, PATIENCE = 4, 5.0


def hinted(group: Group, objective: Objective, *, time_limit: float | None = None) -> Answer:
    """Find the best assignment by CP-SAT, which starts from a good one.

    The start is as good as can be found in the longest list of first tiers that flows or
    exchanges serve; it is the answer where CP-SAT finds none.
    """
    time_left = TimeLeft.of(time_limit)
    start: Int32 | None = None
    if int((group.readers * group.partitions).sum()) > FEW:
        limit = time_left.share(PARTS)
        start = _start(group, objective, PATIENCE if limit is None else limit)
    return cpsat(group, objective, time_limit=time_left.share(1), start=start)


def _start(group: Group, objective: Objective, seconds: float) -> Int32 | None:
    for length in range(len(objective) - 1, 0, -1):
        first = objective[:length]
        if is_flow(first):
            return flow(group, first, time_limit=seconds).owner
        if is_worth_it(group, first, {}):
            return exchanged(group, first, time_limit=seconds).owner
    return None
