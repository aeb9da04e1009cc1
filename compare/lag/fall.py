"""Fall: how far a few moves lower the peak with loads as even, and whether any are worth it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from compare.lag.behind import WORTH, behind, peak_lag
from groups.assignment import Assignment
from groups.errors import BadInput
from groups.tiers import MOVES, PEAKS, Objective, in_words, parse_objective, values
from groups.wording import counted
from optimal.solve import solve
from optimal.time_left import TimeLeft

if TYPE_CHECKING:
    from collections.abc import Sequence

    from groups.arrays import Int32, Int64
    from groups.group import Group
    from optimal.solution import Solution

FORMAT = "assay-worth/1"
# Percent of the gain of `MOST_STEPS` steps that is enough to stop at.
ENOUGH = 80
MOST_STEPS = 10
# The definition of a few moves, for people.
FEW_MOVES = (
    f"at most {MOST_STEPS} steps, as few as bring {ENOUGH}% of the gain of all {MOST_STEPS}; a "
    "step moves a partition, or exchanges two"
)
# With more pairs of partitions than this, a step considers no exchanges.
MOST_PAIRS = 2**20


@dataclass(frozen=True)
class PeakFall:
    """How far the lag of the busiest member falls, and by how many moves.

    Attributes
    ----------
    now, then : lag in records of the busiest member, now and after the moves
    moves : how many partitions move
    """

    now: int
    then: int
    moves: int

    @property
    def from_to(self) -> str:
        """The text ``from 90 to 55``, in records."""
        return f"from {self.now:,} to {self.then:,}"

    @property
    def in_short(self) -> str:
        """The text ``from 90 to 55 (2 moves)``."""
        return f"{self.from_to} ({counted(self.moves, 'move')})"

    def sentence(self, partition: str) -> str:
        """Return the text ``from 90 to 55 by moving 2 partitions``.

        Parameters
        ----------
        partition : the noun for one
        """
        return f"{self.from_to} by moving {counted(self.moves, partition)}"

    @property
    def is_worth_it(self) -> bool:
        """Whether the lag falls by a tenth or more."""
        return WORTH * (self.now - self.then) >= self.now > 0


@dataclass(frozen=True, eq=False)
class Fall(PeakFall):
    """How far the lag of the busiest member can fall, whatever members read, and by which moves.

    Attributes
    ----------
    assignment : the one after the moves, with loads no less even than now; a member gets only
        topics that it reads in the group of the current assignment
    """

    assignment: Assignment

    @property
    def in_numbers(self) -> PeakFall:
        """The fall without the assignment."""
        return PeakFall(self.now, self.then, self.moves)

    @staticmethod
    def to(assignment: Assignment, now: int, then: int) -> Fall:
        """Return the fall to an assignment."""
        return Fall(now, then, len(assignment.moved), assignment)


def lag_falls(now: Assignment, fall: Fall) -> bool:
    """Return whether a fall is worth its moves and does not delay the last member's catch-up."""
    return fall.is_worth_it and delay(now, fall.assignment) is None


def delay(now: Assignment, then: Assignment) -> tuple[int, int] | None:
    """Return the seconds until the last member has caught up, now and then, if that is later.

    None if it is no later, or if a lag or the rate of a member is unknown.
    """
    before, after = behind(now), behind(then)
    seconds = [None if one is None else one.longest for one in (before, after)]
    if seconds[0] is None or seconds[1] is None or seconds[1] <= seconds[0]:
        return None
    return seconds[0], seconds[1]


def fall_to(now: Assignment, target: Assignment) -> Fall | None:
    """Return how far an assignment lowers the greatest lag; None if a lag is unknown."""
    before, after = peak_lag(now), peak_lag(target)
    return None if before is None or after is None else Fall.to(target, before, after)


def fall_by_few_moves(now: Assignment) -> Fall | None:
    """Return how far lag falls by the fewest steps that bring 80% of the gain of ten steps.

    A step moves a partition away from the busiest member, or exchanges it for another, so that
    both members have less lag than the busiest had, and loads are no less even. Of all such steps
    it is the one with the greatest gain per move. None if a lag is unknown, or the current
    assignment is not valid.
    """
    peak, lag = peak_lag(now), now.group.lag_records
    if peak is None or lag is None or not now.is_valid:
        return None
    made, found = now, [Fall.to(now, peak, peak)]
    while len(found) <= MOST_STEPS:
        owner = _step(made, lag)
        if owner is None:
            break
        made = Assignment(now.group, owner)
        found.append(Fall.to(made, peak, peak_lag(made) or 0))
    least = min(one.then for one in found)
    return next(one for one in found if 100 * (peak - one.then) >= ENOUGH * (peak - least))


def _step(at: Assignment, lag: Int64) -> Int32 | None:
    """(partitions,) the owners after the best step; None if no step lowers the greatest lag."""
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


@dataclass(frozen=True, eq=False)
class Worth:
    """Whether moves lower the peak enough to be worth it.

    Attributes
    ----------
    group : its name
    objective : the tiers up to the peak; earlier ones are at their optimum
    now : the peak of the current assignment
    wanted : the greatest peak that is low enough
    found, bound : the lowest peak found, and a lower bound on it
    solution : the one with the fewest moves found and a peak of at most `wanted`; None if the
        group is to be left alone
    fewest : lower bound on the moves
    sure : whether it is proved that such a solution exists, or that none does
    """

    group: str
    objective: Objective
    now: int
    wanted: int
    found: int
    bound: int
    solution: Solution | None
    fewest: int
    sure: bool

    @property
    def leave(self) -> bool:
        """Whether to leave the current assignment alone."""
        return self.solution is None

    def to_dict(self) -> dict[str, object]:
        """Return the ``assay-worth/1`` document."""
        return {
            "format": FORMAT,
            "group": self.group,
            "objective": list(self.objective),
            "leave": self.leave,
            "sure": self.sure,
            "fewest": self.fewest,
            "now": self.now,
            "wanted": self.wanted,
            "found": self.found,
            "bound": self.bound,
            "solution": None if self.solution is None else self.solution.to_dict(),
        }


def worth_moving(
    group: Group,
    falls_by: Fraction | float | str,
    objective: str | Sequence[str] = "balance > peak_lag",
    *,
    time_limit: float | None = 10.0,
) -> Worth:
    """Return whether the peak can fall by a given share, and the fewest moves for that.

    Parameters
    ----------
    falls_by : more than 0 and at most 1; a text may be ``"1/8"``, ``"0.125"`` or ``"12.5%"``
    objective : has `peak_lag`, `peak_time` or `peak_weight`; earlier tiers have to be at their
        optimum, later ones do not count
    time_limit : seconds for everything together

    Raises
    ------
    BadInput
        If the objective has no peak, `falls_by` is no such share, the group lacks what a tier
        needs, or its current assignment is not valid and so cannot be left alone.

    Examples
    --------
    >>> from assay import Group, worth_moving
    >>> document = {"format": "assay-group/1", "group": "orders"}
    >>> document["topics"] = {"t0": {"partitions": 4, "lag": [50, 40, 5, 5]}}
    >>> document["members"] = {
    ...     "c0": {"subscription": ["t0"], "owned": {"t0": [0, 1]}},
    ...     "c1": {"subscription": ["t0"], "owned": {"t0": [2, 3]}},
    ... }
    >>> found = worth_moving(Group.from_dict(document), "0.3")
    >>> found.now, found.wanted, found.leave
    (90, 63, False)
    >>> len(found.solution.assignment.moved), found.found
    (2, 55)
    >>> worth_moving(Group.from_dict(document), 0.5).leave
    True
    """
    share = _share(falls_by)
    tiers = parse_objective(objective)
    peak = next((tier for tier in tiers if tier in PEAKS), None)
    if peak is None:
        raise BadInput(f"objective: no peak in {in_words(tiers)}; expected one as in peak_lag")
    tiers = tiers[: tiers.index(peak) + 1]
    time_left = TimeLeft.of(time_limit)
    best = solve(group, tiers, time_limit=time_left.share(2))
    current = Assignment.current(group)
    if current.violations:
        raise BadInput(
            f"{group.name}: what the members hold cannot be left alone, it is not valid: "
            f"{current.violations[0]}"
        )
    (now,) = values(current, (peak,))
    wanted = (now * (share.denominator - share.numerator)) // share.denominator
    bound = best.terms[-1].bound if best.terms else None
    found = best.terms[-1].value if best.terms else now
    known = 0 if bound is None else bound
    made, least = None, 0
    if found <= wanted and now:
        made, least = _fewest(best, wanted, time_left)
    return Worth(
        group=group.name,
        objective=tiers,
        now=now,
        wanted=wanted,
        found=found,
        bound=known,
        solution=made,
        fewest=least,
        sure=made is not None or not now or known > wanted,
    )


def _fewest(best: Solution, wanted: int, time_left: TimeLeft) -> tuple[Solution, int]:
    """Return the solution with the fewest moves and a peak of at most `wanted`, and their bound.

    The fewest moves within that peak are found first, then the lowest peak within these moves.
    """
    group, (*before, peak) = best.group, best.objective
    reached = [term.value for term in best.terms[:-1]]
    tiers = tuple(dict.fromkeys((*before, MOVES)))
    few = solve(group, tiers, at_most={peak: wanted}, time_limit=time_left.share(2))
    if [term.value for term in few.terms[: len(before)]] != reached or few.assignment is None:
        return best, 0
    least = next(term.bound or 0 for term in few.terms if term.name == MOVES)
    if not all(term.bound == term.value for term in few.terms[: tiers.index(MOVES)]):
        least = 0
    fewest = moves_in(few)
    if fewest > moves_in(best):
        return best, least
    low = solve(group, best.objective, at_most={MOVES: fewest}, time_limit=time_left.share(1))
    as_good = [term.value for term in low.terms[:-1]] == reached
    enough = low.assignment is not None and as_good and low.terms[-1].value <= wanted
    return (low if enough else few), least


def moves_in(solution: Solution) -> int:
    """Return how many partitions a solution moves; 0 if it has no assignment."""
    return 0 if solution.assignment is None else len(solution.assignment.moved)


def _share(given: Fraction | float | str) -> Fraction:
    text = str(given)
    try:
        share = Fraction(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except (ValueError, ZeroDivisionError, TypeError):
        raise BadInput(f"falls_by: {given!r}, expected a share as in 0.1 or '10%'") from None
    if not 0 < share <= 1:
        raise BadInput(f"falls_by: {given!r}, expected more than 0 and at most 1")
    return share
