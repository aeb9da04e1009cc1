"""Memory: how much a process and those that it started hold, as Linux tells it."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

UNKNOWN = 0
CGROUP = Path("/sys/fs/cgroup/memory.max")


@cache
def machine_bytes() -> int:
    """Return the memory of this machine, or of the container that this process is in."""
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    try:
        return min(machine, int(CGROUP.read_text()))
    except (OSError, ValueError):
        return machine


def used_bytes(pid: int) -> int:
    """Return what a process and its descendants have in memory, 0 where nobody tells."""
    used, looked_at, left = 0, {pid}, [pid]
    while left:
        one = left.pop()
        used += _resident(one)
        found = _children(one) - looked_at
        looked_at |= found
        left += found
    return used


def _resident(pid: int) -> int:
    try:
        with open(f"/proc/{pid}/statm", "rb") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return UNKNOWN


def _children(pid: int) -> set[int]:
    found: set[int] = set()
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/children", "rb") as file:
                found.update(map(int, file.read().split()))
    except OSError:
        return found
    return found
