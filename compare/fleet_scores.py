"""FleetScores: one assignment of every group of a fleet against the optimum, by columns.

The same columns in Arrow are those of the tables that a run leaves.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from compare.scores import CURRENT, NOTHING, held_against, score, score_current
from groups.arrays import NOBODY, UNKNOWN
from groups.assignment import Assignment, balanced_in, valid_in
from groups.errors import AssayError
from groups.tiers import is_flow, values_in
from optimal.solution import Status

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from compare.scores import Score
    from groups.arrays import Bools, Int32, Int64
    from optimal.solutions import Solutions


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


def score_fleet(
    solution: Solutions, assignments: Mapping[int, Assignment], assignor: str
) -> FleetScores:
    """Score an assignment of each group; where a group has none, what is said means nothing.

    Parameters
    ----------
    assignments : by the number of the group
    assignor : name of the rows
    """
    fleet = solution.fleet
    owner = np.full(fleet.group.n_partitions, NOBODY, np.int32)
    alone = np.zeros(len(fleet), bool)
    for at, assignment in assignments.items():
        owner[fleet.partitions(at)] = fleet.owner_through(at, assignment.owner)
        alone[at] = bool(assignment.strays)

    def one(at: int) -> Score:
        answer = solution.solution(at)
        return score(answer.group, assignments[at], answer, assignor=assignor)

    return _scored(solution, owner, assignor, alone, one)


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
    comparable = valid & (solution.status != str(Status.UNKNOWN))
    held = held_against(value, solution.value, solution.bound, comparable)
    found = FleetScores(
        solution=solution,
        assignor=assignor,
        valid=valid,
        balanced=balanced_in(fleet, assignment),
        value=value,
        excess=held.excess,
        low=held.low,
        high=held.high,
        loads=assignment.loads.copy(),
        reasons={at: f"no optimum: {error}" for at, error in solution.errors.items()},
    )
    for at in np.flatnonzero(alone | held.beaten).tolist():
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


def optimum_columns(solution: Solutions) -> dict[str, pa.Array]:
    """Return a value for each group of the columns of ``optima`` that the answers fill.

    These are `status`, `reason`, `stopped`, `method`, `seconds`, `terms`, `proof` and `loads`.
    A group without an answer has the status `failed` and a reason, and nothing else.
    """
    failed, reason = _reasons(solution.errors, len(solution))
    there = ~failed & (solution.status != str(Status.UNKNOWN))
    values = {"value": solution.value, "bound": solution.bound}
    missing = {"bound": solution.bound == UNKNOWN}
    return {
        "status": pa.array(np.where(failed, "failed", solution.status)),
        "reason": reason,
        "stopped": pa.array(solution.stopped, mask=failed),
        "method": pa.array(solution.method, mask=failed),
        "seconds": pa.array(solution.seconds, mask=failed),
        "terms": _terms(solution.objective, values, missing, there, ~failed),
        "proof": pa.array(solution.proof, mask=failed),
        "loads": _loads(solution, solution.loads, there),
    }


def score_columns(scores: FleetScores) -> dict[str, pa.Array]:
    """Return a value for each group of the columns of ``scores`` that an assignment fills.

    These are `assignor`, `status`, `reason`, `valid`, `balanced`, `terms` and `loads`, and
    `rounds`, `revoked` and `seconds` of an assignment that is there already. A group without a
    score has the status `failed` and a reason.
    """
    solution, groups = scores.solution, len(scores.solution)
    failed, reason = _reasons(scores.reasons, groups)
    values = {
        "value": scores.value,
        "excess": scores.excess,
        "excess_from": scores.low,
        "excess_to": scores.high,
    }
    missing = {name: values[name] == NOTHING for name in values if name != "value"}
    return {
        "assignor": pa.repeat(pa.scalar(scores.assignor), groups),
        "status": pa.array(np.where(failed, "failed", "scored")),
        "reason": reason,
        "valid": pa.array(scores.valid, mask=failed),
        "balanced": pa.array(scores.balanced, mask=failed | ~scores.valid),
        "terms": _terms(solution.objective, values, missing, ~failed, ~failed),
        "rounds": pa.array(np.ones(groups, np.int64)),
        "revoked": pa.array(np.zeros(groups, np.int64)),
        "seconds": pa.array(np.zeros(groups)),
        "loads": _loads(solution, scores.loads, ~failed),
    }


def _reasons(reasons: Mapping[int, object], groups: int) -> tuple[Bools, pa.Array]:
    """(groups,) whether there is a reason, and the reason."""
    said: list[str | None] = [None] * groups
    for at, reason in reasons.items():
        said[at] = str(reason)
    failed = np.zeros(groups, bool)
    failed[list(reasons)] = True
    return failed, pa.array(said, pa.string())


def _terms(
    objective: tuple[str, ...],
    values: Mapping[str, Int64],
    missing: Mapping[str, Bools],
    filled: Bools,
    there: Bools,
) -> pa.Array:
    """(groups,) a struct for each tier, with its name and some values, (groups, tiers) each.

    Parameters
    ----------
    missing : where a value may be null, whether it is
    filled, there : (groups,) bool; where not filled the list is empty, where not there null
    """
    tiers, groups = len(objective), int(filled.sum())
    numbers = np.tile(np.arange(tiers), groups)
    fields = {"name": pa.array(objective).take(pa.array(numbers))}
    for name, column in values.items():
        mask = missing[name][filled].ravel() if name in missing else None
        fields[name] = pa.array(column[filled].ravel(), mask=mask)
    structs = pa.StructArray.from_arrays(list(fields.values()), list(fields))
    return _lists(structs, np.where(filled, tiers, 0), there)


def _loads(solution: Solutions, loads: Int64, there: Bools) -> pa.Array:
    size = np.diff(solution.fleet.member_start)
    return _lists(pa.array(loads[np.repeat(there, size)]), np.where(there, size, 0), there)


def _lists(values: pa.Array, lengths: Int64, there: Bools) -> Any:
    ends = np.concatenate(([0], np.cumsum(lengths))).astype(np.int32)
    return pa.ListArray.from_arrays(pa.array(ends), values, mask=pa.array(~there))
