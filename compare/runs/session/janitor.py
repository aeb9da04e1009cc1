"""Janitor: clears what a session leaves, as soon as whoever started it ends, however that is.

It runs as a program of its own, from the standard library alone, and waits at the end of a pipe
that only the session's process holds open. A kill -9 closes a pipe as well as a clean end does.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
import time
from pathlib import Path

# Every process below the session's JVM inherits it, also those that start sessions of their own.
MARK = "ASSAY_SCRATCH"
TRIES = 50
PAUSE_SECONDS = 0.1


def clear(folder: Path) -> None:
    """Kill every process that carries the mark of a scratch folder, then remove the folder."""
    for _ in range(TRIES):
        if not kill(folder):
            break
        # A process that was killed takes a moment, and one that it forked meanwhile is next.
        time.sleep(PAUSE_SECONDS)
    shutil.rmtree(folder, ignore_errors=True)


def kill(folder: Path) -> int:
    """Kill every process that carries the mark; return how many were alive."""
    found = marked(folder)
    for process in found:
        try:
            os.kill(process, signal.SIGKILL)
        except OSError:
            continue
    return len(found)


def marked(folder: Path) -> list[int]:
    """Return the processes that carry the mark of a scratch folder; none where /proc is missing.

    Without it, the JVM ends when its standard input does, and those below it end with it.
    """
    line = f"{MARK}={folder}".encode()
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if line in (process / "environ").read_bytes().split(b"\0"):
                found.append(int(process.name))
        except OSError:
            continue
    return [process for process in found if process != os.getpid()]


if __name__ == "__main__":
    sys.stdin.buffer.read()
    clear(Path(sys.argv[1]))
