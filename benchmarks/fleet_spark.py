"""The fleet on Spark: how many groups a second a run does, beyond its start.

Run with ``python -m benchmarks.fleet_spark [GROUPS]``. Each input goes through one core and
through two, in turn, and then once more, when there is nothing left to do. The start of Spark is
not counted; what else the machine does shows in its load. Beside each stands the same without
Spark, by `fleet.tables` in a program of its own, all of whose time counts.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np
import pyarrow.parquet as pq

from benchmarks.instances import SEED
from compare.samples.families import Family
from groups.columnar.parquet import write_groups
from groups.group import Group

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

GROUPS = 100_000
DISTINCT = 2_000
# Of these a run does a twentieth as many.
FEWER = 20
WRITTEN = ("kip-54-sticky", "kip-615-constrained", "range")


def inputs(folder: Path, groups: int) -> Iterator[tuple[str, Path, Sequence[str], int]]:
    """Yield what is timed: its name, the input, the assignors, and how many groups it has."""
    drawn = np.random.default_rng(SEED).integers(2**31, size=DISTINCT)
    family = Family(10, 6, 6, "random", "join-one")
    documents = [family.group(int(seed)).to_dict() for seed in drawn]

    def documents_of(count: int) -> Iterator[dict[str, object]]:
        for number in range(count):
            yield {**documents[number % DISTINCT], "group": f"g{number}"}

    files = [(folder / "groups.jsonl", groups), (folder / "some.jsonl", groups // FEWER)]
    for file, count in files:
        with file.open("w") as out:
            out.writelines(f"{json.dumps(one)}\n" for one in documents_of(count))
    columnar = folder / "groups.parquet"
    write_groups(map(Group.from_dict, documents_of(groups)), str(columnar))
    yield "JSON lines", files[0][0], ["current"], groups
    yield "Parquet", columnar, ["current"], groups
    yield "JSON lines, three assignors", files[1][0], ["current", *WRITTEN], groups // FEWER


def timed(
    source: Path, assignors: Sequence[str], cores: int
) -> tuple[float, dict[str, float], float]:
    """Run twice; return the seconds, those of each stage, and those of the second run."""
    with TemporaryDirectory() as out:
        command = [sys.executable, "-m", "assay", "run", str(source), "--out", out]
        command += ["--master", f"local[{cores},3]"]
        command += [word for name in assignors for word in ("--assignor", name)]
        seconds = []
        for _ in range(2):
            start = perf_counter()
            subprocess.run(command, check=True, capture_output=True)
            seconds.append(perf_counter() - start)
        (file,) = (Path(out) / "runs").glob("*/*.parquet")
        (run,) = pq.read_table(file).to_pylist()
    return seconds[0], {one["stage"]: one["seconds"] for one in run["stages"]}, seconds[1]


def timed_without_spark(source: Path, assignors: Sequence[str], cores: int) -> float:
    """Return the seconds of a program that answers an input without Spark."""
    call = f"fleet.tables({str(source)!r}, {list(assignors)!r}, processes={cores})"
    start = perf_counter()
    subprocess.run([sys.executable, "-c", f"from assay import fleet; {call}"], check=True)
    return perf_counter() - start


def main() -> None:
    """Print a row for each input and number of cores."""
    groups = int(sys.argv[1]) if len(sys.argv) > 1 else GROUPS
    _say("| input | groups | cores | seconds | start | groups/s beyond it | work | again | load |")
    _say("|---|---|---|---|---|---|---|---|---|")
    with TemporaryDirectory() as folder:
        for name, source, assignors, count in inputs(Path(folder), groups):
            for cores in (1, 2):
                load, _, _ = os.getloadavg()
                seconds, stages, again = timed(source, assignors, cores)
                beyond = seconds - stages["start"]
                work = stages["answer"] / seconds
                _say(
                    f"| {name} | {count:,} | {cores} | {seconds:.1f} | {stages['start']:.1f} | "
                    f"{count / beyond:,.0f} | {work:.0%} | {again:.1f} | "
                    f"{load:.1f} |"
                )
                load, _, _ = os.getloadavg()
                seconds = timed_without_spark(source, assignors, cores)
                _say(
                    f"| {name}, without Spark | {count:,} | {cores} | {seconds:.1f} | - | "
                    f"{count / seconds:,.0f} | - | - | {load:.1f} |"
                )


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
