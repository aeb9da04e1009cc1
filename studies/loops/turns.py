"""Turns: the recorded moves of clients' assignors and of ours, and the cycles in them.

The installed class of a Python client is run unchanged: the interpreter's profiling hook reads the
arguments of its calls that choose a partition to move, and that record a move.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from groups.wording import counted
from heuristics import assignor_named
from heuristics.written.kip54 import hand_out
from heuristics.written.sticky_that_ends import steps

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import FrameType

    from groups import Group
    from heuristics.written.sticky_that_ends import Rule

RECORDED = 240
LEAST_TIMES = 10


@dataclass(frozen=True)
class Turn:
    """One turn of a client's loop.

    Attributes
    ----------
    partition : the partition that should move, as ``topic-number``
    holder, to : its holder, and the member that should get it
    moved : the partition that was moved to `to`
    leaves : the member that held `moved`
    loads : number of partitions of each member before the move
    """

    partition: str
    holder: str
    to: str
    moved: str
    leaves: str
    loads: Mapping[str, int]

    @property
    def after(self) -> Mapping[str, int]:
        """Number of partitions of each member after the move."""
        changed = dict(self.loads)
        changed[self.leaves] -= 1
        changed[self.to] += 1
        return changed

    def to_dict(self) -> dict[str, object]:
        """Return the turn for JSON."""
        return {
            "should_leave": {"partition": self.partition, "from": self.holder, "to": self.to},
            "moved": {"partition": self.moved, "from": self.leaves, "to": self.to},
            "loads": dict(self.loads),
            "loads_after": dict(self.after),
        }


def cycle_of(turns: Sequence[Turn]) -> tuple[int, Sequence[Turn]] | None:
    """Return the number of turns before the final cycle, and the turns of the cycle.

    It is the shortest cycle that was repeated at least ten times; None if there is none.
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


def story(turns: Sequence[Turn], before: int, period: int) -> list[str]:
    """Return sentences on a cycle: who should give what to whom, and what moves in its place.

    Parameters
    ----------
    turns : all recorded turns
    before : number of turns before the cycle
    period : number of turns of the cycle
    """
    cycle = turns[before : before + period]
    start: dict[str, str] = {}
    for turn in turns:
        start.setdefault(turn.moved, turn.leaves)
    parts = [_turn(turn, start.get(turn.partition)) for turn in cycle]
    again = f"After these {counted(period, 'turn')} everything is as it was, and so on for good."
    return [f"{counted(before, 'turn')} come first.", *parts, again]


def _turn(turn: Turn, start: str | None) -> str:
    """Return a sentence on a turn, given the first holder of its partition, if that moved."""
    asked = (
        f"{turn.holder} has {turn.loads[turn.holder]} partitions and should give {turn.partition} "
        f"to {turn.to}, which has {turn.loads[turn.to]}."
    )
    after = turn.after
    if turn.moved == turn.partition:
        return (
            f"{asked} It does: {turn.holder} has {after[turn.holder]}, {turn.to} {after[turn.to]}."
        )
    if turn.leaves == turn.holder:
        return f"{asked} {turn.moved}, which came from {turn.to}, goes in its place."
    return (
        f"{asked} {turn.partition} started with {start}, so the rule looks for a partition that "
        f"went from {turn.to} to {start}, finds {turn.moved} with {turn.leaves}, and gives that "
        f"back to {turn.to}: {turn.leaves} has {after[turn.leaves]} now, {turn.to} "
        f"{after[turn.to]}, and {turn.holder} still {after[turn.holder]}."
    )


ASKS, MOVES = "get_partition_to_be_moved", "move_partition"


class Seen(BaseException):
    """Stops an assignor when enough turns are recorded."""


def recorded_in_python(assignor: str, group: Group) -> list[Turn]:
    """Return the turns of a sticky assignor of kafka-python or aiokafka, at most `RECORDED`."""
    turns: list[Turn] = []
    asked = ("", "", "")

    def look(frame: FrameType, event: str, _: object) -> None:
        nonlocal asked
        if event != "call" or frame.f_code.co_name not in (ASKS, MOVES):
            return
        partition, leaves, to = (
            frame.f_locals[name] for name in ("partition", "old_consumer", "new_consumer")
        )
        values = f"{partition.topic}-{partition.partition}", leaves, to
        if frame.f_code.co_name == ASKS:
            asked = values
            return
        if len(turns) == RECORDED:
            raise Seen
        assert frame.f_back is not None
        held = frame.f_back.f_locals["self"].current_assignment
        loads = {member: len(held[member]) for member in sorted(held)}
        turns.append(Turn(*asked, values[0], values[1], loads))

    sys.setprofile(look)
    try:
        with suppress(Seen):
            assignor_named(assignor).function(group)
    finally:
        sys.setprofile(None)
    return turns
