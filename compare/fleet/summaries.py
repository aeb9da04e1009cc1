"""Summaries: what the tables of runs come to, for the end of a run and its page."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from compare.fleet.aggregates import state_of
from compare.fleet.facts import (
    BOTH,
    FACTS,
    FAMILY,
    OF_OPTIMA,
    OF_SCORES,
    ROWS,
    ROWS_AT_ONCE,
    Asked,
    added,
    cut,
    digits_between,
    facts_in,
)
from compare.fleet.tables import RUN, TABLES, latest

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from compare.fleet.job import Job

MOST_FAMILIES = 64
MOST_LINES = 20


@dataclass(frozen=True, eq=False)
class Survey:
    """Which rows the tables hold, a few rows for each run.

    Attributes
    ----------
    rows : for each `table`, `run`, `objective`, `is_group` and `family` the `first` and `last`
        time of capture, and the `count`
    """

    rows: pa.Table

    @staticmethod
    def of(spark: SparkSession, job: Job, run: str) -> Survey:
        """Look at all optima and scores, and at the input of a run, in one pass."""
        from pyspark.sql import functions as sql

        told = {
            "optima": ("objective", f"{FAMILY} AS family", "captured_at"),
            "scores": (),
            "inputs": ("is_group",),
        }
        optima, scores, inputs = (
            job.tables.read(spark, name).selectExpr(f"'{name}' AS table", RUN, *columns)
            for name, columns in told.items()
        )
        every = optima.unionByName(scores, allowMissingColumns=True)
        inputs = inputs.where(sql.col(RUN) == run)
        every = every.unionByName(inputs, allowMissingColumns=True)
        alike = every.groupBy("table", RUN, "objective", "is_group", "family")
        ends = sql.min("captured_at").alias("first"), sql.max("captured_at").alias("last")
        return Survey(alike.agg(*ends, sql.count("*").alias("count")).toArrow())

    @property
    def runs(self) -> list[str]:
        """The runs that have written optima or scores."""
        answers = self.rows.filter(pc.not_equal(self.rows["table"], "inputs"))
        return sorted(pc.unique(answers[RUN]).to_pylist())

    def of_input(self, *, is_group: bool) -> int:
        """Return how many groups, or inputs that are none, the run has read."""
        rows = self.rows.filter(pc.equal(self.rows["is_group"], is_group))
        return int(pc.sum(rows["count"]).as_py() or 0)

    def asked(self, job: Job) -> Asked:
        """Return what is to be added up."""
        rows = self.rows.filter(pc.equal(self.rows["objective"], job.tiers))
        counts = rows.group_by("family").aggregate([("count", "sum")])
        order = [("count_sum", "descending"), ("family", "descending")]
        families = counts.sort_by(order)["family"].to_pylist()
        told = None if len(families) < MOST_FAMILIES else frozenset(families[:MOST_FAMILIES])
        first, last = pc.min(rows["first"]).as_py(), pc.max(rows["last"]).as_py()
        digits = digits_between(first or "", last or "")
        return Asked(job.objective, told, digits, pc.sum(self.rows["count"]).as_py() or 0)


def summarised(
    spark: SparkSession, job: Job, asked: Asked, keys: DataFrame | None = None
) -> pa.Table:
    """Return what the optima and scores of a job's objective come to, as rows of facts.

    Parameters
    ----------
    keys : of groups, in the column `key`: only these; None: all
    """
    from pyspark.sql import functions as sql
    from pyspark.sql.pandas.types import from_arrow_schema

    made_by = ", ".join(f"'{one}'" for one in job.made_by)
    own = {"own": f"made_by IN ({made_by})"}
    columns = from_arrow_schema(ROWS)
    optima, scores = (
        job.tables.read(spark, name)
        .where(sql.col("objective") == job.tiers)
        .selectExpr(
            *(
                f"CAST({how.get(one.name, 'null')} AS {one.dataType.simpleString()}) AS {one.name}"
                for one in columns
            )
        )
        for name, how in (("optima", BOTH | OF_OPTIMA | own), ("scores", BOTH | OF_SCORES | own))
    )
    every = optima.unionAll(scores)
    if keys is not None:
        wanted = keys.select(sql.col("key").alias("group_key"))
        every = every.join(wanted, "group_key", "left_semi").select(*ROWS.names)
    told = from_arrow_schema(FACTS)
    parts = -(-asked.rows // ROWS_AT_ONCE) or 1
    # Runs with another time limit, or of another version, leave rows of their own.
    alike = ("group", "group_key", "assignor")
    one_each = latest(every.repartition(parts, "group"), alike, before=("own",))
    facts = one_each.mapInArrow(partial(facts_in, asked), told)
    return cut(added(facts.toArrow().cast(FACTS)))


def summary_of(spark: SparkSession, job: Job, survey: Survey, run: str) -> pa.Table:
    """Return what all groups in the tables come to, kept in the table ``aggregates``.

    Parameters
    ----------
    run : that keeps it
    """
    state = state_of(survey.runs)
    if (stored := job.tables.read_if_there(spark, "aggregates")) is not None:
        found = stored.where(f"state = '{state}' AND objective = '{job.tiers}'").toArrow()
        if len(found):
            one_run = pc.equal(found[RUN], pc.max(found[RUN]))
            return found.filter(one_run).select(TABLES["aggregates"].names)
    rows = summarised(spark, job, survey.asked(job))
    for name, text in (("objective", job.tiers), ("state", state)):
        rows = rows.append_column(name, pa.repeat(pa.scalar(text), len(rows)))
    schema = TABLES["aggregates"]
    rows = rows.select(schema.names).cast(schema)
    job.tables.write(spark.createDataFrame(rows).coalesce(1), "aggregates", run)
    return rows
