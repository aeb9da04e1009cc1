"""Circumstances: the software and the machine that a run was made with."""

from __future__ import annotations

import os
import platform
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from groups.wording import counted

SOLVERS = ("ortools", "pulp")


def circumstances() -> dict[str, object]:
    """Return the columns of ``runs`` that say what a run was made with."""
    return {
        "solvers": [f"{name} {found}" for name in SOLVERS if (found := _version(name))],
        "python": platform.python_version(),
        "commit": commit(),
        "processor": processor(),
    }


def commit(folder: Path = Path(__file__).parents[2]) -> str | None:
    """Return the commit of the clone that this package runs from, None where it is in none.

    With ``+`` behind it where files differ from the commit.
    """
    if not (folder / ".git").exists():
        return None
    asked = ["rev-parse HEAD", "status --porcelain --untracked-files=no"]
    said = []
    for words in asked:
        try:
            run = subprocess.run(
                ["git", "-C", str(folder), *words.split()],
                capture_output=True,
                text=True,
                timeout=10,
                check=True,
            )
        except (OSError, subprocess.SubprocessError):
            return None
        said.append(run.stdout.strip())
    return f"{said[0]}{'+' if said[1] else ''}"


def processor() -> str:
    """Return the name of the processor and how many of its cores this process may use."""
    name = platform.processor() or platform.machine()
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    found = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return f"{next(found, name)}, {counted(cores or 1, 'core')}"


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
