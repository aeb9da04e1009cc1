"""The fleet on Spark: how many groups a second a run does, beyond its start.

Each input goes through one core
and through two, in turn, and then once more, when there is nothing left to do. The start of Spark
is not counted in the rate; what else the machine does shows in its load. The processor's seconds
are those of all processes of a run: Python, Java and their workers. Beside each stands the same
without Spark, by `fleet.tables` in a program of its own, all of whose time counts.
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

from benchmarks.fleet import joined
from benchmarks.printed import heading, row
from groups.group import Group
from groups.table.parquet import write_groups

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

GROUPS = 100_000
DISTINCT = 2_000
# Of these a run does a twentieth as many.
FEWER = 20
FIRST = 1_000
# Of prctl(2).
CHILD_SUBREAPER = 36
ASSIGNORS = ("kip-54-sticky", "kip-615-constrained", "range")


def inputs(folder: Path, groups: int) -> Iterator[tuple[str, Path, Sequence[str], int]]:
    """Yield what is timed: its name, the input, the assignors, and how many groups it has."""
    documents = [group.to_dict() for group in joined(DISTINCT)]

    def documents_of(count: int) -> Iterator[dict[str, object]]:
        for number in range(count):
            yield {**documents[number % DISTINCT], "group": f"g{number}"}

    counts = {"groups": groups, "some": groups // FEWER, "first": FIRST}
    files = [(folder / f"{name}.jsonl", count) for name, count in counts.items()]
    for file, count in files:
        with file.open("w") as out:
            out.writelines(f"{json.dumps(one)}\n" for one in documents_of(count))
    columnar = folder / "groups.parquet"
    write_groups(map(Group.from_dict, documents_of(groups)), str(columnar))
    yield "JSON lines", files[2][0], ["current"], FIRST
    yield "JSON lines", files[0][0], ["current"], groups
    yield "Parquet", columnar, ["current"], groups
    yield "JSON lines, three assignors", files[1][0], ["current", *ASSIGNORS], groups // FEWER


class Cost(NamedTuple):
    """What a program costs: seconds by the clock, and of the processors of all its processes."""

    seconds: float
    processor_seconds: float


def cost_of(command: Sequence[str]) -> Cost:
    """Run a program to its end, and to that of all that it has started."""
    # Spark's workers lose their parent before they end; Linux hands them to this process then.
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
    """Return what a run into an empty folder costs, the same again, and its row of ``runs``."""
    with TemporaryDirectory() as out:
        command = [sys.executable, "-m", "assay", "run", str(source), "--out", out]
        command += ["--master", f"local[{cores},3]"]
        command += [word for name in assignors for word in ("--assignor", name)]
        first, again = cost_of(command), cost_of(command)
        (file,) = (Path(out) / "runs").glob("*/*.parquet")
        (row,) = pq.read_table(file).to_pylist()
    return first, again, row


def without_spark(source: Path, assignors: Sequence[str], cores: int) -> Cost:
    """Return what a program costs that answers an input without Spark."""
    call = f"fleet.tables({str(source)!r}, {list(assignors)!r}, processes={cores})"
    return cost_of([sys.executable, "-c", f"from assay import fleet; {call}"])


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
                (seconds, used), again, told = run_twice(source, assignors, cores)
                start = next(one["seconds"] for one in told["stages"] if one["stage"] == "start")
                row(
                    name, f"{count:,}", cores, f"{seconds:.1f}", f"{start:.1f}",
                    f"{count / (seconds - start):,.0f}", f"{used:.1f}",
                    f"{1e6 * used / count:,.0f}", told["files"],
                    f"{again.seconds:.1f}", f"{load:.1f}",
                )  # fmt: skip
                load, _, _ = os.getloadavg()
                seconds, used = without_spark(source, assignors, cores)
                row(
                    f"{name}, without Spark", f"{count:,}", cores, f"{seconds:.1f}", "-",
                    f"{count / seconds:,.0f}", f"{used:.1f}", f"{1e6 * used / count:,.0f}",
                    "-", "-", f"{load:.1f}",
                )  # fmt: skip
