"""Solving: rows of ``groups`` to rows of ``optima`` and ``scores``, in a worker's child."""

from __future__ import annotations

import pickle
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from compare.fleet_scores import score_columns, score_fleet_current
from compare.runs.tables.schemas import TABLES
from compare.runs.work import one_by_one
from compare.runs.work.clock import Clock
from compare.runs.work.replies import Answered
from compare.runs.work.together import Together
from compare.runs.work.wire import of_bytes, to_bytes
from compare.scores import CURRENT
from groups.columnar.layout import joined
from groups.columnar.side_by_side import each_of
from groups.fleet import Fleet
from groups.group import Group
from groups.tiers import is_flow
from heuristics.time_limit import TimeLimit
from optimal.solve import solve_fleet

if TYPE_CHECKING:
    from compare.runs.job import Job
    from compare.runs.work.plan import Lack


def solved(job: Job, rows: bytes, lack: Lack) -> Answered:
    """Solve groups together, check what was found, judge and score what their members hold.

    Parameters
    ----------
    rows : of ``groups``, as bytes
    lack : which rows are wanted; assignors are asked later, by :func:`scored`
    """
    clock = Clock()
    optima, scores = [], []
    found = _found(job, rows, clock)
    if found.together is not None and (lack.optimum or lack.current):
        with clock.timed("score"):
            now = score_fleet_current(found.together.solution)
        if lack.optimum:
            with clock.timed("judge"):
                optima.append(found.together.optima(now))
        if lack.current:
            with clock.timed("score"):
                scores.append(found.together.scores(score_columns(now), CURRENT))
    with clock.timed("solve"):
        others = one_by_one.solved_one_by_one(job, found.others)
    with clock.timed("score"):
        if lack.optimum:
            optima.append(one_by_one.optima_of(job, others))
        if lack.current:
            scores.append(one_by_one.scores_of(job, others, [CURRENT], job.time_limit))
    # What took a search is not searched again, not even where this process ends before.
    kept = pickle.dumps(others) if lack.others and others else b""
    return _answered(optima, scores, kept, clock)


def scored(job: Job, rows: bytes, kept: bytes, assignors: tuple[str, ...]) -> Answered:
    """Score assignors on groups.

    Parameters
    ----------
    rows : of ``groups``, as bytes
    kept : what :func:`solved` found of those that it solved one by one; empty: it is found again
    assignors : names, in full
    """
    clock = Clock()
    limit = _limit(job.time_limit)
    for guest in job.guests:
        limit.know(guest)
    scores = []
    found = _found(job, rows, clock)
    if found.together is not None:
        with clock.timed("read"):
            groups = [one for one in each_of(found.together.rows) if isinstance(one, Group)]
        for name in assignors:
            with clock.timed("assignors"):
                outcomes = found.together.outcomes(groups, name, limit)
            with clock.timed("score"):
                scores += found.together.scored(outcomes, name)
    with clock.timed("solve"):
        others = pickle.loads(kept) if kept else one_by_one.solved_one_by_one(job, found.others)
    with clock.timed("assignors"):
        scores.append(one_by_one.scores_of(job, others, assignors, limit))
    return _answered([], scores, b"", clock)


@dataclass(frozen=True, eq=False)
class _Found:
    """What is found of groups as soon as they are read.

    Attributes
    ----------
    together : those that are solved together; None where there are none
    others : rows of ``groups``, of those that are solved one by one
    clock : what that took, until somebody has told it
    """

    together: Together | None
    others: pa.RecordBatch
    clock: Clock = field(default_factory=Clock)


def _found(job: Job, rows: bytes, clock: Clock) -> _Found:
    found = _solved(job, rows)
    clock.add(found.clock.seconds)
    found.clock.seconds.clear()
    return found


# Whoever asks assignors has just had the same groups solved.
@lru_cache(maxsize=1)
def _solved(job: Job, data: bytes) -> _Found:
    clock = Clock()
    with clock.timed("read"):
        fleet, rows, others = _fleet(job, of_bytes(data))
    if not len(fleet):
        return _Found(None, others, clock)
    with clock.timed("solve"):
        solution = solve_fleet(fleet, job.objective, time_limit=job.time_limit * len(fleet))
    checking = float(solution.check_seconds.sum())
    clock.seconds["solve"] -= checking
    clock.seconds["check"] += checking
    return _Found(Together(job, rows, solution), others, clock)


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


def _answered(
    optima: list[pa.RecordBatch], scores: list[pa.RecordBatch], kept: bytes, clock: Clock
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
