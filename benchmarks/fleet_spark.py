"""The fleet on Spark: how many groups per second a run does, without its start.

Each input is run on one core and on two, in turn, and then once more, when there is nothing left
to do. The start of Spark does not count in the rate; the load shows other work on the machine.
Processor seconds are those of all processes of a run: Python, Java and their workers. A row for
each input without Spark follows, by `fleet.tables` in a program of its own, whose whole time
counts.
"""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow.parquet as pq

from benchmarks.fleet import groups_after_a_join
from benchmarks.printed import heading, row
from groups.group import Group
from groups.table.parquet import write_groups

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

GROUPS = 100_000
DISTINCT = 2_000
# Runs with several assignors have this factor fewer groups.
FEWER = 20
FIRST = 1_000
# A constant of prctl(2).
CHILD_SUBREAPER = 36
ASSIGNORS = ("kip-54-sticky", "kip-615-constrained", "range")


def inputs(folder: Path, groups: int) -> Iterator[tuple[str, Path, Sequence[str], int]]:
    """Yield the inputs to time: name, file, assignors, and number of groups."""
    documents = [group.to_dict() for group in groups_after_a_join(DISTINCT)]

    def documents_of(count: int) -> Iterator[dict[str, object]]:
        for number in range(count):
            yield {**documents[number % DISTINCT], "group": f"g{number}"}

    def as_lines(count: int) -> Path:
        file = folder / f"{count}.jsonl"
        with file.open("w") as out:
            out.writelines(f"{json.dumps(one)}\n" for one in documents_of(count))
        return file

    columnar = folder / "groups.parquet"
    write_groups(map(Group.from_dict, documents_of(groups)), str(columnar))
    some = groups // FEWER
    yield "JSON lines", as_lines(FIRST), ["current"], FIRST
    yield "JSON lines", as_lines(groups), ["current"], groups
    yield "Parquet", columnar, ["current"], groups
    yield "JSON lines, three assignors", as_lines(some), ["current", *ASSIGNORS], some


class Cost(NamedTuple):
    """The cost of a program: seconds by the clock, and processor seconds of all its processes."""

    seconds: float
    processor_seconds: float


def cost_of(command: Sequence[str]) -> Cost:
    """Run a program until it and all processes that it started have ended; return its cost."""
    # Spark's workers outlive their parent; as a subreaper, this process becomes their parent.
    ctypes.CDLL(None).prctl(CHILD_SUBREAPER, 1, 0, 0, 0)
    start, before = perf_counter(), _of_children()
    subprocess.run(command, check=True, capture_output=True)
    seconds = perf_counter() - start
    with suppress(ChildProcessError):
        while True:
            os.wait()
    return Cost(seconds, _of_children() - before)


def _of_children() -> float:
    used = getrusage(RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run_twice(
    source: Path, assignors: Sequence[str], cores: int
) -> tuple[Cost, Cost, dict[str, Any]]:
    """Return the cost of a run into an empty folder, of a second run, and its row of ``runs``."""
    with TemporaryDirectory() as out:
        command = [sys.executable, "-m", "assay", "run", str(source), "--out", out]
        command += ["--master", f"local[{cores},3]"]
        command += [word for name in assignors for word in ("--assignor", name)]
        first, again = cost_of(command), cost_of(command)
        (file,) = (Path(out) / "runs").glob("*/*.parquet")
        (row,) = pq.read_table(file).to_pylist()
    return first, again, row


def spark(groups: int) -> None:
    """Print a row for each input and number of cores."""
    heading(
        "input", "groups", "cores", "seconds", "start", "groups/s beyond it", "processor s",
        "microseconds a group", "files", "again", "load",
    )  # fmt: skip
    with TemporaryDirectory() as folder:
        for name, source, assignors, count in inputs(Path(folder), groups):
            for cores in (1, 2):
                load, _, _ = os.getloadavg()
                (seconds, used), again, run_row = run_twice(source, assignors, cores)
                start = next(
                    one["seconds"] for one in run_row["stages"] if one["stage"] == "start"
                )
                row(
                    name, f"{count:,}", cores, f"{seconds:.1f}", f"{start:.1f}",
                    f"{count / (seconds - start):,.0f}", f"{used:.1f}",
                    f"{1e6 * used / count:,.0f}", run_row["files"],
                    f"{again.seconds:.1f}", f"{load:.1f}",
                )  # fmt: skip
                load, _, _ = os.getloadavg()
                call = f"fleet.tables({str(source)!r}, {[*assignors]!r}, processes={cores})"
                seconds, used = cost_of([sys.executable, "-c", f"from assay import fleet; {call}"])
                row(
                    f"{name}, without Spark", f"{count:,}", cores, f"{seconds:.1f}", "-",
                    f"{count / seconds:,.0f}", f"{used:.1f}", f"{1e6 * used / count:,.0f}",
                    "-", "-", f"{load:.1f}",
                )  # fmt: skip
