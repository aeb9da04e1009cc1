"""Pipeline: from groups to optima and scores on Spark, in two phases."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from importlib.metadata import version
from time import perf_counter
from typing import TYPE_CHECKING

import pyarrow as pa

from compare.runs.circumstances import circumstances
from compare.runs.counts import RunCounts
from compare.runs.rows import found_row
from compare.runs.session.spark import spark_session
from compare.runs.tables.files import append, left_out, new_run
from compare.runs.tables.folder import prepared
from compare.runs.tables.schemas import TABLES
from compare.runs.tables.stored import read_table
from compare.runs.work.missing import missing_of
from compare.runs.work.phases import cores_of, read, solve
from compare.runs.work.plan import pieces
from groups.errors import BadInput
from groups.files import find
from groups.wording import counted

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from pathlib import Path

    from pyspark.sql import SparkSession

    from compare.runs.job import Job

TEXTS_PER_TASK = 1_000


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
    found = [found_row(found) for found in find([str(job.source)])]
    if not found:
        raise BadInput(f"{job.source}: empty, expected snapshots")
    run = new_run(started)
    named, job = job.out, replace(job, out=prepared(job.out))
    for line in left_out(job.out):
        say(line)
    say(f"reading {counted(len(found), 'input')} under {job.source}")
    with session(named) as spark:
        cuts = range(0, len(found), TEXTS_PER_TASK)
        was_read = read(spark, job, run, [found[i : i + TEXTS_PER_TASK] for i in cuts])
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
