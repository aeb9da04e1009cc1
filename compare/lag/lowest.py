"""Lowest: the lowest peak lag of one group, by a search with a given number of rounds."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from compare.lag.behind import behind, rests_on_latest
from groups import Assignment, values
from groups.errors import BadInput
from groups.fleet import Fleet
from groups.needs import require_data
from groups.tiers import MOVES, TIERS, Objective
from groups.wording import bounded, listed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from compare.lag.fall import Fall
    from groups.arrays import Int64
    from groups.group import Group
    from optimal.solution import Solution
    from optimal.time_left import TimeLeft

PEAK = "peak_lag"
# The objective of the search if the group's own objective has no tier on lag.
BALANCED: Objective = ("balance", PEAK)
FIRST = {"balance": "balanced loads", MOVES: "the fewest moves"}
# Rounds of search for all groups together, and the most and the least for one. They are counted,
# so that the result is the same on a busy machine. A round takes about a millisecond.
ROUNDS, MOST_ROUNDS, LEAST_ROUNDS = 1_000, 200, 1
# Far more than these rounds take.
SECONDS = 60.0
# Members times partitions: with more, a round takes too long.
MOST_CELLS = 2**20


def with_best(tiers: Sequence[str]) -> str:
    """Return tiers at their optimum in words, as ``with balanced loads``; empty if none."""
    asked = [FIRST.get(tier, f"the best {tier}") for tier in tiers]
    return f"with {listed(asked)}" if asked else ""


@dataclass(frozen=True, eq=False)
class LowestPeak:
    """The lowest peak lag that was found, with its bound.

    Attributes
    ----------
    records : the lag of the member with most
    bound : a lower bound for assignments that are as good in the tiers `before`
    assignment : the one with that peak
    before : the tiers in which it is optimal
    in_time : False if the search was stopped because time was up
    """

    records: int
    bound: int
    assignment: Assignment
    before: Objective = field(default=BALANCED[:-1])
    in_time: bool = True

    @property
    def proved(self) -> bool:
        """Whether this is proved to be the lowest peak."""
        return self.records == self.bound

    @property
    def given(self) -> str:
        """The tiers `before` in words, as `with_best` has them."""
        return with_best(self.before)

    @property
    def told(self) -> str:
        """The text ``12, the least with balanced loads, by any number of moves``.

        If it is not proved, it begins with the interval.
        """
        many = "" if MOVES in self.before else ", by any number of moves"
        least = f"the least {self.given}".rstrip()
        return f"{bounded(self.records, self.bound)}, {least}{many}"

    def excess_of(self, peak: int) -> int | tuple[int, int]:
        """Return how far a peak is above the lowest; an interval if that is not proved."""
        more = peak - self.records
        return more if self.proved or more < 0 else (more, peak - self.bound)


def rounds_each(rounds: int, groups: int) -> int:
    """Return the rounds for each group; 0 if `rounds`, those for all together, is 0."""
    return min(rounds, max(LEAST_ROUNDS, min(MOST_ROUNDS, rounds // max(1, groups))))


class Hottest(NamedTuple):
    """The partition with the most lag, in records."""

    topic: str
    partition: int
    records: int


def hottest(group: Group) -> Hottest | None:
    """Return the partition with most lag among those that have a reader; None if there is no lag.

    Its lag is a lower bound on the peak of every assignment, with any number of members.
    """
    lag = group.lag_records
    if lag is None or not len(lag):
        return None
    read = np.where(group.readers[group.topic] > 0, lag, -1)
    at = int(np.argmax(read))
    if read[at] <= 0:
        return None
    return Hottest(group.topics[group.topic[at]], int(group.number[at]), int(read[at]))


def least_for_somebody(group: Group) -> int:
    """Return a lower bound on the peak lag: the hottest partition's lag or the members' average.

    It is the greater of the two. Only partitions that have a reader and a known lag count.
    """
    return int(least_in(Fleet.one(group))[0])


def least_in(fleet: Fleet) -> Int64:
    """(groups,) int64: `least_for_somebody` for each group of a fleet."""
    group, lag = fleet.group, fleet.group.lag_records
    total, most = np.zeros((2, len(fleet)), np.int64)
    if lag is not None:
        read = np.where(group.readers[group.topic] > 0, np.maximum(lag, 0), 0)
        np.add.at(total, fleet.partition_group, read)
        np.maximum.at(most, fleet.partition_group, read)
    return np.maximum(most, -(-total // np.maximum(np.diff(fleet.member_start), 1)))


def lowest_of(
    group: Group, objective: Objective, rounds: int, time_left: TimeLeft
) -> LowestPeak | None:
    """Return the lowest peak that the search finds; the peak is the last tier of the objective.

    None if there is no search for the objective, the group is too large, or time is up.
    """
    from optimal.enumeration import enumerates_at_once

    if len(group.members) * group.n_partitions > MOST_CELLS or time_left.is_up:
        return None
    if enumerates_at_once(group):
        from optimal import solve

        solution = solve(group, objective, method="brute")
        if solution.assignment is None:
            return None
        term = solution.terms[-1]
        return LowestPeak(term.value, term.value, solution.assignment, objective[:-1])
    from optimal.loads.exchange import counted_peak

    found = counted_peak(group, objective, rounds, time_left)
    if found is None:
        return None
    assignment = Assignment(group, found[0])
    peak = values(assignment, objective)[-1]
    return LowestPeak(peak, found[1], assignment, objective[:-1], not time_left.is_up)


def kept_beside_lag(objective: Objective) -> Objective:
    """Return the tiers in which an assignment with less lag has to be as good as a solution.

    Those of the objective, and moves if it is balance alone: its certificate shows both.
    """
    return ("balance", MOVES) if objective == ("balance",) else objective


def least_lagging(solution: Solution, rounds: int, time_left: TimeLeft) -> LowestPeak | None:
    """Return the lowest peak lag of the assignments that are as good as a solution.

    They are as good in the tiers of `kept_beside_lag`.
    None if there is no search for that, a lag is unknown, or the objective has a tier on lag.
    """
    if solution.assignment is None or any(TIERS[t].needs == "lag" for t in solution.objective):
        return None
    group, tiers = solution.group, kept_beside_lag(solution.objective)
    if not hottest(group):
        return None
    try:
        require_data(group, (PEAK,))
    except BadInput:
        return None
    found = lowest_of(group, (*tiers, PEAK), rounds, time_left)
    known = values(solution.assignment, tiers)
    return found if found and values(found.assignment, tiers) == known else None


def lag_document(
    now: Assignment, lowest: LowestPeak | None, fall: Fall | None = None
) -> dict[str, object] | None:
    """Return the ``lag`` of the ``assay-scores/1`` document; None if no lag is known."""
    lags = behind(now)
    if lags is None:
        return None
    most = hottest(now.group)
    return {
        "peak": lags.peak,
        "lowest": None if lowest is None else lowest.records,
        "bound": None if lowest is None else lowest.bound,
        "could_fall": fall and {"to": fall.then, "moves": fall.assignment.moves},
        "most_in_one_partition": most and most._asdict(),
        "latest_assumed": rests_on_latest(now.group),
    }
