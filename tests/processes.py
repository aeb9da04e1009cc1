"""Helpers for tests that start, list, halt and wait for processes."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

# Seconds; only a process that never ends takes this long.
LONG = 120.0
Held = TypeVar("Held")


def in_python(*words: object, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run another Python to its end; the words are its arguments, such as -c PROGRAM."""
    return subprocess.run(
        [sys.executable, *map(str, words)], capture_output=True, text=True, timeout=LONG, cwd=cwd,
        check=False,
    )  # fmt: skip


def listed() -> dict[int, tuple[str, int]]:
    """Return the state and the parent of each process that is no zombie, by process id."""
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
    """Return all descendants of a process, parents first."""
    tree, every = [pid], listed()
    for above in tree:
        tree += [each for each, (_, parent) in every.items() if parent == above]
    return tree[1:]


def until(condition: Callable[[], Held]) -> Held:
    """Wait until a condition holds, and return what it gives; fail after `LONG` seconds."""
    end = time.monotonic() + LONG
    while not (held := condition()):
        assert time.monotonic() < end
        time.sleep(0.02)
    return held


def gone(*pids: int) -> None:
    """Wait until processes have ended."""
    until(lambda: not listed().keys() & {*pids})


def halt(pid: int) -> None:
    """Stop a process, and wait: on a busy machine its threads run on for a while."""
    os.kill(pid, signal.SIGSTOP)
    until(lambda: listed()[pid][0] == "T")
