"""Pipeline: from groups to optima and scores on Spark: what is cheap at once, then the rest."""

from __future__ import annotations

import os
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from time import perf_counter
from typing import TYPE_CHECKING

from compare.runs.aggregates.ending import ending_of
from compare.runs.aggregates.made import aggregate
from compare.runs.aggregates.state import has_state, state_of
from compare.runs.counts import RunCounts
from compare.runs.run_log import logged
from compare.runs.session.spark import spark_session
from compare.runs.source.planning import SPLIT_BYTES, splits
from compare.runs.tables.files import left_out, new_run
from compare.runs.tables.folder import prepared
from compare.runs.work.missing import missing_of, solved_in
from compare.runs.work.parts import read_before
from compare.runs.work.phases import Files, cores_of, read, read_alone, solve
from compare.runs.work.plan import pieces
from compare.runs.work.stages import Stages
from compare.runs.work.tally import Tally
from compare.runs.work.watch import ReadingWatch, Watch, watched
from groups.errors import BadInput
from groups.wording import counted

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from pathlib import Path

    from pyspark.sql import SparkSession

    from compare.runs.job import Job
    from compare.runs.source.split import Split

# At least so many, for all cores to be done at the same time; large enough to be worth a task.
PARTS_PER_CORE = 6
LEAST_BYTES = 2**20
# So much is read by one core in the time in which Spark starts.
ALONE_BYTES = 2**22


def run_job(
    job: Job,
    say: Callable[[str], None],
    *,
    far: Callable[[str], None] | None = None,
    session: Callable[[Path], AbstractContextManager[SparkSession]] = spark_session,
    alone: bool = False,
) -> RunCounts:
    """Fill the tables under ``job.out`` with what is missing of the job.

    Parameters
    ----------
    say : takes lines for people on what happens
    far : takes a line every two seconds on how far it is
    session : takes the folder and opens the Spark session
    alone : whether a small input may be read here, so that a run that finds nothing to do needs
        no session

    Raises
    ------
    BadInput
        Where the input holds nothing, the folder cannot be written, or there is no Java.
    """
    started, clock, stages = datetime.now(UTC), perf_counter(), Stages()
    with stages.timed("find"):
        parts = cut(job)
        named, job = job.out, replace(job, out=prepared(job.out))
    run = new_run(started)
    for line in left_out(job.out):
        say(line)
    say(f"reading {job.source}")
    far = far or (lambda _: None)
    with logged(job, run, started) as facts:
        with ExitStack() as opened:

            @cache
            def start() -> tuple[SparkSession, int]:
                with stages.timed("start"):
                    spark = opened.enter_context(session(named))
                    cores = cores_of(spark)
                facts.update(master=spark.conf.get("spark.master"), cores=cores)
                return spark, cores

            with stages.timed("find"):
                before = read_before(job, parts)
                files = Files.whole(job.out, run)
            was_read, size = Tally(), sum(part.size for part in before.left)
            if before.left and alone and size <= ALONE_BYTES:
                with stages.phase(1) as tallies:
                    tallies.append(read_alone(job, files, before.left))
                was_read = tallies[0]
            elif before.left:
                spark, cores = start()
                watch = ReadingWatch(job.out, run, size)
                with stages.phase(cores) as tallies, watched(watch, far):
                    tallies.append(read(spark, job, files, before.left))
                was_read = tallies[0]
            at_once, failed = solved_in(job, run)
            if at_once:
                solved = f"{counted(at_once - failed, 'group')} read and solved for {job.tiers}"
                say(f"{solved}, {failed:,} failed" if failed else solved)
            with stages.timed("plan"):
                keys = sorted({*before.groups, *was_read.keys})
                failures = sorted({*before.failures, *was_read.failures})
                missing = missing_of(job, keys)
            done = Tally()
            if len(missing):
                spark, cores = start()
                others = counted(len(job.assignors) - 1, "assignor")
                what = f"solving {counted(len(missing), 'group')} for {job.tiers}"
                say(f"{what}, and scoring {others}" if len(job.assignors) > 1 else what)
                with stages.timed("plan"):
                    planned = pieces(missing, job, cores)
                to_do = Watch(job.out, run, len(missing), missing.scores)
                to_do.leave_out()
                with stages.phase(cores) as tallies, watched(to_do, far):
                    tallies.append(solve(spark, job, run, planned))
                done = tallies[0]
                say(f"{done.counts['groups']:,} of {counted(len(missing), 'group')}")
            if not has_state(job.out, state_of(job.out, job.tiers)):
                spark, _ = start()
                with stages.timed("add"):
                    aggregate(spark, job, run)
            ended = perf_counter()
        found = ending_of(job, keys, failures)
        stages.seconds["end"] = perf_counter() - ended
        facts |= {
            "groups": len(keys),
            "missing": at_once + len(missing),
            "proved": found.proved,
            "failed": was_read.counts["failed"] + done.counts["failed"],
            "failures": found.unread[0],
            "stages": [{"stage": stage, "seconds": taken} for stage, taken in stages.rows()],
        }
    seconds = perf_counter() - clock
    return RunCounts(named, found, at_once + len(missing), seconds, tuple(keys), stages.rows())


def cut(job: Job) -> list[Split]:
    """Return the parts of the input that tasks read.

    Raises
    ------
    BadInput
        Where there is no input.
    """
    found = splits([str(job.source)], split_bytes=_share)
    if not found:
        raise BadInput(f"{job.source}: empty, expected snapshots")
    return found


def _share(size: int) -> int:
    """Return how much a task reads of so much: of a file that grows, the first parts stay."""
    some = size // (PARTS_PER_CORE * (os.cpu_count() or 1))
    return min(max(1 << max(some.bit_length() - 1, 0), LEAST_BYTES), SPLIT_BYTES)
