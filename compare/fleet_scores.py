"""FleetScores: an assignment of every group of a fleet against the optimum, by columns.

Its Arrow columns are those of the tables that a run writes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from compare.scores import (
    CURRENT,
    UNLESS_SCORED,
    ExcessColumns,
    Score,
    excess_columns,
    facts_of,
    score,
    score_current,
    score_unplanned,
)
from compare.verdict import NOTHING
from groups.arrays import NOBODY, UNKNOWN, Bools, Int32, Int64, starts
from groups.assignment import Assignment
from groups.errors import AssayError
from groups.tiers import is_flow, values_in
from optimal.solution import Status

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from compare.scores import Column
    from groups.fleet import Fleet
    from heuristics.assignor import Outcome
    from optimal.solutions import Solutions


@dataclass(frozen=True, eq=False)
class FleetScores:
    """The scores of an assignor on each group of a fleet; each row equals `compare.scores`'s.

    Attributes
    ----------
    solution : the reference
    assignor : name of the rows
    facts : by their names in `compare.scores.Score`, (groups,) each, masked where None
    value : (groups, tiers) int64
    excesses : NOTHING where the assignment is not valid
    loads : (members,) int64, how many partitions each member holds
    unscored : status and reason of each group without a score, by its number; its values in the
        other columns mean nothing
    """

    solution: Solutions
    assignor: str
    facts: dict[str, Column]
    value: Int64
    excesses: ExcessColumns
    loads: Int64
    unscored: dict[int, tuple[str, str]]

    @property
    def valid(self) -> Bools:
        """(groups,) bool: whether the assignment is valid."""
        return self.facts["valid"].filled(False)


def score_fleet_current(
    solution: Solutions,
    reading_most: Fleet | None = None,
    refused: Mapping[int, str] | None = None,
) -> FleetScores:
    """Score the current assignment of each group, with the raw claims.

    Groups whose members claim something else than they validly own are scored one by one.

    Parameters
    ----------
    reading_most : as in `compare.scores.facts_of`
    refused : why groups are not scored, by their numbers
    """
    fleet = solution.fleet

    def score_alone(at: int) -> Score:
        most = None if reading_most is None else reading_most.alone(at)
        return score_current(fleet.alone(at), solution.solution(at), most)

    return _scored(
        solution,
        fleet.group.owner,
        CURRENT,
        fleet.other_claims,
        score_alone,
        {at: ("refused", why) for at, why in (refused or {}).items()},
        reading_most,
    )


def score_fleet(
    solution: Solutions, outcomes: Mapping[int, Outcome], assignor: str
) -> FleetScores:
    """Score the outcomes of an assignor's calls on the groups that have an optimum.

    Parameters
    ----------
    outcomes : by the number of the group
    assignor : name of the rows
    """
    fleet = solution.fleet
    owner = np.full(fleet.group.n_partitions, NOBODY, np.int32)
    alone = np.zeros(len(fleet), bool)
    plans, unscored = {}, {}
    for at, outcome in outcomes.items():
        if outcome.plan is None:
            row = score_unplanned(outcome, assignor)
            unscored[at] = row.status, str(row.reason)
            continue
        plans[at] = outcome.plan
        owner[fleet.partitions(at)] = fleet.owner_through(at, outcome.plan.assignment.owner)
        alone[at] = bool(outcome.plan.assignment.strays)

    def score_alone(at: int) -> Score:
        answer = solution.solution(at)
        return score(answer.group, plans[at].assignment, answer, assignor=assignor)

    found = _scored(solution, owner, assignor, alone, score_alone, unscored)
    for at, plan in plans.items():
        found.facts["rounds"][at], found.facts["revoked"][at] = plan.rounds, plan.revoked
    found.facts["seconds"][[*outcomes]] = [outcome.seconds for outcome in outcomes.values()]
    return found


def _scored(
    solution: Solutions,
    owner: Int32,
    assignor: str,
    alone: Bools,
    score_alone: Callable[[int], Score],
    unscored: Mapping[int, tuple[str, str]],
    reading_most: Fleet | None = None,
) -> FleetScores:
    """Score by columns, except the groups in `alone`, (groups,) bool: `score_alone` does them."""
    fleet, objective, groups = solution.fleet, solution.objective, len(solution)
    assignment, value = Assignment(fleet.group, owner), solution.value.copy()
    if is_flow(objective):
        value = values_in(assignment, fleet, objective)
    else:
        alone = np.ones(groups, bool)
    facts = {name: np.ma.array(np.full(groups, one)) for name, one in UNLESS_SCORED.items()}
    facts |= facts_of(assignment, fleet, reading_most)
    comparable = facts["valid"].data & (solution.status != str(Status.UNKNOWN))
    found = FleetScores(
        solution=solution,
        assignor=assignor,
        facts=facts,
        value=value,
        excesses=excess_columns(value, solution.value, solution.bound, comparable),
        loads=assignment.loads.copy(),
        unscored={at: ("failed", f"no optimum: {why}") for at, why in solution.errors.items()},
    )
    found.unscored.update(unscored)
    for at in np.flatnonzero(alone | found.excesses.beaten).tolist():
        if at not in found.unscored:
            try:
                _put_score(found, at, score_alone(at))
            except AssayError as error:
                found.unscored[at] = "failed", str(error)
    return found


def _put_score(found: FleetScores, at: int, row: Score) -> None:
    """Write the score of one group into the columns."""
    members, excesses = found.solution.fleet.members(at), found.excesses
    for name, fact in found.facts.items():
        value = getattr(row, name)
        fact[at] = np.ma.masked if value is None else value
    found.loads[members] = row.loads or ()
    for column in (excesses.excess, excesses.low, excesses.high):
        column[at] = NOTHING
    for tier, term in enumerate(row.terms or ()):
        found.value[at, tier] = term.value
        if isinstance(term.excess, tuple):
            low, high = term.excess
            excesses.low[at, tier] = low
            excesses.high[at, tier] = NOTHING if high is None else high
        elif term.excess is not None:
            excesses.excess[at, tier] = term.excess


def optimum_columns(solution: Solutions, open_: Sequence[int] = ()) -> dict[str, pa.Array]:
    """Return the columns of ``optima`` that the solutions fill, with a value for each group.

    These are `status`, `reason`, `stopped`, `method`, `seconds`, `terms`, `proof` and `loads`.
    A group without a solution has the status `failed` and a reason, and nothing else.

    Parameters
    ----------
    open_ : numbers of the groups that nothing was solved for: no method, and no time limit
    """
    failed, reason = _reasons(solution.errors, len(solution))
    is_solved = ~failed & (solution.status != str(Status.UNKNOWN))
    not_solved = failed.copy()
    not_solved[[*open_]] = True
    values = {"value": solution.value, "bound": solution.bound}
    missing = {"bound": solution.bound == UNKNOWN}
    return {
        "status": pa.array(np.where(failed, "failed", solution.status)),
        "reason": reason,
        "stopped": pa.array(solution.stopped, mask=not_solved),
        "method": pa.array(solution.method, mask=not_solved),
        "seconds": pa.array(solution.seconds, mask=not_solved),
        "terms": _terms(solution.objective, values, missing, is_solved, ~failed),
        "proof": pa.array(solution.proof, mask=not_solved),
        "loads": _loads(solution, solution.loads, is_solved),
    }


def score_columns(scores: FleetScores) -> dict[str, pa.Array]:
    """Return the columns of ``scores`` in `compare.scores.STORED`, with a value for each group."""
    solution, groups, excesses = scores.solution, len(scores.solution), scores.excesses
    failed, reason = _reasons({at: why for at, (_, why) in scores.unscored.items()}, groups)
    status = ["scored"] * groups
    for at, (unscored, _) in scores.unscored.items():
        status[at] = unscored
    values = {
        "value": scores.value,
        "excess": excesses.excess,
        "excess_from": excesses.low,
        "excess_to": excesses.high,
    }
    missing = {name: values[name] == NOTHING for name in values if name != "value"}
    return {
        "assignor": pa.repeat(pa.scalar(scores.assignor), groups),
        "status": pa.array(status),
        "reason": reason,
        "terms": _terms(solution.objective, values, missing, ~failed, ~failed),
        "loads": _loads(solution, scores.loads, ~failed),
        **{
            name: pa.array(np.ma.masked_where(failed & (name not in UNLESS_SCORED), column))
            for name, column in scores.facts.items()
        },
    }


def _reasons(reasons: Mapping[int, object], groups: int) -> tuple[Bools, pa.Array]:
    """(groups,) whether there is a reason, and the reason."""
    texts: list[str | None] = [None] * groups
    for at, reason in reasons.items():
        texts[at] = str(reason)
    failed = np.zeros(groups, bool)
    failed[list(reasons)] = True
    return failed, pa.array(texts, pa.string())


def _terms(
    objective: tuple[str, ...],
    values: Mapping[str, Int64],
    missing: Mapping[str, Bools],
    filled: Bools,
    not_null: Bools,
) -> pa.Array:
    """(groups,) lists with a struct for each tier: its name and the values.

    Parameters
    ----------
    values : (groups, tiers) each
    missing : (groups, tiers) bool each, where a value is null; a value that is absent never is
    filled, not_null : (groups,) bool; the list is empty if not filled, and null if not `not_null`
    """
    tiers, groups = len(objective), int(filled.sum())
    numbers = np.tile(np.arange(tiers), groups)
    fields = {"name": pa.array(objective).take(pa.array(numbers))}
    for name, column in values.items():
        mask = missing[name][filled].ravel() if name in missing else None
        fields[name] = pa.array(column[filled].ravel(), mask=mask)
    structs = pa.StructArray.from_arrays(list(fields.values()), list(fields))
    return _lists(structs, np.where(filled, tiers, 0), not_null)


def _loads(solution: Solutions, loads: Int64, not_null: Bools) -> pa.Array:
    size = np.diff(solution.fleet.member_start)
    return _lists(
        pa.array(loads[np.repeat(not_null, size)]), np.where(not_null, size, 0), not_null
    )


def _lists(values: pa.Array, lengths: Int64, not_null: Bools) -> Any:
    ends = starts(lengths).astype(np.int32)
    return pa.ListArray.from_arrays(pa.array(ends), values, mask=pa.array(~not_null))
