"""Threads: how much of the time a process has something to compute. Linux."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path


def busy_seconds(pid: int) -> dict[str, float]:
    """Return of each thread of a process the seconds in which it ran or waited for a processor.

    On a machine with other work a thread that computes without end gets less than one processor,
    and waits for the rest. Empty where the system does not tell.
    """
    found = {}
    for task in Path(f"/proc/{pid}/task").glob("*/schedstat"):
        with suppress(OSError):
            ran, waited, _ = task.read_text().split()
            found[task.parent.name] = (int(ran) + int(waited)) / 1e9
    return found
