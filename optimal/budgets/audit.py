"""The audit's part for budgets: the bounds above every number, column by column."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from groups.arrays import Int64
    from optimal.evidence import Evidence
    from optimal.solution import Solution

FAR = 2**62


def proves_within(evidence: Evidence, solution: Solution) -> bool:
    """Return whether levels prove a valid assignment best of those within the budget on moves."""
    level, moves = solution.proof.levels(), evidence.value("stickiness")
    fullest, group = int(evidence.loads.max(initial=0)), evidence.group
    of_row = np.full(len(evidence.row_size), FAR, np.int64)
    np.minimum.at(of_row, group.subscription_row, level)
    of_topic = np.full(len(evidence.readers), FAR, np.int64)
    np.minimum.at(of_topic, group.subscription_topics, of_row[evidence.entry_row])
    bound, owner = of_topic[evidence.topic[evidence.read]], group.owner[evidence.read]
    stays = np.where(evidence.owned, level[owner], bound) if len(level) else bound
    members = _counts(level, fullest)
    bound_to, stay_with = _counts(bound, fullest), _counts(stays, fullest)
    above = np.cumsum(_counts(evidence.loads - 1, fullest)[::-1])[::-1]
    k = np.arange(fullest + 1)
    most = min(solution.at_most["stickiness"], len(group.owner))
    least = np.maximum(bound_to, stay_with - most) - k * members
    shown = slice(1, fullest)
    if (least != above)[shown].any():
        return False
    needs_all = (stay_with - moves - k * members == above)[shown].any()
    return bool(moves == 0 or "stickiness" not in solution.objective or needs_all)


def _counts(numbers: Int64, most: int) -> Int64:
    """(most + 1,) int64: how many of the numbers are k or more, for every k from 0 to `most`."""
    at = np.bincount(np.clip(numbers, -1, most) + 1, minlength=most + 2)[1:]
    return np.cumsum(at[::-1])[::-1].astype(np.int64)
