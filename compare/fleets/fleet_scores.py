"""FleetScores: one assignment of every group of a fleet against the optimum, by columns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from compare.scores import CURRENT, score, score_current
from groups.assignment import Assignment, balanced_in, valid_in
from groups.errors import AssayError
from groups.tiers import is_flow, values_in
from optimal.solution import Status

if TYPE_CHECKING:
    from collections.abc import Callable

    from compare.scores import Score
    from groups.arrays import Bools, Int32, Int64
    from optimal.solutions import Solutions

NOTHING = int(np.iinfo(np.int64).min)


@dataclass(frozen=True, eq=False)
class FleetScores:
    """How an assignment fared on each group of a fleet: row by row what `compare.scores` says.

    Attributes
    ----------
    solution : the reference
    assignor : name of the rows
    valid : (groups,) bool
    balanced : (groups,) bool, KIP-54's own predicate; means nothing where not valid
    value : (groups, tiers) int64
    excess : (groups, tiers) int64, NOTHING after the first tier that differs, where the optimum
        is not proved and where the assignment is not valid
    low, high : (groups, tiers) int64, the interval where the optimum is not proved, else NOTHING
    loads : (members,) int64, how many partitions each member holds
    reasons : why a group has no score, by its number; what else is said of it means nothing
    """

    solution: Solutions
    assignor: str
    valid: Bools
    balanced: Bools
    value: Int64
    excess: Int64
    low: Int64
    high: Int64
    loads: Int64
    reasons: dict[int, str] = field(default_factory=dict)


def score_fleet_current(solution: Solutions) -> FleetScores:
    """Score what the members of each group hold now, raw claims as they are.

    Groups whose members claim something else than they validly own are scored one by one.
    """
    fleet = solution.fleet
    return _scored(
        solution,
        fleet.group.owner,
        CURRENT,
        fleet.other_claims,
        lambda at: score_current(fleet.alone(at), solution.solution(at)),
    )


def score_fleet(solution: Solutions, owner: Int32, assignor: str) -> FleetScores:
    """Score an assignment of each group.

    Parameters
    ----------
    owner : (all partitions,) int32, index among the members of the fleet, -1 nobody
    assignor : name of the rows
    """

    def one(at: int) -> Score:
        answer = solution.solution(at)
        assignment = Assignment(answer.group, fleet.owner_in(at, owner))
        return score(answer.group, assignment, answer, assignor=assignor)

    fleet = solution.fleet
    return _scored(solution, owner, assignor, np.zeros(len(fleet), bool), one)


def _scored(
    solution: Solutions,
    owner: Int32,
    assignor: str,
    alone: Bools,
    one: Callable[[int], Score],
) -> FleetScores:
    """Score by columns, but for some groups, (groups,) bool, which `one` scores by themselves."""
    fleet, objective = solution.fleet, solution.objective
    assignment, value = Assignment(fleet.group, owner), solution.value.copy()
    if is_flow(objective):
        value = values_in(fleet, assignment, objective)
    else:
        alone = np.ones(len(fleet), bool)
    valid = valid_in(fleet, assignment)
    columns = np.full((3, *value.shape), NOTHING, np.int64)
    beaten = _hold_against(solution, value, valid, *columns)
    found = FleetScores(
        solution=solution,
        assignor=assignor,
        valid=valid,
        balanced=balanced_in(fleet, assignment),
        value=value,
        excess=columns[0],
        low=columns[1],
        high=columns[2],
        loads=assignment.loads.copy(),
        reasons={at: f"no optimum: {error}" for at, error in solution.errors.items()},
    )
    for at in np.flatnonzero(alone | beaten).tolist():
        if at not in solution.errors:
            try:
                _put(found, at, one(at))
            except AssayError as error:
                found.reasons[at] = str(error)
    return found


def _put(found: FleetScores, at: int, row: Score) -> None:
    """Put the score of one group where it belongs."""
    members = found.solution.fleet.members(at)
    found.valid[at], found.balanced[at] = bool(row.valid), bool(row.balanced)
    found.loads[members] = row.loads or ()
    for column in (found.excess, found.low, found.high):
        column[at] = NOTHING
    for tier, term in enumerate(row.terms or ()):
        found.value[at, tier] = term.value
        if isinstance(term.excess, tuple):
            low, high = term.excess
            found.low[at, tier], found.high[at, tier] = low, NOTHING if high is None else high
        elif term.excess is not None:
            found.excess[at, tier] = term.excess


def _hold_against(
    solution: Solutions, value: Int64, valid: Bools, excess: Int64, low: Int64, high: Int64
) -> Bools:
    """Fill in how far values are from the optimum; say which groups are below a bound."""
    comparable = valid & (solution.status != str(Status.UNKNOWN))
    beaten = np.zeros(len(valid), bool)
    for tier in range(value.shape[1]):
        found, term, bound = value[:, tier], solution.value[:, tier], solution.bound[:, tier]
        bounded = comparable & (bound >= 0)
        beaten |= bounded & (found < bound)
        proved = bounded & (bound == term)
        is_open = comparable & ~proved
        excess[proved, tier] = (found - term)[proved]
        low[is_open, tier] = (found - term)[is_open]
        high[is_open & bounded, tier] = (found - bound)[is_open & bounded]
        comparable = proved & (found == term)
    return beaten
