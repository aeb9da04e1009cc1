"""Last words: the end of a log, for whoever is told that a process is no more."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def with_end_of(lines: Iterable[str], reason: str, most: int) -> str:
    """Return a reason and the last lines of a log under it, of those that say something."""
    last = [line for line in lines if line.strip()][-most:]
    said = "; the end of its log:\n" + "\n".join(last) if last else ""
    return f"{reason}{said}"
