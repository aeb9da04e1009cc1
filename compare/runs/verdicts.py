"""Verdicts: what a run says of the assignment that each group has now, as a column of a table."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from compare.verdict import ALL_ALIKE, judge, judged_by
from groups.errors import AssayError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from compare.verdict import Judged
    from groups.group import Group
    from groups.tiers import Objective
    from optimal.solution import Solution

Row = dict[str, object]


def judged_all(
    groups: Sequence[Group],
    answers: Sequence[Solution | str],
    objective: Objective,
    time_limit: float,
) -> list[Judged | str]:
    """Return what is known of each group, or why nothing is.

    Parameters
    ----------
    answers : the optimum of each group, or why it has none; of a group of which it is not known
        who reads what, that is not looked at: it is judged between its two optima
    """
    unknown = [i for i, group in enumerate(groups) if not group.subscription_known.all()]
    between = _between([groups[i] for i in unknown], objective, time_limit)
    of_unknown = dict(zip(unknown, between, strict=True))
    found: list[Judged | str] = []
    for i, (group, answer) in enumerate(zip(groups, answers, strict=True)):
        if i in of_unknown:
            found.append(of_unknown[i])
        else:
            found.append(answer if isinstance(answer, str) else as_taken(judged_by(group, answer)))
    return found


def _between(
    groups: Sequence[Group], objective: Objective, time_limit: float
) -> Sequence[Judged | str]:
    """Judge groups together; where one cannot be, each by itself."""
    try:
        return judge(groups, objective, time_limit=time_limit)
    except AssayError as error:
        if len(groups) == 1:
            return [str(error)]
        return [_between([group], objective, time_limit)[0] for group in groups]


def as_taken(judged: Judged) -> Judged:
    """Return the verdict with its condition, where members were taken to read the same topics."""
    if judged.best is None or not any(map(is_taken, judged.group.assumed)):
        return judged
    return replace(judged, verdict=replace(judged.verdict, sure=False, condition=ALL_ALIKE))


def is_taken(assumed: str) -> bool:
    """Say whether a line of what was assumed is that members read the same topics."""
    return assumed.startswith("subscription of ") and " unknown, taken as " in assumed


def verdict_row(judged: Judged | str) -> Row | None:
    """Return the ``verdict`` of a row in ``optima``; None where nothing is known."""
    if isinstance(judged, str):
        return None
    target = judged.target
    return vars(judged.verdict) | {"to_move": None if target is None else len(target.moved)}
