"""The processes of this machine, as tests see them."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

# Only what never ends takes as long.
LONG = 120.0


def in_python(*words: object, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run a Python of its own to its end: options, and a program as in -c PROGRAM."""
    return subprocess.run(
        [sys.executable, *map(str, words)], capture_output=True, text=True, timeout=LONG, cwd=cwd,
        check=False,
    )  # fmt: skip


def listed() -> dict[int, tuple[str, int]]:
    """State and parent of each process that is not dead, by its number."""
    found = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, parent = stat.read_text().rpartition(")")[2].split()[:2]
        except OSError:
            continue
        if state != "Z":
            found[int(stat.parent.name)] = state, int(parent)
    return found


def below(pid: int) -> list[int]:
    """What a process has started, and what that has, parents first."""
    found, every = [pid], listed()
    for one in found:
        found += [each for each, (_, parent) in every.items() if parent == one]
    return found[1:]


def until(condition: Callable[[], object]) -> None:
    """Wait until something holds."""
    end = time.monotonic() + LONG
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def gone(*pids: int) -> None:
    """Wait until processes have ended."""
    until(lambda: not listed().keys() & {*pids})


def halt(pid: int) -> None:
    """Halt a process: on a busy machine its threads go on for a while after the signal."""
    os.kill(pid, signal.SIGSTOP)
    until(lambda: listed()[pid][0] == "T")
