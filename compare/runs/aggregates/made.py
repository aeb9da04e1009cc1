"""Made: the aggregates of an objective, computed by Spark from what the tables hold."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

import pyarrow.parquet as pq

from compare.runs.aggregates.facts import COUNTED, text
from compare.runs.aggregates.of_optima import facts_of_names, facts_of_optima, worst_of
from compare.runs.aggregates.of_scores import IS_TIMED, facts_of_scores
from compare.runs.aggregates.state import has_state, state_of
from compare.runs.tables.files import append, good
from compare.runs.tables.keys import HEXADECIMAL_DIGITS
from compare.runs.tables.schemas import TABLES

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

    from compare.runs.job import Job

FEW = {"spark.sql.codegen.wholeStage": "false", "spark.sql.shuffle.partitions": "1"}
MOST_INTERPRETED = 50_000
MOST_FAMILIES = 64
OTHERS = "other families"
# Of texts that may be many, the most frequent of each family.
MOST_TEXTS = 100
TEXTS = ("assumed", "reason")
MARKS = ("state", "objective")
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
    views = [_view(spark, job.out, name) for name in ("groups", "optima", "scores")]
    # Of few rows, to compile a plan and to start tasks takes longer than to run it.
    few = _rows(job.out) <= MOST_INTERPRETED
    before = {name: spark.conf.get(name) for name in FEW}
    try:
        for name, value in FEW.items() if few else ():
            spark.conf.set(name, value)
        rows = spark.sql(_query(job, objective, state)).toArrow()
    finally:
        for name, usual in before.items():
            spark.conf.set(name, usual or "")
        for view in views:
            spark.catalog.dropTempView(view)
    return append(job.out, "aggregates", rows, run)


def _query(job: Job, objective: str, state: str) -> str:
    """Return the query of all aggregates.

    It is one text: a plan that is put together call by call takes longer than to run it.
    """
    of_assignors = (
        f"WHEN {text(name)} THEN {_row_key(job.score_made_by(name))}" for name in job.assignors
    )
    score_key = f"CASE assignor {' '.join(of_assignors)} END"
    facts = [
        facts_of_optima("optima", _digits(job.out)),
        facts_of_scores("scores", job.objective),
        facts_of_names("optima"),
    ]
    texts = ", ".join(map(text, TEXTS))
    columns = ", ".join(name for name in TABLES["aggregates"].names if name not in MARKS)
    return f"""
        WITH found AS (
            SELECT *, if(lower(first) RLIKE '[.](jsonl|ndjson|parquet)$', first,
                if(above = '', '.', above)) AS in_family
            FROM (SELECT *, regexp_replace(first, '/?[^/]*$', '') AS above
                FROM (SELECT *, split(source, ', ', 2)[0] AS first FROM assay_groups))
        ), kept AS (
            SELECT in_family AS family FROM found GROUP BY in_family
            ORDER BY count(*) DESC, in_family DESC LIMIT {MOST_FAMILIES}
        ), sized AS (
            SELECT key AS group_key, min_by(struct(coalesce(family, {text(OTHERS)}) AS family,
                n_partitions, coalesce(forall(subscription_known, one -> one), true) AS is_known
                ), stands) AS of
            FROM found LEFT JOIN kept ON in_family = family GROUP BY key
        ), optima AS (
            SELECT one.*, of.family, of.is_known
            FROM ({_one_each("assay_optima", objective, _row_key(job.optimum_made_by))}) AS one
            JOIN sized USING (group_key)
        ), placed AS (
            SELECT one.*, of.family, of.n_partitions
            FROM ({_one_each("assay_scores", objective, score_key, "assignor")}) AS one
            JOIN sized USING (group_key)
        ), scores AS (
            SELECT *, min(took) OVER (PARTITION BY group_key) AS fastest,
                row_number() OVER (PARTITION BY group_key ORDER BY took NULLS LAST, assignor)
                AS by_seconds
            FROM (SELECT *, if({IS_TIMED}, seconds, null) AS took FROM placed)
        ), facts AS ({" UNION ALL ".join(facts)}), ranked AS (
            SELECT *, row_number() OVER (PARTITION BY statistic, family ORDER BY count DESC, label)
                AS place
            FROM ({COUNTED})
        ), every AS (
            SELECT family, statistic, assignor, tier, label, captured_at, x, y, count, total, most,
                group, string(null) AS group_key, string(null) AS optimum_key
            FROM ranked WHERE place <= {MOST_TEXTS} OR statistic NOT IN ({texts})
            UNION ALL {worst_of("optima")}
        )
        SELECT {text(state)} AS state, {text(objective)} AS objective, {columns} FROM every
    """


def _one_each(rows: str, objective: str, key: str, *more: str) -> str:
    """Return a query for one row a group, and of each in `more`: this job's where there is one.

    Runs with another time limit, or of another version, leave rows of their own.

    Parameters
    ----------
    key : of the row that this job makes
    """
    by = ", ".join(("group_key", *more))
    order = f"coalesce(key <> {key}, true), key, stands"
    number = f"row_number() OVER (PARTITION BY {by} ORDER BY {order}) AS number"
    of_objective = f"objective = {text(objective)}"
    return f"SELECT * FROM (SELECT *, {number} FROM {rows} WHERE {of_objective}) WHERE number = 1"


def _row_key(made_by: str) -> str:
    """Return the key of a group's row as SQL."""
    return f"substring(sha2(concat({text(made_by)}, group_key), 256), 1, {HEXADECIMAL_DIGITS})"


def _view(spark: SparkSession, folder: Path, name: str) -> str:
    """Make a table a view with where each row stands: one may be there twice; return its name."""
    from pyspark.sql.pandas.types import from_arrow_schema

    files = good(folder.absolute(), name)[0]
    schema = from_arrow_schema(TABLES[name])
    if files:
        reader = spark.read.schema(schema).option("__globPaths__", "false")
        rows = reader.parquet(*(f"file:{file}" for file in files))
        rows = rows.selectExpr("*", "struct(_metadata.file_name, _metadata.row_index) AS stands")
    else:
        rows = spark.createDataFrame([], schema).selectExpr(
            "*", "struct('' AS file_name) AS stands"
        )
    rows.createOrReplaceTempView(f"assay_{name}")
    return f"assay_{name}"


def _rows(folder: Path) -> int:
    """Return how many rows there are in ``scores``, with repeats."""
    return sum(pq.read_metadata(file).num_rows for file in good(folder, "scores")[0])


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
