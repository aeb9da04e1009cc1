"""One by one: groups as objects, where it is not known who reads what, or a tier is a search."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from compare.runs.rows import batch, captures_in, optimum_row, score_row, unscored
from compare.runs.verdicts import judged_one, verdict_row
from compare.scores import UNKNOWN_IN_RUN, score_many, score_without_subscriptions
from groups.columnar.side_by_side import each_of
from groups.errors import AssayError
from groups.group import Group
from optimal.solve import solve

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from compare.judged import Judged
    from compare.runs.job import Job
    from compare.runs.rows import Capture
    from compare.scores import Score
    from groups.columnar.layout import BadRow
    from heuristics.time_limit import TimeLimit
    from optimal.solution import Solution


@dataclass(frozen=True)
class One:
    """A group by itself: the best that can be had, or why nothing can, and what it has now."""

    capture: Capture
    group: Group | None
    answer: Solution | str
    judged: Judged | str


def solved_one_by_one(job: Job, rows: pa.RecordBatch) -> list[One]:
    """Return what is found of rows of ``groups``."""
    return [_solved(job, *one) for one in zip(captures_in(rows), each_of(rows), strict=True)]


def optima_of(job: Job, found: Sequence[One]) -> pa.RecordBatch:
    """Return the rows in ``optima``."""
    return batch(
        "optima",
        (optimum_row(job, one.capture, one.answer, verdict_row(one.judged)) for one in found),
    )


def scores_of(
    job: Job, found: Sequence[One], assignors: Sequence[str], limit: TimeLimit | float
) -> pa.RecordBatch:
    """Return the rows in ``scores``; assignors are not tried where subscriptions are unknown."""
    rows: list[Sequence[Score]] = []
    for group, answer in ((one.group, one.answer) for one in found):
        if isinstance(answer, str) or group is None:
            rows.append([unscored(name, str(answer)) for name in assignors])
        elif not group.subscription_known.all():
            refused = partial(score_without_subscriptions, answer, reason=UNKNOWN_IN_RUN)
            rows.append([refused(name) for name in assignors])
        else:
            rows += score_many([group], [answer], assignors, limit)
    return batch(
        "scores",
        (
            score_row(job, one.capture, score)
            for one, scores in zip(found, rows, strict=True)
            for score in scores
        ),
    )


def _solved(job: Job, capture: Capture, group: Group | BadRow) -> One:
    if not isinstance(group, Group):
        return One(capture, None, group.reason, group.reason)
    answer: Solution | str
    try:
        answer = solve(group, job.objective, time_limit=job.time_limit)
    except AssayError as error:
        answer = str(error)
    judged = judged_one(group, answer, job.objective, job.time_limit)
    if not group.subscription_known.all() and not isinstance(judged, str):
        answer = judged.reference or answer
    return One(capture, group, answer, judged)
