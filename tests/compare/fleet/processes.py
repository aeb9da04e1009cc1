"""Processes found by an environment variable that they inherited, and how to kill them all."""

import os
import shutil
import signal
import time
from contextlib import suppress
from pathlib import Path

import psutil

from tests.processes import listed

PAUSE_SECONDS = 0.1


def with_variable(name: str, value: object) -> list[int]:
    """Return the ids of other processes that have this variable in their environment."""
    return [
        one.pid
        for one in psutil.process_iter(["environ"])
        if (one.info["environ"] or {}).get(name) == str(value) and one.pid != os.getpid()
    ]


def clear(name: str, folder: Path) -> None:
    """Kill every process whose variable holds a folder, then remove the folder."""
    for _ in range(50):
        found = with_variable(name, folder)
        for process in found:
            with suppress(OSError):
                os.kill(process, signal.SIGKILL)
        if not found:
            break
        time.sleep(PAUSE_SECONDS)
    shutil.rmtree(folder, ignore_errors=True)


def words_of(pid: int) -> str:
    """Return the command line of a process; empty if it has ended."""
    try:
        return " ".join(psutil.Process(pid).cmdline())
    except psutil.Error:
        return ""


def children(pid: int) -> list[int]:
    """Return the ids of a process's children that are no zombies."""
    return sorted(child for child, (_, parent) in listed().items() if parent == pid)
