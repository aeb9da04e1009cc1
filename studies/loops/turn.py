"""Turn: one move as it was seen in a client, the turns that come back, and those of our own."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from heuristics.written.kip54 import hand_out
from heuristics.written.sticky_that_ends import steps

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from groups import Group
    from heuristics.written.sticky_that_ends import Rule

RECORDED = 240
LEAST_TIMES = 10


@dataclass(frozen=True)
class Turn:
    """One turn of a client's loop.

    Attributes
    ----------
    partition : the one that was looked at, as ``topic-number``
    holder, to : who held it, and who should have it
    moved : the partition that was moved
    leaves : who held that one; it went to `to`
    loads : how many partitions each member held before
    """

    partition: str
    holder: str
    to: str
    moved: str
    leaves: str
    loads: Mapping[str, int]

    @property
    def after(self) -> Mapping[str, int]:
        """How many partitions each member holds afterwards."""
        changed = dict(self.loads)
        changed[self.leaves] -= 1
        changed[self.to] += 1
        return changed

    def to_dict(self) -> dict[str, object]:
        """Return the turn as JSON has it."""
        return {
            "should_leave": {"partition": self.partition, "from": self.holder, "to": self.to},
            "moved": {"partition": self.moved, "from": self.leaves, "to": self.to},
            "loads": dict(self.loads),
            "loads_after": dict(self.after),
        }


def cycle_of(turns: Sequence[Turn]) -> tuple[int, Sequence[Turn]] | None:
    """Return the turns that come back at the end, again and again, and how many came before.

    Of all periods the shortest that was gone through at least ten times; None where there is none.
    """
    for period in range(1, len(turns) // LEAST_TIMES + 1):
        first = len(turns)
        while first > period and turns[first - 1] == turns[first - 1 - period]:
            first -= 1
        first -= period
        if len(turns) - first >= LEAST_TIMES * period:
            return first, turns[first : first + period]
    return None


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
