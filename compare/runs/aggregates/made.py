"""Made: the aggregates of an objective, computed by Spark from what the tables hold."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

import pyarrow.parquet as pq

from compare.runs.aggregates.facts import counted
from compare.runs.aggregates.of_optima import (
    OF_OPTIMA,
    facts_of_names,
    facts_of_optima,
    worst_of,
)
from compare.runs.aggregates.of_scores import facts_of_scores, is_timed
from compare.runs.aggregates.state import has_state, state_of
from compare.runs.tables.files import append, good
from compare.runs.tables.keys import row_key_column
from compare.runs.tables.schemas import TABLES

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import Column, DataFrame, SparkSession

    from compare.runs.job import Job

COMPILED = "spark.sql.codegen.wholeStage"
MOST_INTERPRETED = 50_000
MOST_FAMILIES = 64
OTHERS = "other families"
# Of texts that may be many, the most frequent of each family.
MOST_TEXTS = 100
TEXTS = ("assumed", "reason")
# Up to how many days apart captures are told to the minute, hour, day, month.
DIGITS = ((0, 16), (14, 13), (400, 10), (10**9, 7))


def aggregate(spark: SparkSession, job: Job, run: str) -> Path | None:
    """Add the aggregates of the job's objective to their table, unless they are there already.

    Parameters
    ----------
    run : name of the run, with which its files begin

    Returns
    -------
    file : None where nothing was added
    """
    objective = " > ".join(job.objective)
    state = state_of(job.out, objective)
    if has_state(job.out, state):
        return None
    from pyspark.sql import functions as sql

    groups = _groups(spark, job.out)
    of_objective = sql.col("objective") == objective
    optima = _stored(spark, job.out, "optima").where(of_objective)
    optima = _one_each(optima, row_key_column(job.optimum_made_by, sql.col("group_key")))
    optima = optima.join(groups, "group_key").select(*OF_OPTIMA).persist()
    scores = _stored(spark, job.out, "scores").where(of_objective)
    scores = _one_each(scores, _score_key(job), "assignor").join(groups, "group_key")
    facts = facts_of_optima(optima, _digits(job.out))
    facts = facts.unionByName(facts_of_scores(_with_fastest(scores), job.objective))
    facts = facts.unionByName(facts_of_names(optima))
    rows = _most_frequent(counted(facts)).unionByName(worst_of(optima), allowMissingColumns=True)
    marks = {"state": sql.lit(state), "objective": sql.lit(objective)}
    rows = rows.withColumns(marks).select(*TABLES["aggregates"].names)
    compiled = spark.conf.get(COMPILED, "true")
    # To compile a plan takes longer than to run it over a few rows.
    spark.conf.set(COMPILED, str(_rows(job.out) > MOST_INTERPRETED).lower())
    try:
        return append(job.out, "aggregates", rows.toArrow(), run)
    finally:
        spark.conf.set(COMPILED, compiled or "true")
        optima.unpersist()


def _rows(folder: Path) -> int:
    """Return how many rows there are in ``scores``, with repeats."""
    return sum(pq.read_metadata(file).num_rows for file in good(folder, "scores")[0])


def _stored(spark: SparkSession, folder: Path, name: str) -> DataFrame:
    """Return a table as it is, with where each row stands: one may be there twice."""
    from pyspark.sql import functions as sql
    from pyspark.sql.pandas.types import from_arrow_schema

    files = good(folder.absolute(), name)[0]
    schema = from_arrow_schema(TABLES[name])
    place = sql.struct("_metadata.file_name", "_metadata.row_index").alias("stands")
    if not files:
        empty = spark.createDataFrame([], schema)
        return empty.withColumn("stands", sql.lit(None).cast("struct<file_name:string>"))
    reader = spark.read.schema(schema).option("__globPaths__", "false")
    return reader.parquet(*(f"file:{file}" for file in files)).select("*", place)


def _groups(spark: SparkSession, folder: Path) -> DataFrame:
    """Return of each group its family, its size and whether it is known who reads what.

    A family is a file of many groups, or else the folder that a group was found in.
    """
    from pyspark.sql import functions as sql

    first = sql.split("source", ", ", 2)[0]
    above = sql.regexp_replace(first, "/?[^/]*$", "")
    of_many = sql.lower(first).rlike(r"\.(jsonl|ndjson|parquet)$")
    family = sql.when(of_many, first).when(above == "", sql.lit(".")).otherwise(above)
    groups = _stored(spark, folder, "groups").withColumn(
        "family", sql.coalesce(family, sql.lit("."))
    )
    found = groups.groupBy("family").agg(sql.count("*").alias("groups"))
    found = found.orderBy(sql.desc("groups"), sql.desc("family")).limit(MOST_FAMILIES)
    kept = found.toArrow()["family"].to_pylist()
    known = sql.coalesce(sql.forall("subscription_known", lambda one: one), sql.lit(True))
    family = sql.when(sql.col("family").isin(kept), sql.col("family")).otherwise(OTHERS)
    first_of = sql.struct(
        "stands", family.alias("family"), "n_partitions", known.alias("is_known")
    )
    once = groups.groupBy(sql.col("key").alias("group_key")).agg(sql.min(first_of).alias("one"))
    return once.select("group_key", "one.family", "one.n_partitions", "one.is_known")


def _one_each(rows: DataFrame, key: Column, *more: str) -> DataFrame:
    """Return one row a group, and of each in `more`: that of this job where there is one.

    Runs with another time limit, or of another version, leave rows of their own.

    Parameters
    ----------
    key : of the row that this job makes
    """
    from pyspark.sql import Window
    from pyspark.sql import functions as sql

    order = [sql.col("key") != key, "key", "stands"]
    number = sql.row_number().over(Window.partitionBy("group_key", *more).orderBy(*order))
    return rows.withColumn("number", number).where("number = 1").drop("number", "stands")


def _score_key(job: Job) -> Column:
    """Return the key of the row of each assignor as this job makes it."""
    from pyspark.sql import functions as sql

    key = sql.lit("")
    for name in job.assignors:
        made = row_key_column(job.score_made_by(name), sql.col("group_key"))
        key = sql.when(sql.col("assignor") == name, made).otherwise(key)
    return key


def _with_fastest(scores: DataFrame) -> DataFrame:
    """Add the least seconds of each group, and the place of a row in it by seconds."""
    from pyspark.sql import Window
    from pyspark.sql import functions as sql

    seconds = sql.when(is_timed(), sql.col("seconds"))
    of_group = Window.partitionBy("group_key")
    by_seconds = of_group.orderBy(sql.asc_nulls_last("took"), "assignor")
    scores = scores.withColumn("took", seconds)
    return scores.withColumns(
        {
            "fastest": sql.min("took").over(of_group),
            "place_in_group": sql.row_number().over(by_seconds),
        }
    )


def _most_frequent(rows: DataFrame) -> DataFrame:
    """Leave out the texts of a family that are not among the most frequent."""
    from pyspark.sql import Window
    from pyspark.sql import functions as sql

    order = Window.partitionBy("statistic", "family").orderBy(sql.desc("count"), "label")
    rows = rows.withColumn("place", sql.row_number().over(order))
    kept = (sql.col("place") <= MOST_TEXTS) | ~sql.col("statistic").isin(*TEXTS)
    return rows.where(kept).drop("place")


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
