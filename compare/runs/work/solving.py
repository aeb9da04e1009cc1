"""Solving: rows of ``groups`` to rows of ``optima`` and ``scores``, in a worker's child."""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from functools import cache
from time import perf_counter
from typing import TYPE_CHECKING

from compare.runs.rows import batch, captures_in, optimum_row, score_row, unscored
from compare.runs.verdicts import judged_all, verdict_row
from compare.runs.work.plan import is_flow
from compare.runs.work.wire import of_bytes, to_bytes
from compare.score import CURRENT, score_many, score_without_subscriptions
from groups.columnar.rows import of_row
from groups.errors import BadInput
from groups.needs import require_data
from heuristics.time_limit import TimeLimit
from optimal.fleets.solve_many import solve_many
from optimal.solve import solve

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from compare.runs.job import Job
    from compare.score import Score
    from compare.verdict import Judged
    from groups.group import Group
    from optimal.solution import Solution


@dataclass(frozen=True)
class Answered:
    """What a child made of some rows.

    Attributes
    ----------
    optima, scores : rows of these tables, as bytes
    solutions : what assignors are scored against, pickled; empty where nobody wants them
    seconds : by stage
    """

    optima: bytes
    scores: bytes
    solutions: bytes
    seconds: Mapping[str, float]


def solve_rows(job: Job, rows: bytes, current: bool, keep: bool) -> Answered:
    """Solve groups together, check what was found, and score what their members hold.

    Parameters
    ----------
    rows : of the layout, and `key`, as bytes
    current : whether the rows `current` are wanted
    keep : whether the solutions are
    """
    begun = perf_counter()
    given = of_bytes(rows)
    groups = [of_row(row) for row in given.to_pylist()]
    read = perf_counter()
    answers = _solved(job, groups)
    solved = perf_counter()
    judged = judged_all(groups, answers, job.objective, job.time_limit)
    answers = [*map(_reference, groups, answers, judged)]
    captures = captures_in(given)
    optima = [
        optimum_row(job, capture, answer, verdict_row(one))
        for capture, answer, one in zip(captures, answers, judged, strict=True)
    ]
    done = perf_counter()
    scores = [
        score_row(job, capture, row)
        for capture, rows in zip(captures, _scored(groups, answers, [CURRENT]), strict=True)
        for row in rows
        if current
    ]
    packed = to_bytes(batch("optima", optima)), to_bytes(batch("scores", scores))
    seconds = {"read": read - begun, "solve": solved - read, "judge": done - solved}
    seconds["score"] = perf_counter() - done
    return Answered(*packed, pickle.dumps(answers) if keep else b"", seconds)


def score_rows(job: Job, rows: bytes, solutions: bytes, assignors: tuple[str, ...]) -> Answered:
    """Score assignors on groups.

    Parameters
    ----------
    rows : of the layout, and `key`, as bytes
    solutions : of `Answered`; empty: they are found again
    assignors : names, in full
    """
    begun = perf_counter()
    given = of_bytes(rows)
    groups = [of_row(row) for row in given.to_pylist()]
    read = perf_counter()
    if solutions:
        answers = pickle.loads(solutions)
    else:
        answers = _solved(job, groups)
        judged = judged_all(groups, answers, job.objective, job.time_limit)
        answers = [*map(_reference, groups, answers, judged)]
    solved = perf_counter()
    scores = [
        score_row(job, capture, row)
        for capture, rows in zip(
            captures_in(given), _scored(groups, answers, assignors, job.time_limit), strict=True
        )
        for row in rows
    ]
    packed = to_bytes(batch("optima", [])), to_bytes(batch("scores", scores))
    seconds = {"read": read - begun, "solve": solved - read, "assignors": perf_counter() - solved}
    return Answered(*packed, b"", seconds)


def _solved(job: Job, groups: Sequence[Group]) -> list[Solution | str]:
    """Return the solution of each group, or why it has none."""
    answers: list[Solution | str | None] = [_reason(job, group) for group in groups]
    left = [i for i, answer in enumerate(answers) if answer is None]
    some = [groups[i] for i in left]
    limit = job.time_limit
    if is_flow(job.objective):
        found = solve_many(some, job.objective, time_limit=limit * len(some))
    else:
        found = [solve(group, job.objective, time_limit=limit) for group in some]
    for i, solution in zip(left, found, strict=True):
        answers[i] = solution
    return [answer for answer in answers if answer is not None]


def _reason(job: Job, group: Group) -> str | None:
    try:
        require_data(group, job.objective)
        group.require_subscriptions()
    except BadInput as error:
        return str(error)
    return None


def _reference(group: Group, answer: Solution | str, judged: Judged | str) -> Solution | str:
    """Return the best that can be had, also where it is not known who reads what."""
    if group.subscription_known.all() or isinstance(judged, str):
        return answer
    return judged.reference or answer


def _scored(
    groups: Sequence[Group],
    answers: Sequence[Solution | str],
    assignors: Sequence[str],
    seconds: float = 0.0,
) -> list[list[Score]]:
    """Return the scores of each group; those of groups without an optimum say why."""
    rows: list[list[Score]] = [[] for _ in groups]
    some: list[tuple[int, Group, Solution]] = []
    for i, (group, answer) in enumerate(zip(groups, answers, strict=True)):
        if isinstance(answer, str):
            rows[i] = [unscored(name, answer) for name in assignors]
        elif not group.subscription_known.all():
            rows[i] = [score_without_subscriptions(answer, name) for name in assignors]
        else:
            some.append((i, group, answer))
    known, solutions = [group for _, group, _ in some], [solution for _, _, solution in some]
    made = score_many(known, solutions, assignors, _limit(seconds))
    for (i, _, _), scores in zip(some, made, strict=True):
        rows[i] = scores
    return rows


@cache
def _limit(seconds: float) -> TimeLimit:
    """Return the processes of the assignors, which live as long as this one."""
    return TimeLimit(seconds)
