"""Times: when a text was captured, as given or as its file says; ISO 8601, in UTC."""

from __future__ import annotations

import os
from datetime import UTC, datetime

from groups.errors import BadInput


def time_in_utc(text: str) -> str:
    """Return a time that the user gives, in UTC: ``2026-11-20T10:00:00Z``.

    Raises
    ------
    BadInput
        If it is no time in ISO 8601, or has no time zone.
    """
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        raise BadInput(f"{text!r}, expected a time as in 2026-11-20T10:00:00Z") from None
    if time.tzinfo is None:
        raise BadInput(f"{text!r} has no time zone: add Z for UTC, or an offset as in +01:00")
    try:
        return _shown(time.astimezone(UTC))
    except OverflowError:
        raise BadInput(f"{text!r} is no time of the years 1 to 9999 in UTC") from None


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
    return _shown(time.replace(microsecond=0))


def _shown(time: datetime) -> str:
    return time.isoformat().replace("+00:00", "Z")
