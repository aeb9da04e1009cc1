"""Solving: rows of ``groups`` to rows of ``optima`` and ``scores``, in a worker's child."""

from __future__ import annotations

import pickle
from functools import cache
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from compare.fleets.fleet_scores import score_fleet_current
from compare.fleets.rows import score_columns
from compare.runs.tables.schemas import TABLES
from compare.runs.work import one_by_one
from compare.runs.work.plan import is_flow
from compare.runs.work.replies import Answered
from compare.runs.work.stages import Stages
from compare.runs.work.together import Together
from compare.runs.work.wire import joined, of_bytes, to_bytes
from compare.score import CURRENT
from groups.columnar.rows import groups_of
from groups.fleet import Fleet
from groups.group import Group
from heuristics.time_limit import TimeLimit
from optimal.fleets.solve_fleet import solve_fleet

if TYPE_CHECKING:
    from compare.runs.job import Job


def solved(job: Job, rows: bytes, current: bool, keep: bool) -> Answered:
    """Solve groups together, check what was found, judge and score what their members hold.

    Parameters
    ----------
    rows : of ``groups``, as bytes
    current : whether the rows `current` are wanted
    keep : whether assignors are to be scored against what was found
    """
    clock = Stages()
    optima, scores = [], []
    with clock.timed("read"):
        fleet, there, others = _fleet(job, of_bytes(rows))
    if len(fleet):
        together = _solved(job, fleet, there, clock)
        with clock.timed("score"):
            now = score_fleet_current(together.solution)
        with clock.timed("judge"):
            optima.append(together.optima(now))
        if current:
            with clock.timed("score"):
                scores.append(together.scores(score_columns(now), CURRENT))
    with clock.timed("solve"):
        found = one_by_one.solved_one_by_one(job, others)
    with clock.timed("score"):
        optima.append(one_by_one.optima_of(job, found))
        if current:
            scores.append(one_by_one.scores_of(job, found, [CURRENT], job.time_limit))
    # What took a search is not searched again; the optima of a fleet are there at once.
    kept = pickle.dumps(found) if keep and found else b""
    return _answered(optima, scores, kept, clock)


def scored(job: Job, rows: bytes, kept: bytes, assignors: tuple[str, ...]) -> Answered:
    """Score assignors on groups.

    Parameters
    ----------
    rows : of ``groups``, as bytes
    kept : what :func:`solved` found of them; empty: it is found again
    assignors : names, in full
    """
    clock = Stages()
    limit = _limit(job.time_limit)
    scores = []
    with clock.timed("read"):
        fleet, there, others = _fleet(job, of_bytes(rows))
    if len(fleet):
        together = _solved(job, fleet, there, clock)
        with clock.timed("read"):
            groups = [one for one in groups_of(there) if isinstance(one, Group)]
        for name in assignors:
            with clock.timed("assignors"):
                outcomes = together.outcomes(groups, name, limit)
            with clock.timed("score"):
                scores += together.scored(outcomes, name)
    with clock.timed("solve"):
        found = pickle.loads(kept) if kept else one_by_one.solved_one_by_one(job, others)
    with clock.timed("assignors"):
        scores.append(one_by_one.scores_of(job, found, assignors, limit))
    return _answered([], scores, b"", clock)


def _fleet(job: Job, rows: pa.RecordBatch) -> tuple[Fleet, pa.RecordBatch, pa.RecordBatch]:
    """Return the groups that are solved together, their rows, and those of the others.

    Those are all where a tier is a search, else those of which it is not known who reads what,
    and rows that are no group.
    """
    is_plain = pc.is_null(rows.column("subscription_known"))
    if not is_flow(job.objective):
        is_plain = pc.and_(is_plain, False)
    plain, others = rows.filter(is_plain), rows.filter(pc.invert(is_plain))
    fleet, bad = Fleet.from_arrow(plain)
    if bad:
        unfit = plain.take(pa.array([one.row for one in bad]))
        others = joined([others, unfit], rows.schema)
    return fleet, plain.take(pa.array(fleet.place)), others


def _solved(job: Job, fleet: Fleet, rows: pa.RecordBatch, clock: Stages) -> Together:
    limit = job.time_limit * len(fleet)
    with clock.timed("solve"):
        solution = solve_fleet(fleet, job.objective, time_limit=limit)
    checking = float(solution.check_seconds.sum())
    clock.seconds["solve"] -= checking
    clock.seconds["check"] += checking
    return Together(job, rows, solution)


def _answered(
    optima: list[pa.RecordBatch], scores: list[pa.RecordBatch], kept: bytes, clock: Stages
) -> Answered:
    return Answered(
        to_bytes(*optima, schema=TABLES["optima"]),
        to_bytes(*scores, schema=TABLES["scores"]),
        kept,
        dict(clock.seconds),
    )


@cache
def _limit(seconds: float) -> TimeLimit:
    """Return the processes of the assignors, which live as long as this one."""
    return TimeLimit(seconds)
