"""Times: when a text was captured, as told or as its file has it; ISO 8601, in UTC."""

from __future__ import annotations

import os
from datetime import UTC, datetime

from groups.errors import BadInput


def told_time(text: str) -> str:
    """Return a time that somebody told, in UTC: ``2026-11-20T10:00:00Z``.

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
    """Return when a file was last written, to the second; for ``-`` what time it is now.

    None if the file has no such time that a calendar knows.
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
