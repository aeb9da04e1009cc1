"""Pipeline: from groups to optima and scores on Spark, in two phases."""

from __future__ import annotations

import os
from dataclasses import replace
from datetime import UTC, datetime
from importlib.metadata import version
from time import perf_counter
from typing import TYPE_CHECKING

import pyarrow as pa

from compare.runs.circumstances import circumstances
from compare.runs.counts import RunCounts
from compare.runs.session.spark import spark_session
from compare.runs.source.planning import SPLIT_BYTES, splits
from compare.runs.tables.files import append, left_out, new_run
from compare.runs.tables.folder import prepared
from compare.runs.tables.schemas import TABLES
from compare.runs.tables.stored import read_table
from compare.runs.work.missing import missing_of
from compare.runs.work.phases import cores_of, read, solve
from compare.runs.work.plan import pieces
from groups.wording import counted

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from pathlib import Path

    from pyspark.sql import SparkSession

    from compare.runs.job import Job
    from compare.runs.source.split import Split

# Enough parts for each core to be done at the same time, large enough to be worth a task.
PARTS_PER_CORE = 8
LEAST_BYTES = 2**20


def run_job(
    job: Job,
    say: Callable[[str], None],
    *,
    session: Callable[[Path], AbstractContextManager[SparkSession]] = spark_session,
) -> RunCounts:
    """Fill the tables under ``job.out`` with what is missing of the job.

    Parameters
    ----------
    session : takes the folder and opens the Spark session

    Raises
    ------
    BadInput
        Where the input holds nothing, the folder cannot be written, or there is no Java.
    """
    started, clock = datetime.now(UTC), perf_counter()
    parts = cut(job)
    run = new_run(started)
    named, job = job.out, replace(job, out=prepared(job.out))
    for line in left_out(job.out):
        say(line)
    say(f"reading {job.source}")
    with session(named) as spark:
        was_read = read(spark, job, run, parts)
        keys = sorted(was_read.keys)
        missing = missing_of(job, keys)
        if len(missing):
            say(f"solving {counted(len(missing), 'group')} for {' > '.join(job.objective)}")
        done = solve(spark, job, run, pieces(missing, job, cores_of(spark)))
        if len(missing):
            say(f"{done.counts['groups']:,} of {counted(len(missing), 'group')}")
    failures = len(was_read.failures)
    _log_run(job, run, started.isoformat(timespec="seconds"), len(keys), failures, clock)
    optima = read_table(job.out, "optima", ["key", "status"])
    wanted = set(map(job.optimum_key, keys))
    solved = int(((optima["status"] == "optimal") & optima["key"].isin(wanted)).sum())
    stored = read_table(job.out, "groups", ["key", "group"]).set_index("key")["group"]
    names = tuple(stored.loc[keys])
    seconds = perf_counter() - clock
    return RunCounts(named, names, solved, len(missing), failures, seconds, tuple(keys))


def cut(job: Job) -> list[Split]:
    """Return the parts of the input that tasks read.

    Raises
    ------
    BadInput
        Where there is no input.
    """
    found = splits([str(job.source)])
    size = sum(split.size for split in found) // (PARTS_PER_CORE * (os.cpu_count() or 1))
    return (
        found
        if size > SPLIT_BYTES
        else splits([str(job.source)], split_bytes=max(size, LEAST_BYTES))
    )


def _log_run(job: Job, run: str, started: str, groups: int, failures: int, clock: float) -> None:
    row = {
        "started_at": started,
        "version": version("kafka-assay"),
        **circumstances(),
        "input": str(job.source),
        "objective": " > ".join(job.objective),
        "assignors": list(job.assignors),
        "time_limit_seconds": job.time_limit,
        "groups": groups,
        "failures": failures,
        "seconds": perf_counter() - clock,
    }
    append(job.out, "runs", pa.Table.from_pylist([row], TABLES["runs"]), run)
