"""Ending: what a run has found out about its input, and which rows are beyond the limits."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from compare.fleet.aggregates import Aggregates, Stored, summary_of
from compare.fleet.facts import ONE_TIME, ROWS_AT_ONCE
from compare.fleet.results import MOST_LINES, Ending
from compare.fleet.session import FOR_ROWS, set_for_now
from compare.fleet.tables import FILE_ORDER, RUN, latest, latest_captures
from compare.lag.fall import PeakFall
from compare.limits import beyond
from compare.overview import Glance
from compare.scores import CURRENT, STORED, stored_score
from compare.sentences import spread
from compare.verdict import EMPTY, Verdict, may_rebalance
from groups.errors import Failure
from groups.wording import MOST_NAMED, counted, few, first_lines
from optimal.solution import Term

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from pyspark.sql import DataFrame, SparkSession

    from compare.fleet.job import Job


# The columns of ``optima`` that a glance shows.
OF_GLANCE = ("group", "captured_at", "verdict", "loads", "n_members", "n_partitions", "assumed")


def ending_of(spark: SparkSession, job: Job, run: str, *, written: int = 0) -> Ending:
    """Return what a run has found out about its input, and add up all groups in the tables.

    Parameters
    ----------
    run : its name
    written : number of rows that the tables hold at least
    """
    from pyspark.sql import functions as sql

    # Each table is read once, as Spark lists all its files for that.
    tables = {name: job.tables.read(spark, name) for name in ("optima", "scores", "inputs")}
    stored = Stored.of(job, tables, run, written=written)
    rows = summary_of(spark, job, stored, run)
    if Aggregates(rows, current=True).captured > stored.of_input(is_group=True):
        rows = stored.facts(job, of_input=True)
    found = Aggregates(rows, current=True)
    overview = found.overview(glances_of(tables, found.worst(MOST_LINES)))
    failed, unread = stored.of_input(is_group=False), tuple[Failure, ...]()
    if failed:
        read = tables["inputs"].where(sql.col(RUN) == run)
        keys = read.where("is_group").select(sql.col("key").alias("group_key"))
        known = tables["optima"].join(keys, "group_key", "left_semi").select("group").distinct()
        keys = read.where("NOT is_group").select("key")
        every = latest(job.tables.read(spark, "failures")).join(keys, "key", "left_semi")
        every = every.join(known.withColumn("known", sql.lit(True)), "group", "left")
        rows = every.orderBy(*map(sql.expr, FILE_ORDER)).limit(ROWS_AT_ONCE).collect()
        unread = tuple(
            Failure(row["source"], row["place"], row["reason"], row["group"])
            for row in rows[:MOST_LINES]
        )
        missed = {row["group"]: row["reason"] for row in rows if row["group"] and not row["known"]}
        overview = overview.with_missed(missed)
    asked = {*job.assignors} - {CURRENT}
    one_time = found.counts("groups").get(ONE_TIME, 0), sorted(found.counts(ONE_TIME))
    others = [row["assignor"] for row in found.rows("reason", "assignor")]
    return Ending(
        overview=overview,
        proved=found.counts("groups").get("proved", 0),
        unread=(failed, unread),
        not_scored=found.unscored(without=[one for one in others if one not in asked]),
        one_time=one_time,
    )


def glances_of(
    tables: Mapping[str, DataFrame], worst: Sequence[Mapping[str, Any]]
) -> list[Glance]:
    """Return the glances of the worst groups, one line of a table each.

    Parameters
    ----------
    tables : ``optima`` and ``scores``
    worst : rows with `group_key` and `optimum_key`
    """
    from pyspark.sql import functions as sql

    if not worst:
        return []

    keys, groups = ([row[name] for row in worst] for name in ("optimum_key", "group_key"))
    optima = tables["optima"].where(sql.col("key").isin(keys)).select("key", RUN, *OF_GLANCE)
    scores = tables["scores"].where(sql.col("group_key").isin(groups))
    scores = scores.where(sql.col("assignor") == CURRENT).select("group_key", "loads", RUN)
    found = optima.unionByName(scores, allowMissingColumns=True).collect()
    rows = sorted((row.asDict(recursive=True) for row in found), key=lambda row: row[RUN])
    best = {row["key"]: row for row in rows if row["key"] is not None}
    now = {row["group_key"]: row["loads"] for row in rows if row["key"] is None}
    return [
        glance(best[row["optimum_key"]], now.get(row["group_key"]))
        for row in worst
        if row["optimum_key"] in best
    ]


def verdict_in(stored: Mapping[str, Any]) -> Verdict:
    """Return the verdict in a stored row."""
    return Verdict(**{name: stored[name] for name in Verdict.__dataclass_fields__})


def glance(row: Mapping[str, Any], loads: Sequence[int] | None) -> Glance:
    """Return the glance of a row of ``optima`` with the columns `OF_GLANCE`.

    Parameters
    ----------
    loads : partitions that each member holds now; None if not known
    """
    stored = row["verdict"]
    verdict = verdict_in(stored)
    fall = tuple(stored[name] for name in ("lag_now", "lag_then", "lag_moves"))
    is_held = verdict.says not in EMPTY
    best = row["loads"] if is_held and verdict.question is None else None
    now = loads if is_held else None
    return Glance(
        name=row["group"],
        captured_at=row["captured_at"],
        members=row["n_members"],
        # The optimum's loads sum to the partitions that have a reader.
        partitions=sum(row["loads"]) if is_held and row["loads"] else row["n_partitions"],
        verdict=verdict,
        now=None if now is None else spread(now),
        best=None if best is None else spread(best),
        to_move=stored["to_move"],
        idle=0 if now is None else sum(load == 0 for load in now),
        loads=tuple(now or ()),
        fall=None if None in fall else PeakFall(*fall),
        without_owner=stored["without_owner"] or 0,
        may_rebalance=may_rebalance(row["assumed"] or ()),
    )


def too_far_in_run(
    spark: SparkSession,
    job: Job,
    run: str,
    assignors: Sequence[str],
    limits: Mapping[str, int],
    most: int,
    *,
    sure: bool = True,
) -> list[str]:
    """Return a line for each way in which groups of a run's input are beyond the limits.

    The rule for a group is :func:`compare.limits.beyond`. A line gives the number of groups and
    the names of the first ones.

    Parameters
    ----------
    run : the run's name
    most : lines to return; one more says how many are left
    sure : as in `beyond`
    """
    from pyspark.sql import functions as sql

    if not limits:
        return []
    keys = job.tables.read(spark, "inputs").where(sql.col(RUN) == run)
    keys = keys.where("is_group").select(sql.col("key").alias("group_key")).distinct()
    optima = job.tables.read(spark, "optima").where(sql.col("made_by") == job.optimum_made_by)
    optima = latest_captures(latest(optima.join(keys, "group_key", "left_semi")))
    optima = optima.select("group_key", sql.col("terms").alias("optimum"))
    made_by = [job.score_made_by(name) for name in assignors]
    rows = job.tables.read(spark, "scores").where(sql.col("made_by").isin(made_by))
    rows = latest(rows).join(optima, "group_key")
    found = rows.select("group", "optimum", *STORED).mapInArrow(
        partial(ways_beyond, limits, sure), "sort string, group string, amount string"
    )
    places = sql.array_sort(sql.collect_set(sql.struct("group", "amount")))
    sorts = found.groupBy("sort").agg(
        sql.count("*").alias("many"), sql.slice(places, 1, MOST_NAMED).alias("first")
    )
    with set_for_now(spark, FOR_ROWS):
        worst = sorts.orderBy(sql.desc("many"), "sort").collect()
    lines = []
    for row in worst:
        named = [f"{group}{f' by {by}' if by else ''}" for group, by in row["first"]]
        lines.append(f"{row['sort']}: {counted(row['many'], 'group')}: {few(named, row['many'])}")
    return first_lines(lines, most, " reasons")


def ways_beyond(
    limits: Mapping[str, int], sure: bool, batches: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Yield the ways in which rows of ``scores`` are beyond the limits."""
    schema = pa.schema([(name, pa.string()) for name in ("sort", "group", "amount")])
    for batch in batches:
        found = [
            {"sort": one.sort, "group": row["group"], "amount": one.amount}
            for row in batch.to_pylist()
            for one in beyond(
                [stored_score(row)],
                limits,
                [Term(**term) for term in row["optimum"] or ()],
                sure=sure,
            )
        ]
        yield pa.RecordBatch.from_pylist(found, schema)
