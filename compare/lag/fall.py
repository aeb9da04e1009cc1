"""Fall: how far the lag of the busiest member falls by a few moves that keep loads as even."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from compare.lag.behind import behind, peak_lag
from groups.assignment import Assignment
from groups.wording import counted

if TYPE_CHECKING:
    from groups.arrays import Int32, Int64

# A fall of less than one part in so many of the peak is not worth a move.
WORTH = 10
# Percent of what many moves gain that is worth stopping at.
ENOUGH = 80
MOST_STEPS = 10
# What a few moves are.
FEW_MOVES = (
    f"the fewest steps that bring {ENOUGH}% of what {MOST_STEPS} do; a step moves a partition, or "
    "exchanges two"
)
# Pairs of partitions that are looked at in one step; a busy member with more exchanges none.
MOST_PAIRS = 2**20


@dataclass(frozen=True)
class PeakFall:
    """How far the lag of the busiest member falls, and by how many moves.

    Attributes
    ----------
    now, then : records of the busiest member, as it is and after the moves
    moves : how many partitions move
    """

    now: int
    then: int
    moves: int

    @property
    def from_to(self) -> str:
        """From how many records to how many."""
        return f"from {self.now:,} to {self.then:,}"

    @property
    def in_short(self) -> str:
        """From how many records to how many, with the moves in brackets."""
        return f"{self.from_to} ({counted(self.moves, 'move')})"

    def sentence(self) -> str:
        """Return from what to what the lag could fall, and by how many moves."""
        return f"{self.from_to} by moving {counted(self.moves, 'partition')}"


@dataclass(frozen=True, eq=False)
class Fall:
    """How far the lag of the busiest member can fall, whoever reads what.

    Attributes
    ----------
    now, then : records of the busiest member, as it is and with `assignment`
    assignment : with loads no less even than now; no member gets a topic that it may not read
    """

    now: int
    then: int
    assignment: Assignment

    @property
    def moves(self) -> int:
        """How many partitions move."""
        return len(self.assignment.moved)

    @property
    def is_worth_it(self) -> bool:
        """Whether the lag falls by a tenth or more."""
        return WORTH * (self.now - self.then) >= self.now > 0

    @property
    def in_numbers(self) -> PeakFall:
        """The same without the assignment."""
        return PeakFall(self.now, self.then, self.moves)


def lag_falls(now: Assignment, fall: Fall) -> bool:
    """Return whether a fall is worth its moves, and the last member catches up no later then."""
    here, then = behind(now), behind(fall.assignment)
    if not fall.is_worth_it or here is None or then is None:
        return fall.is_worth_it
    return here.longest is None or then.longest is None or then.longest <= here.longest


def fall_to(now: Assignment, target: Assignment) -> Fall | None:
    """Return how far lag falls on the way to an assignment; None where a lag is not known."""
    here, there = peak_lag(now), peak_lag(target)
    return None if here is None or there is None else Fall(here, there, target)


def fall_by_few_moves(now: Assignment) -> Fall | None:
    """Return how far lag falls by the fewest steps that bring most of what ten of them do.

    A step takes a partition from the busiest member, or exchanges it for another, so that the two
    members have less than the busiest had and loads are no less even: the step that gains most
    for a move. None where a lag is not known, or what members hold is not valid.
    """
    peak, lag = peak_lag(now), now.group.lag_records
    if peak is None or lag is None or not now.is_valid:
        return None
    made, found = now, [Fall(peak, peak, now)]
    while len(found) <= MOST_STEPS:
        owner = _step(made, lag)
        if owner is None:
            break
        made = Assignment(now.group, owner)
        found.append(Fall(peak, peak_lag(made) or 0, made))
    least = min(one.then for one in found)
    return next(one for one in found if 100 * (peak - one.then) >= ENOUGH * (peak - least))


def _step(at: Assignment, lag: Int64) -> Int32 | None:
    """(partitions,) the owners after the best step; None where none takes lag off the busiest."""
    group, owner, loads = at.group, at.owner, at.loads
    held = np.flatnonzero(owner >= 0)
    records = np.zeros(len(group.members), np.int64)
    np.add.at(records, owner[held], lag[held])
    busiest = int(np.argmax(records))
    mine = np.flatnonzero((owner == busiest) & (lag > 0))
    others = np.flatnonzero(np.arange(len(records)) != busiest)
    peak, best = int(records[busiest]), 0
    made: Int32 | None = None
    given, to = (grid.ravel() for grid in np.meshgrid(mine, others, indexing="ij"))
    fits = (loads[to] < loads[busiest]) & group.subscribes(to, group.topic[given])
    given, to = given[fits], to[fits]
    gain = peak - np.maximum(peak - lag[given], records[to] + lag[given])
    if len(gain) and 2 * gain.max() > best:
        at_best = int(np.argmax(gain))
        best, made = 2 * int(gain[at_best]), owner.copy()
        made[given[at_best]] = to[at_best]
    theirs = held[owner[held] != busiest]
    if len(mine) * len(theirs) > MOST_PAIRS:
        return made
    given, back = (grid.ravel() for grid in np.meshgrid(mine, theirs, indexing="ij"))
    to = owner[back].astype(np.int64)
    fits = group.subscribes(to, group.topic[given])
    fits &= group.subscribes(np.full(len(back), busiest), group.topic[back])
    given, back, to = given[fits], back[fits], to[fits]
    less = lag[given] - lag[back]
    gain = peak - np.maximum(peak - less, records[to] + less)
    if len(gain) and gain.max() > best:
        at_best = int(np.argmax(gain))
        made = owner.copy()
        made[given[at_best]], made[back[at_best]] = to[at_best], busiest
    return made
