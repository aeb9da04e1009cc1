"""Our own algorithm's turns, to hold those of a client against."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from heuristics.written.kip54 import hand_out
from heuristics.written.sticky_that_ends import steps
from studies.loops.turn import RECORDED, Turn

if TYPE_CHECKING:
    from groups import Group
    from heuristics.written.sticky_that_ends import Rule


def turns_of(group: Group, rule: Rule) -> list[Turn]:
    """Return the turns of `heuristics.written.sticky_that_ends` by a rule, at most `RECORDED`."""
    owner = hand_out(group, group.owner)
    loads = np.bincount(owner[owner >= 0], minlength=len(group.members)).tolist()
    found = []
    for step in islice(steps(group, owner, rule), RECORDED):
        holder, to, leaves = (group.members[m] for m in (step.holder, step.to, step.leaves))
        held = dict(zip(group.members, loads, strict=True))
        looked_at, moved = (_named(group, p) for p in (step.partition, step.moved))
        found.append(Turn(looked_at, holder, to, moved, leaves, held))
        loads[step.leaves] -= 1
        loads[step.to] += 1
    return found


def _named(group: Group, partition: int) -> str:
    topic = int(group.topic[partition])
    return f"{group.topics[topic]}-{group.number[partition]}"
