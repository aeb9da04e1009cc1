"""Requests: what a worker asks of its child; what that takes is loaded in the child alone."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from compare.runs.job import Job
    from compare.runs.source.reading import Item
    from compare.runs.work.plan import Lack
    from compare.runs.work.replies import Answered, Read
    from groups.errors import Failure


def read_items(job: Job, items: Sequence[Item | Failure]) -> Read:
    """Return the groups and the failures in a part of the input."""
    from compare.runs.work.decoding import decoded

    return decoded(job, items)


def solve_rows(job: Job, rows: bytes, lack: Lack) -> Answered:
    """Solve groups, judge and score what their members hold; see `solving.solved`."""
    from compare.runs.work.solving import solved

    return solved(job, rows, lack)


def score_rows(job: Job, rows: bytes, kept: bytes, assignors: tuple[str, ...]) -> Answered:
    """Score assignors on groups; see `solving.scored`."""
    from compare.runs.work.solving import scored

    return scored(job, rows, kept, assignors)


def get_ready(asked: str) -> None:
    """Load what one of the others needs, by its name, before its time begins.

    Who only reads does without the solvers.
    """
    for name in ("decoding",) if asked == read_items.__name__ else ("decoding", "solving"):
        import_module(f"compare.runs.work.{name}")
