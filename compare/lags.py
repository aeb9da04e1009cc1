"""Lags: how far behind each member is, and who is furthest."""

from __future__ import annotations

from typing import TYPE_CHECKING

from groups.arrays import UNKNOWN
from groups.tiers import load_of
from groups.wording import counted

if TYPE_CHECKING:
    from groups.assignment import Assignment


def peak_lag(assignment: Assignment) -> int | None:
    """Return the records that the member with most lag is behind, None where some are unknown."""
    known, unknown = _lags(assignment)
    return None if unknown or not known else max(known)


def most_lag(assignment: Assignment) -> str:
    """Return a sentence that says which member has most lag; nothing where no lag is known.

    What is unknown is told, and counts for nobody.
    """
    known, unknown = _lags(assignment)
    if not any(known):
        return ""
    member = assignment.group.members[known.index(max(known))]
    most, total = f"{max(known):,}", counted(sum(known), "record")
    said = f"Most lag: {member} with {most} of {total}."
    if unknown:
        said += f" The lag of {counted(unknown, 'partition')} is unknown."
    return said


def _lags(assignment: Assignment) -> tuple[list[int], int]:
    """Return the known records of each member, and how many partitions are unknown."""
    lag, (_, partition) = assignment.group.lag_records, assignment.holdings
    if lag is None or not len(partition):
        return [], 0
    return load_of(assignment, lag), int((lag[partition] == UNKNOWN).sum())
