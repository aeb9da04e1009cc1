"""Seconds: checks a time limit."""

from __future__ import annotations

from numbers import Real

from groups.errors import BadInput

HUNDRED_YEARS = 3.2e9


def seconds_of(limit: float | None) -> float | None:
    """Return the seconds of a time limit; None, or more than a hundred years, is no limit.

    Raises
    ------
    BadInput
        If it is no number; a limit below 0 is up at once.
    """
    if limit is None:
        return None
    if not (isinstance(limit, Real) and limit == limit):
        raise BadInput(f"time_limit: {limit!r}, expected a number of seconds")
    return None if limit > HUNDRED_YEARS else float(max(limit, -HUNDRED_YEARS))
