"""Verdicts: what a run says of the assignment that each group has now, as a column of a table."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from compare.judged import judge, judged_by
from compare.verdict import ALL_ALIKE
from groups.errors import AssayError

if TYPE_CHECKING:
    from compare.judged import Judged
    from groups.group import Group
    from groups.tiers import Objective
    from optimal.solution import Solution

Row = dict[str, object]


def judged_one(
    group: Group, answer: Solution | str, objective: Objective, time_limit: float
) -> Judged | str:
    """Return what is known of a group, or why nothing is.

    Parameters
    ----------
    answer : its optimum, or why it has none; where it is not known who reads what, that is not
        looked at: the group is judged between its two optima
    """
    if group.subscription_known.all():
        return answer if isinstance(answer, str) else as_taken(judged_by(group, answer))
    try:
        (judged,) = judge([group], objective, time_limit=time_limit)
    except AssayError as error:
        return str(error)
    return judged


def as_taken(judged: Judged) -> Judged:
    """Return the verdict with its condition, where members were taken to read the same topics."""
    if judged.best is None or not any(map(is_taken, judged.group.assumed)):
        return judged
    return replace(judged, verdict=replace(judged.verdict, sure=False, condition=ALL_ALIKE))


def is_taken(assumed: str) -> bool:
    """Return whether a line of what was assumed is that members read the same topics."""
    return assumed.startswith("subscription of ") and " unknown, taken as " in assumed


def verdict_row(judged: Judged | str) -> Row | None:
    """Return the ``verdict`` of a row in ``optima``; None where nothing is known."""
    if isinstance(judged, str):
        return None
    target = judged.target
    return vars(judged.verdict) | {"to_move": None if target is None else len(target.moved)}
