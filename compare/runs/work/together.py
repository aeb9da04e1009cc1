"""Together: a fleet of groups solved, judged and scored by columns, without an object for each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from compare.fleet_scores import optimum_columns, score_columns, score_fleet
from compare.runs.rows import batch, captures_in, score_row
from compare.runs.tables.schemas import TABLES, VERDICT
from compare.runs.verdicts import is_taken, judged_one, verdict_row
from compare.scores import OPTIMUM, outcome_of, score_outcome
from compare.verdict import ALL_ALIKE
from groups.arrays import NOBODY
from groups.assignment import Assignment
from groups.columns.parts import some
from groups.tiers import MOVES, values_in
from optimal.solution import Status

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from compare.fleet_scores import FleetScores
    from compare.runs.job import Job
    from groups.arrays import Bools
    from groups.group import Group
    from heuristics.outcome import Outcome
    from heuristics.time_limit import TimeLimit
    from optimal.solutions import Solutions


@dataclass(frozen=True, eq=False)
class Together:
    """Groups that were solved together.

    Attributes
    ----------
    rows : of ``groups``, in the order of the fleet
    """

    job: Job
    rows: pa.RecordBatch
    solution: Solutions

    def optima(self, now: FleetScores) -> pa.RecordBatch:
        """Return the rows in ``optima``.

        Parameters
        ----------
        now : what the members hold, against the solution
        """
        columns = self._common()
        columns["key"] = pa.array(
            self.job.optimum_keys(columns["group_key"].to_pylist()), pa.string()
        )
        columns["assumed"] = self.rows.column("assumed").fill_null([])
        columns["verdict"] = self._verdicts(now)
        return _batch("optima", columns | optimum_columns(self.solution))

    def scores(self, columns: Mapping[str, pa.Array], assignor: str) -> pa.RecordBatch:
        """Return the rows of an assignor in ``scores``.

        Parameters
        ----------
        columns : what :func:`compare.fleet_scores.score_columns` returned
        """
        common = self._common()
        keys = self.job.score_keys(common["group_key"].to_pylist(), assignor)
        return _batch("scores", {**common, "key": pa.array(keys, pa.string()), **columns})

    def outcomes(
        self, groups: Sequence[Group], assignor: str, limit: TimeLimit
    ) -> list[Outcome | None]:
        """Return what an assignor makes of each group; None of one that has no optimum.

        Parameters
        ----------
        groups : of the fleet
        """
        good = [at for at in range(len(groups)) if at not in self.solution.errors]
        if assignor == OPTIMUM:
            made = [outcome_of(self.solution.solution(at, groups[at])) for at in good]
        else:
            made = limit.plan_many([groups[at] for at in good], assignor)
        found: list[Outcome | None] = [None] * len(groups)
        for at, outcome in zip(good, made, strict=True):
            found[at] = outcome
        return found

    def scored(self, outcomes: Sequence[Outcome | None], assignor: str) -> list[pa.RecordBatch]:
        """Return the rows of an assignor in ``scores``, of each group what became of it."""
        fleet = self.solution.fleet
        owner = np.full(fleet.group.n_partitions, NOBODY, np.int32)
        by_columns = np.ones(len(outcomes), bool)
        others = []
        captures = captures_in(self.rows)
        for at, outcome in enumerate(outcomes):
            if outcome is None:
                continue
            if outcome.plan is None or outcome.plan.assignment.strays:
                by_columns[at] = False
                answer = self.solution.solution(at)
                score = score_outcome(answer.group, outcome, answer, assignor)
                others.append(score_row(self.job, captures[at], score))
            else:
                held = outcome.plan.assignment.owner
                owner[fleet.partitions(at)] = fleet.owner_through(at, held)
        columns = score_columns(score_fleet(self.solution, owner, assignor))
        plans = [None if outcome is None else outcome.plan for outcome in outcomes]
        took = [0.0 if outcome is None else outcome.seconds for outcome in outcomes]
        columns["rounds"] = pa.array([1 if plan is None else plan.rounds for plan in plans])
        columns["revoked"] = pa.array([0 if plan is None else plan.revoked for plan in plans])
        columns["seconds"] = pa.array(took, pa.float64())
        rows = self.scores(columns, assignor).filter(pa.array(by_columns))
        return [rows, batch("scores", others)]

    def _common(self) -> dict[str, pa.Array]:
        return {
            "group": self.rows.column("group"),
            "captured_at": self.rows.column("captured_at"),
            "group_key": self.rows.column("key"),
            "objective": pa.repeat(pa.scalar(self.job.tiers), len(self.rows)),
        }

    def _verdicts(self, now: FleetScores) -> pa.Array:
        """(groups,) what :func:`compare.judged.judged_by` says, of proved optima by columns."""
        fleet, groups = self.solution.fleet, len(self.solution)
        plain = self.solution.status == str(Status.OPTIMAL)
        plain[[*self.solution.errors, *now.reasons]] = False
        plain &= ~fleet.other_claims
        holds = some(fleet.group.owner >= 0, fleet.partition_start)
        there = np.diff(fleet.member_start) > 0
        differs = now.value != self.solution.value
        better = np.argmax(differs, axis=1)
        worse = holds & now.valid & differs.any(axis=1)
        above = (now.value - self.solution.value)[np.arange(groups), better]
        moves = values_in(fleet, Assignment(fleet.group, self.solution.owner), (MOVES,))[:, 0]
        says = np.select(
            [~there, ~holds, ~now.valid, worse],
            ["no members", "nothing assigned yet", "not valid", "improvable"],
            "as good as can be",
        )
        taken = holds & self._taken()
        judged = now.valid & holds
        columns = {
            "says": pa.array(says),
            "sure": pa.array(~taken),
            "tier": pa.array(self.solution.objective).take(pa.array(better, mask=~worse)),
            "at_least": pa.array(above, mask=~worse),
            "at_most": pa.array(above, mask=~worse),
            "moves": pa.array(np.where(worse, moves, 0), mask=~judged),
            "condition": pa.array(np.full(groups, ALL_ALIKE), mask=~taken),
            "question": pa.nulls(groups, pa.string()),
            "to_move": pa.array(moves, mask=~holds),
        }
        arrays = [columns[field.name].cast(field.type) for field in VERDICT]
        found = pa.StructArray.from_arrays(arrays, fields=list(VERDICT))
        if plain.all():
            return found
        verdicts = found.to_pylist()
        for at in np.flatnonzero(~plain).tolist():
            verdicts[at] = self._verdict(at)
        return pa.array(verdicts, VERDICT)

    def _verdict(self, at: int) -> dict[str, object] | None:
        if at in self.solution.errors:
            return None
        answer = self.solution.solution(at)
        job = self.job
        return verdict_row(judged_one(answer.group, answer, job.objective, job.time_limit))

    def _taken(self) -> Bools:
        """(groups,) bool: whether members were taken to read the same topics."""
        assumed = self.rows.column("assumed").to_pylist()
        return np.array([any(map(is_taken, lines or ())) for lines in assumed], bool)


def _batch(name: str, columns: Mapping[str, pa.Array]) -> pa.RecordBatch:
    schema = TABLES[name]
    arrays = [columns[field.name].cast(field.type) for field in schema]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)
