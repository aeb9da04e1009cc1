"""Run: reads groups with Spark, solves and scores them, and writes what the tables lack."""

from __future__ import annotations

import os
import platform
import re
import subprocess
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property, partial, reduce
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from compare.fleet.ending import ending_of
from compare.fleet.optima import ANSWERS, failure_answers
from compare.fleet.results import RunCounts
from compare.fleet.session import ANY_BYTES, BATCH, FOR_ROWS, set_for_now
from compare.fleet.source import FOR_READING, portions, portions_of, without_unreadable
from compare.fleet.tables import RUN, TABLES, is_local, new_run, version_of
from compare.fleet.worker import answers_of_groups
from groups.documents.json_files import make_folder
from groups.errors import BadInput
from groups.files import files_in, is_folder
from groups.wording import counted, duration
from optimal.answer import SEED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pyspark.sql import DataFrame, SparkSession

    from compare.fleet.job import Job
    from compare.fleet.source import Portion
    from groups.errors import Failure

# The tables in the order in which they are written: after an interrupted run, the next run makes
# the rows that are missing.
ANSWERED = ("failures", "scores", "optima", "groups")
SOLVERS = ("ortools", "pulp")
STAGES = {
    "start": "starting Spark",
    "find": "finding the input",
    "known": "finding what the tables hold",
    "answer": "reading, solving and scoring",
    "write": "writing tables",
    "add": "adding up",
}
# Rows of a file, roughly: opening a file takes as long as reading some thousand rows.
FILE_ROWS = 2**14


def prepare(job: Job) -> None:
    """Check a job before Spark starts, and make the folder of its tables.

    Raises
    ------
    BadInput
        If the input is a path of this machine that cannot be read, or the folder of the tables
        cannot be made.
    """
    paths_are_local = "HADOOP_CONF_DIR" not in os.environ
    if not (job.input_is_table or job.input_format) and is_local(job.source) and paths_are_local:
        is_pattern = any(one in job.source for one in "*?[{")
        try:
            if os.path.exists(job.source) or not is_pattern:
                os.stat(job.source)
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            raise BadInput(f"{job.source}: cannot be read: {reason}") from None
        if is_folder(job.source):
            files_in(job.source)
    tables = job.tables
    if not tables.in_catalogue and is_local(tables.place) and paths_are_local:
        make_folder(Path(tables.place))


@dataclass
class Run:
    """A run that fills the tables of a job with the rows that they lack.

    Attributes
    ----------
    say : is called with a line for people at the start and the end
    progress : is called after each portion with a line on the share done and the time left
    seconds : the time that each stage took, by the names in `STAGES`
    new : number of captures that lacked an optimum or a score
    failed : number of captures that could not be solved
    portions, rows : numbers of portions and rows written so far
    """

    spark: SparkSession
    job: Job
    say: Callable[[str], None] = lambda _: None
    progress: Callable[[str], None] = lambda _: None
    seconds: dict[str, float] = field(default_factory=dict)
    new: int = 0
    failed: int = 0
    portions: int = 0
    rows: int = 0
    started: datetime = field(default_factory=lambda: datetime.now(UTC))

    @cached_property
    def name(self) -> str:
        """The run's name in the tables."""
        return new_run(self.started)

    def fill(self) -> RunCounts:
        """Fill the tables, add them up, and return the counts.

        Raises
        ------
        BadInput
            If the input holds no group, or the folder cannot be written.
        """
        try:
            self.job.tables.require(self.spark)
            self.say(f"reading {self.job.source}")
            with set_for_now(self.spark, FOR_READING):
                self._fill_portions()
            solved = f"{counted(self.new, 'new capture')} solved and scored"
            self.say(f"{solved}, {self.failed:,} failed" if self.failed else solved)
            with self._timed("add"), set_for_now(self.spark, FOR_ROWS):
                found = ending_of(self.spark, self.job, self.name, written=self.rows)
        except Exception as error:
            # Spark may be gone, and the first error is the one to report.
            with suppress(Exception):
                self._log_run(ended="failed", reason=str(error))
            raise
        seconds = self._log_run(
            ended="done",
            groups=found.overview.captured,
            missing=self.new,
            proved=found.proved,
            failed=self.failed,
            failures=found.unread[0],
        )
        stages = tuple(self.seconds.items())
        return RunCounts(str(self.job.tables), found, self.new, seconds, self.name, stages)

    @contextmanager
    def _timed(self, stage: str) -> Iterator[None]:
        start = perf_counter()
        try:
            yield
        finally:
            self.seconds[stage] = self.seconds.get(stage, 0.0) + perf_counter() - start

    def _fill_portions(self) -> None:
        """Solve and write what the tables lack, portion by portion."""
        refused: list[Failure] = []
        with self._timed("find"):
            parts = portions(self.spark, self.job, refused)
        with self._timed("known"):
            known = self._held_by_tables()
        begun = perf_counter()
        total, so_far = sum(part.size for part in parts), 0
        if refused:
            self._write_failures(refused, known)
        while parts:
            part = parts.pop(0)
            try:
                self._answer(part, known)
            except Exception as error:
                refused = []
                rest = without_unreadable(part.files, error, refused)
                parts[:0] = portions_of(self.spark, self.job, rest, refused)
                self._write_failures(refused, known)
                continue
            so_far += part.size
            share, seconds = so_far / total if total else 1.0, perf_counter() - begun
            left = seconds * (1 - share) / max(share, 1e-9)
            self.progress(
                f"{share:.0%} of the input, {counted(self.new, 'new capture')}, "
                f"{self.new / max(seconds, 1e-9):,.0f} a second, {duration(round(left))} left"
            )

    def _held_by_tables(self) -> DataFrame | None:
        """Return what the tables hold of each group; None if they are empty.

        The columns are `key`, and `known`: a list of ``groups``, ``failures`` and the `made_by` of
        the optimum and the scores.
        """
        from pyspark.sql import functions as sql

        made = sql.col("made_by")
        held = []
        for name in ANSWERED:
            if (rows := self.job.tables.read_if_there(self.spark, name)) is None:
                continue
            if "made_by" in rows.columns:
                rows = rows.where(made.isin(self.job.made_by))
                held.append(rows.select(sql.col("group_key").alias("key"), made.alias("one")))
            else:
                held.append(rows.select("key", sql.lit(name).alias("one")))
        if not held:
            return None
        every = reduce(lambda one, other: one.unionAll(other), held)
        known = every.groupBy("key").agg(sql.collect_set("one").alias("known")).persist()
        return known if known.count() else None

    def _write_failures(self, failures: list[Failure], known: DataFrame | None) -> None:
        rows = pa.Table.from_batches([failure_answers(failures)])
        found = self.spark.createDataFrame(rows)
        new = found if known is None else found.join(known, "key", "left_anti")
        self._write(new, found)

    def _answer(self, part: Portion, known: DataFrame | None) -> None:
        from pyspark.sql import functions as sql

        self.spark.conf.set(BATCH, str(part.batch_bytes))
        if known is None:
            with self._computed(part.answers(self.job, "answer")) as answers:
                self._write(answers)
            return
        whole = sql.array(*(sql.lit(one) for one in ("groups", *self.job.made_by)))
        is_held = sql.when(
            sql.col("failures").isNull(), sql.size(sql.array_except(whole, "known")) == 0
        ).otherwise(sql.array_contains("known", "failures"))
        with self._computed(part.answers(self.job, "read")) as found:
            # From here on the number of rows in a batch is enough: sizes are slow to check.
            self.spark.conf.set(BATCH, str(ANY_BYTES))
            beside = found.join(known, "key", "left").select(*ANSWERS.names, "known")
            lacking = beside.where(~sql.coalesce(is_held, sql.lit(False)))
            new = lacking.mapInArrow(partial(answers_of_groups, self.job), found.schema)
            with self._computed(new) as answers:
                self._write(answers, found)

    @contextmanager
    def _computed(self, rows: DataFrame) -> Iterator[DataFrame]:
        """Compute rows, and keep them in memory, or on disk if they do not fit, until the end.

        Unlike a query that passes rows to Python by Arrow, this one ends at an interrupt.
        """
        kept = rows.persist()
        try:
            with self._timed("answer"):
                kept.count()
            yield kept
        finally:
            kept.unpersist()

    def _write(self, answers: DataFrame, read: DataFrame | None = None) -> None:
        """Write the new rows of a portion, and the keys of all that it holds.

        Parameters
        ----------
        read : all rows of the portion; None: `answers` are all
        """
        with self._timed("answer"):
            fresh, counts = self._deduplicated(answers)
        self.new += counts["new"]
        self.failed += counts["failed"]
        with self._timed("write"):
            for name in ANSWERED:
                if counts[name]:
                    rows = fresh.where(f"{name} IS NOT NULL").select(f"{name}.*")
                    rows = rows.coalesce(-(-counts[name] // FILE_ROWS))
                    self.job.tables.write(rows, name, self.name)
                    self.rows += counts[name]
            keys = (
                fresh.where("groups IS NOT NULL OR failures IS NOT NULL")
                if read is None
                else self._without_earlier_portions(read.dropDuplicates(["key"]))
            )
            # Written last, as a key in this table means that its group is done.
            keys = keys.selectExpr("key", "groups IS NOT NULL AS is_group").coalesce(1)
            self.job.tables.write(keys, "inputs", self.name)
        self.portions += 1

    def _deduplicated(self, answers: DataFrame) -> tuple[DataFrame, dict[str, int]]:
        """Return rows without groups that the input repeats, and their counts."""
        counts = self._counts_of(answers)
        once = answers
        if counts["rows"] > counts["keys"]:
            once = once.dropDuplicates(["key"])
        once = self._without_earlier_portions(once)
        return (once, counts) if once is answers else (once, self._counts_of(once))

    def _without_earlier_portions(self, rows: DataFrame) -> DataFrame:
        """Return rows without those of groups that this run has written before."""
        if not self.portions:
            return rows
        from pyspark.sql import functions as sql

        before = self.job.tables.read(self.spark, "inputs").where(sql.col(RUN) == self.name)
        before = before.select("key")
        is_before = rows["about"] == before["key"]
        repeated = rows.select("about").join(before, is_before, "left_semi").count()
        return rows.join(before, is_before, "left_anti") if repeated else rows

    def _counts_of(self, answers: DataFrame) -> dict[str, int]:
        """Return how many rows there are, how many keys, and how many rows each table gets.

        They are counted here, by Arrow: Spark would shuffle all keys to count distinct ones.
        Hashes will do for that: of two that are equal by chance, nothing is lost.
        """
        flags = {
            **{name: f"{name} IS NOT NULL" for name in ANSWERED},
            "failed": "optima.status <=> 'failed'",
        }
        columns = (f"{how} AS {name}" for name, how in flags.items())
        rows = answers.selectExpr("xxhash64(key) AS key", "xxhash64(about) AS about", *columns)
        found = rows.toArrow()
        is_new = pc.or_(found["optima"], found["scores"])
        return {
            "rows": len(found),
            "keys": pc.count_distinct(found["key"]).as_py(),
            "new": pc.count_distinct(found["about"].filter(is_new)).as_py(),
            **{name: pc.sum(found[name]).as_py() or 0 for name in flags},
        }

    def _size(self) -> dict[str, int]:
        """Return how many files and bytes the run has written; empty for other stores."""
        tables = self.job.tables
        if not tables.is_parquet:
            return {}
        reader = self.spark.read.format("binaryFile").option("recursiveFileLookup", "true")
        files = reader.option("pathGlobFilter", "*.parquet").load(tables.runs_of(self.name))
        sizes = [row["length"] for row in files.select("length").collect()]
        return {"files": len(sizes), "bytes": sum(sizes)}

    def _log_run(self, **facts: object) -> float:
        """Add a row to ``runs`` if the run has written anything; return the run's seconds."""
        job, spark = self.job, self.spark
        seconds = (datetime.now(UTC) - self.started).total_seconds()
        seconds += self.seconds.get("start", 0.0)
        if not self.rows:
            return seconds
        row = {
            "started_at": self.started.isoformat(timespec="seconds"),
            "version": version_of("kafka-assay"),
            "solvers": [f"{name} {version_of(name)}" for name in SOLVERS if find_spec(name)],
            "python": platform.python_version(),
            "commit": commit(),
            "processor": processor(),
            "master": spark.conf.get("spark.master", None),
            "input": job.source,
            "objective": job.tiers,
            "assignors": list(job.assignors),
            "time_limit_seconds": job.time_limit,
            "assume_equal": job.assume_equal,
            "reset": job.reset,
            "seed": SEED,
            # Spark Connect does not tell how many tasks run at once.
            "cores": spark.sparkContext.defaultParallelism if hasattr(spark, "_jsc") else None,
            "rows": self.rows,
            **self._size(),
            "seconds": seconds,
            "stages": [{"stage": one, "seconds": took} for one, took in self.seconds.items()],
            **facts,
        }
        rows = pa.Table.from_pylist([row], TABLES["runs"])
        job.tables.write(spark.createDataFrame(rows).coalesce(1), "runs", self.name)
        return seconds


def commit(folder: Path = Path(__file__).parents[2]) -> str | None:
    """Return the commit of the clone that this package runs from, None if there is no clone.

    It ends in ``+`` if files differ from the commit.
    """
    if not (folder / ".git").exists():
        return None
    words = ["describe", "--always", "--abbrev=40", "--exclude=*", "--dirty=+"]
    try:
        said = subprocess.run(
            ["git", "-C", folder, *words], capture_output=True, text=True, timeout=10, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return said.stdout.strip()


def processor() -> str:
    """Return the name of the processor and how many of its cores this process may use."""
    name = platform.processor() or platform.machine()
    with suppress(OSError):
        found = re.search(r"^model name\s*: (.*)", Path("/proc/cpuinfo").read_text(), re.M)
        name = found[1] if found else name
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return f"{name}, {counted(cores or 1, 'core')}"


def timings(rows: Sequence[tuple[str, float]]) -> list[str]:
    """Return a line for people on each stage: its seconds and its share of the total."""
    total = sum(seconds for _, seconds in rows) or 1.0
    return [f"{took:9.1f} s {took / total:6.1%}  {STAGES[name]}" for name, took in rows]
