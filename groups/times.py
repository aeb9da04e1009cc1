"""Times of capture: ISO 8601 in UTC, to the second, so that a later time is a greater text."""

from __future__ import annotations

import os
from contextlib import suppress
from datetime import UTC, datetime

from groups.errors import BadInput


def in_utc(captured_at: str | None) -> str | None:
    """Return a group's time of capture as ``2026-11-20T10:00:00Z``.

    One without a time zone stays, as does None.

    Raises
    ------
    BadInput
        If it is no time in ISO 8601: which capture is the latest would not be known.
    """
    if captured_at is None:
        return None
    try:
        time = _time(captured_at)
        return captured_at if time.tzinfo is None else _in_utc(time, captured_at)
    except BadInput as error:
        raise error.within("captured_at") from None


def in_utc_or_none(captured_at: str | None) -> str | None:
    """Return a time of capture as `in_utc` does, None if it is no such time."""
    with suppress(BadInput):
        return in_utc(captured_at)
    return None


def time_in_utc(text: str) -> str:
    """Return a time that the user gives as ``2026-11-20T10:00:00Z``.

    Raises
    ------
    BadInput
        If it is no time in ISO 8601, or has no time zone.
    """
    time = _time(text)
    if time.tzinfo is None:
        raise BadInput(f"{text!r} has no time zone: add Z for UTC, or an offset as in +01:00")
    return _in_utc(time, text)


def _time(text: str) -> datetime:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        raise BadInput(f"{text!r}, expected a time as in 2026-11-20T10:00:00Z") from None


def _in_utc(time: datetime, text: str) -> str:
    try:
        return _shown(time.astimezone(UTC))
    except OverflowError:
        raise BadInput(f"{text!r} is no time of the years 1 to 9999 in UTC") from None


def seconds_between(first: str | None, last: str | None) -> int | None:
    """Return the seconds between two times of capture; None if one is unknown or no time."""
    if first is None or last is None:
        return None
    try:
        between = datetime.fromisoformat(last) - datetime.fromisoformat(first)
    except (ValueError, TypeError):
        return None
    return int(between.total_seconds())


def file_time(path: str) -> str | None:
    """Return when a file was last written, to the second; for ``-`` the current time.

    None if the file does not exist, or its time is out of the calendar's range.
    """
    try:
        time = (
            datetime.now(UTC)
            if path == "-"
            else datetime.fromtimestamp(os.stat(path).st_mtime, UTC)
        )
    except (OSError, OverflowError, ValueError):
        return None
    return _shown(time)


def _shown(time: datetime) -> str:
    return time.isoformat(timespec="seconds").replace("+00:00", "Z")
