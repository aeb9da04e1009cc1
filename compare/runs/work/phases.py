"""Phases: what a run asks of Spark: to read the input, and to solve what is still missing."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from compare.runs.session.failed_session import GOES_ON
from compare.runs.tables.files import good
from compare.runs.work.process import Process, process_of
from compare.runs.work.reading import ReadingTask
from compare.runs.work.stored import Stored
from compare.runs.work.tally import SCHEMA, Tally
from compare.runs.work.task import Task
from compare.runs.work.unwritten import Unwritten
from groups.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from pyspark.sql import SparkSession

    from compare.runs.job import Job
    from compare.runs.source.split import Split
    from compare.runs.work.plan import Piece


# The tables that are looked up while the input is read.
READ = ("groups", "failures", "optima", "scores", "parts")


@dataclass(frozen=True)
class Files:
    """The files of the tables that were whole when a run began, as all its tasks take them.

    Attributes
    ----------
    run : name of the run
    of : by table
    """

    run: str
    of: tuple[tuple[str, tuple[Path, ...]], ...]

    @staticmethod
    def whole(out: Path, run: str) -> Files:
        """Look through the files of a folder."""
        return Files(run, tuple((name, tuple(good(out, name)[0])) for name in READ))


def read(spark: SparkSession, job: Job, files: Files, splits: Sequence[Split]) -> Tally:
    """Read the input in tasks, which write what is new of it, and solve what of it is cheap."""
    return _done(spark, partial(_read, job, files), splits)


def read_alone(job: Job, files: Files, splits: Sequence[Split]) -> Tally:
    """Read a small input as :func:`read` does, in one child of this process and without Spark."""
    told, tally = Tally(), Tally()
    try:
        with told.timed("task"), Process(job.folders) as process:
            task = _task(job, files.run, process, told)
            stored = Stored(job.out, files.run, dict(files.of))
            for split in splits:
                ReadingTask(task, stored).work_on(split)
    except BadInput as error:
        raise BadInput(f"{error}; {GOES_ON}") from None
    # Each key once, as from tasks.
    tally.take(pa.Table.from_batches([told.rows()]))
    return tally


def solve(spark: SparkSession, job: Job, run: str, pieces: Sequence[Piece]) -> Tally:
    """Solve and score in tasks, which write to ``optima`` and ``scores``; the first ones first."""
    return _done(spark, partial(_solve, job, run), pieces)


def cores_of(spark: SparkSession) -> int:
    """Return how many tasks run at once."""
    if hasattr(spark, "_jsc"):
        return int(spark.sparkContext.defaultParallelism)
    from pyspark.sql import functions as sql

    # A session of Spark Connect has no other way to say it.
    return int(spark.range(2**20).select(sql.spark_partition_id()).distinct().count())


def _done(spark: SparkSession, work: Callable[[Any, Tally], None], items: Sequence[Any]) -> Tally:
    """Have a task for each item, and add up what they say of their work."""
    from pyspark.sql.pandas.types import from_arrow_schema

    tally = Tally()
    if items:
        tasks = spark.range(0, len(items), 1, len(items))
        told = tasks.mapInArrow(partial(_told, work, items), from_arrow_schema(SCHEMA))
        tally.take(told.toArrow())
    return tally


def _told(
    work: Callable[[Any, Tally], None],
    items: Sequence[Any],
    batches: Iterable[pa.RecordBatch],
) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        for number in batch.column(0).to_pylist():
            tally = Tally()
            with tally.timed("task"):
                work(items[number], tally)
            yield tally.rows()


def _read(job: Job, files: Files, split: Split, tally: Tally) -> None:
    task = _task(job, files.run, process_of(job.folders), tally)
    ReadingTask(task, _stored(job.out, files)).work_on(split)


def _solve(job: Job, run: str, piece: Piece, tally: Tally) -> None:
    _task(job, run, process_of(job.folders), tally).work_on(piece)


def _task(job: Job, run: str, process: Process, tally: Tally) -> Task:
    return Task(job, process, tally, Unwritten(job.out, run, tally))


# Tasks of one run in one process look things up once, and know what the ones before them wrote.
@lru_cache(maxsize=1)
def _stored(out: Path, files: Files) -> Stored:
    return Stored(out, files.run, dict(files.of))
