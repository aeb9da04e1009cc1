"""Made: the aggregates of an objective, counted in tasks, portion by portion, and added up."""

from __future__ import annotations

from datetime import date
from functools import partial
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from compare.runs.aggregates.counted import ADDED, MARKS, SCHEMA
from compare.runs.aggregates.families import kept_families
from compare.runs.aggregates.of_optima import counts_of_names, counts_of_optima
from compare.runs.aggregates.of_scores import counts_of_scores
from compare.runs.aggregates.portion import Portion
from compare.runs.aggregates.state import state_of
from compare.runs.aggregates.worst import MOST_WORST, ORDER_IN_SQL
from compare.runs.session.settings import set_for_now
from compare.runs.tables.files import append, good

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from pyspark.sql import SparkSession

    from compare.runs.job import Job

# What is left to add up is little: to compile a plan and start tasks takes longer than to run it.
LITTLE = {"spark.sql.codegen.wholeStage": "false", "spark.sql.shuffle.partitions": "1"}
VIEW = "assay_counted"
# Of ``scores``: what a task holds in memory at once.
ROWS_PER_PORTION = 250_000
# Of texts that may be many, the most frequent of each family.
MOST_TEXTS = 100
TEXTS = ("assumed", "reason")
# Up to how many days apart captures are told to the minute, hour, day, month.
DIGITS = ((0, 16), (14, 13), (400, 10), (10**9, 7))


def aggregate(spark: SparkSession, job: Job, run: str) -> None:
    """Add the aggregates of the job's objective to their table.

    Parameters
    ----------
    run : name of the run, with which its files begin
    """
    from pyspark.sql.pandas.types import from_arrow_schema

    objective = job.tiers
    state = state_of(job.out, objective)
    portions = _portions(job)
    tasks = spark.range(0, len(portions), 1, len(portions))
    work = partial(_counted, job, portions, _digits(job.out))
    tasks.mapInArrow(work, from_arrow_schema(SCHEMA)).createOrReplaceTempView(VIEW)
    try:
        with set_for_now(spark, LITTLE):
            rows = spark.sql(_sums()).toArrow()
    finally:
        spark.catalog.dropTempView(VIEW)
    for name, mark in zip(MARKS, (state, objective), strict=True):
        rows = rows.append_column(name, pa.repeat(mark, len(rows)))
    append(job.out, "aggregates", rows, run)


def _portions(job: Job) -> list[Portion]:
    """Return the portions of the tables, as few as memory allows: each reads every file."""
    files = {
        name: [str(file) for file in good(job.out.absolute(), name)[0]]
        for name in ("groups", "optima", "scores")
    }
    rows = sum(pq.read_metadata(file).num_rows for file in files["scores"])
    count = -(-rows // ROWS_PER_PORTION) or 1
    families = kept_families(files["groups"])
    return [Portion(number, count, files, families) for number in range(count)]


def _counted(
    job: Job, portions: list[Portion], digits: int, batches: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        for number in batch.column(0).to_pylist():
            for rows in counts(portions[number], job, digits):
                yield from rows.to_batches()


def counts(portion: Portion, job: Job, digits: int) -> Iterator[pa.Table]:
    """Return what a portion counts, as rows of ``aggregates``.

    Parameters
    ----------
    digits : how many characters of a time of capture are one point of a trend
    """
    optima, scores = portion.rows(job)
    yield from counts_of_optima(optima, digits)
    yield from counts_of_names(optima if portion.of == 1 else portion.named(job))
    yield from counts_of_scores(scores, job.objective)


def _sums() -> str:
    """Return the query that adds up what the portions count.

    It is one text: a plan that is put together call by call takes longer than to run it.
    """
    by = ", ".join(f"`{name}`" for name in SCHEMA.names if name not in ADDED)
    added = ", ".join(f"{how}(`{name}`) AS `{name}`" for name, how in ADDED.items())
    urgency = [f"if(statistic = 'worst', {one}, null)" for one in ORDER_IN_SQL]
    order = ", ".join([*urgency, "`count` DESC", "label"])
    most = {"worst": MOST_WORST} | dict.fromkeys(TEXTS, MOST_TEXTS)
    kept = " ".join(f"WHEN '{name}' THEN {count}" for name, count in most.items())
    return f"""
        WITH added AS (
            SELECT {by}, {added} FROM {VIEW} GROUP BY {by}
        ), placed AS (
            SELECT *, row_number() OVER (PARTITION BY statistic, family
                ORDER BY {order}) AS place
            FROM added
        )
        SELECT {", ".join(f"`{name}`" for name in SCHEMA.names)} FROM placed
        WHERE coalesce(place <= CASE statistic {kept} END, true)
    """


def _digits(folder: Path) -> int:
    """Return how much of a time of capture is one point of a trend, so that it has few of them."""
    ends: list[str] = []
    for file in good(folder, "optima")[0]:
        metadata = pq.read_metadata(file)
        for number in range(metadata.num_row_groups):
            columns = map(metadata.row_group(number).column, range(metadata.num_columns))
            found = next(one for one in columns if one.path_in_schema == "captured_at").statistics
            ends += [found.min, found.max] if found is not None and found.has_min_max else []
    return digits_between(min(ends, default=""), max(ends, default=""))


def digits_between(first: str, last: str) -> int:
    """Return how many characters of a time tell some hundred points between two from each other.

    Examples
    --------
    >>> digits_between("2026-11-20T10:00:00Z", "2026-11-20T12:30:00Z")  # minutes
    16
    >>> digits_between("2026-11-20T10:00:00Z", "2027-02-20T10:00:00Z")  # days
    10
    """
    try:
        days = (date.fromisoformat(last[:10]) - date.fromisoformat(first[:10])).days
    except ValueError:
        return DIGITS[-1][1]
    return next(digits for most, digits in DIGITS if days <= most)
