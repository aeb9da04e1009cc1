"""Passing: groups on their way to another process, and what becomes of them on the way back."""

from __future__ import annotations

import pickle
from functools import lru_cache
from typing import TYPE_CHECKING

from groups import Assignment
from heuristics.assignor import Plan
from heuristics.outcome import Outcome, attempt

if TYPE_CHECKING:
    from collections.abc import Callable

    from groups import Group
    from groups.arrays import Int32
    from heuristics.outcome import Status

    # An Outcome whose plan comes without its group: status, reason, seconds; owner, strays, and
    # the counts of a Plan.
    Answer = tuple[
        Status, str | None, float, Int32 | None, tuple[tuple[int, str, int], ...],
        tuple[int, int, int],
    ]  # fmt: skip

# The next assignor is mostly asked about the same groups; large ones are not worth their memory.
GROUPS_KEPT = 2048
MOST_BYTES_KEPT = 1 << 14


def packed(group: Group) -> bytes:
    """Return a group as it travels.

    Raises
    ------
    Exception
        Where a part of it cannot be pickled.
    """
    return pickle.dumps(group, pickle.HIGHEST_PROTOCOL)


def answer(function: Callable[[Group], Plan], group: bytes) -> Answer:
    """Call an assignor's function on a group that came, and return what goes back."""
    came = attempt(function, _kept(group) if len(group) <= MOST_BYTES_KEPT else _read(group))
    if came.plan is None:
        return came.status, came.reason, came.seconds, None, (), (1, 0, 0)
    made, assignment = came.plan, came.plan.assignment
    counts = (made.rounds, made.revoked, made.ownerless)
    return "planned", None, came.seconds, assignment.owner, assignment.strays, counts


def outcome_of(group: Group, came: Answer) -> Outcome:
    """Return what came back, as the outcome of its group."""
    status, reason, seconds, owner, strays, counts = came
    if owner is None:
        return Outcome(status, None, reason, seconds)
    return Outcome(status, Plan(Assignment(group, owner, strays), *counts), None, seconds)


def _read(group: bytes) -> Group:
    found: Group = pickle.loads(group)
    return found


_kept = lru_cache(GROUPS_KEPT)(_read)
