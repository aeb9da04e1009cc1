"""Memory: how much a process and those that it started hold, as Linux tells it."""

from __future__ import annotations

import os
import resource
import sys
from functools import cache
from pathlib import Path

CGROUP = Path("/sys/fs/cgroup/memory.max")


@cache
def allowed_bytes() -> int:
    """Return the memory of this machine, or less where a container or `ulimit -m` allows less.

    A child has the limit from its parent in the same way, so that its own children get less.
    """
    allowed = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    limit = resource.getrlimit(resource.RLIMIT_RSS)[0]
    if limit != resource.RLIM_INFINITY:
        allowed = min(allowed, limit)
    try:
        return min(allowed, int(CGROUP.read_text()))
    except (OSError, ValueError):
        return allowed


def allow(memory_bytes: int) -> None:
    """Note what this process may hold; on Linux nobody but `allowed_bytes` looks at it."""
    if sys.platform == "linux":
        hard = resource.getrlimit(resource.RLIMIT_RSS)[1]
        most = memory_bytes if hard == resource.RLIM_INFINITY else min(memory_bytes, hard)
        resource.setrlimit(resource.RLIMIT_RSS, (most, hard))


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
        return 0


def _children(pid: int) -> set[int]:
    found: set[int] = set()
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/children", "rb") as file:
                found.update(map(int, file.read().split()))
    except OSError:
        return found
    return found
