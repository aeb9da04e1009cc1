"""Processes found by an environment variable that they inherited, and how to kill them all."""

import os
import shutil
import signal
import time
from collections.abc import Iterator
from pathlib import Path

PAUSE_SECONDS = 0.1


def with_variable(name: str, value: object) -> Iterator[int]:
    """Yield the ids of other processes that have this variable in their environment."""
    line = f"{name}={value}".encode()
    for process in Path("/proc").glob("[0-9]*"):
        try:
            variables = (process / "environ").read_bytes().split(b"\0")
        except OSError:
            continue
        if line in variables and int(process.name) != os.getpid():
            yield int(process.name)


def clear(name: str, folder: Path) -> None:
    """Kill every process whose variable holds a folder, then remove the folder."""
    for _ in range(50):
        found = [*with_variable(name, folder)]
        for process in found:
            try:
                os.kill(process, signal.SIGKILL)
            except OSError:
                continue
        if not found:
            break
        time.sleep(PAUSE_SECONDS)
    shutil.rmtree(folder, ignore_errors=True)


def words_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")
    except OSError:
        return ""


def children(pid: int) -> list[int]:
    """Return the ids of a process's children that are no zombies."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, above = stat.read_text().rpartition(")")[2].split()[:2]
        except OSError:
            continue
        if int(above) == pid and state != "Z":
            found.append(int(stat.parent.name))
    return sorted(found)
