"""Gate: which rows of a run are farther from the optimum than somebody allows."""

from __future__ import annotations

from collections import Counter
from heapq import nsmallest
from typing import TYPE_CHECKING, Any

from compare.fleet.tables import RUN, latest
from compare.limits import beyond
from compare.scores import Score, ScoreTerm
from groups.wording import MOST_NAMED, counted, few

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pyspark.sql import DataFrame, SparkSession

    from compare.fleet.job import Job
    from compare.scores import Excess


def too_far_in_run(
    spark: SparkSession,
    job: Job,
    run: str,
    assignors: Sequence[str],
    limits: Mapping[str, int],
    most: int,
) -> list[str]:
    """Return a line for each way in which rows of a run are worse than the limits allow.

    The rule is that of one group, :func:`compare.limits.beyond`. A line has how many groups it is
    about, and the first of them by name.

    Parameters
    ----------
    run : name of the run, whose input it is about
    most : lines to return; one more says how many are left
    """
    counts: Counter[str] = Counter()
    first: dict[str, list[tuple[str, str]]] = {}
    for row in _suspects(spark, job, run, assignors, limits) if limits else ():
        for one in beyond([stored_score(row)], limits):
            counts[one.sort] += 1
            place = (row["group"], one.amount)
            first[one.sort] = nsmallest(MOST_NAMED, {*first.get(one.sort, ()), place})
    lines = []
    for sort, many in sorted(counts.items(), key=lambda one: (-one[1], one[0]))[:most]:
        named = [f"{group}{f' by {by}' if by else ''}" for group, by in first[sort]]
        lines.append(f"{sort}: {counted(many, 'group')}: {few(named, many)}")
    more = len(counts) - len(lines)
    return lines + [f"and {more:,} more reasons"] * (more > 0)


def _suspects(
    spark: SparkSession,
    job: Job,
    run: str,
    assignors: Sequence[str],
    limits: Mapping[str, int],
) -> Iterator[dict[str, Any]]:
    """Yield the rows of which a term may be above its limit, or that have none."""
    from pyspark.sql import functions as sql

    keys = job.tables.read(spark, "inputs").where(sql.col(RUN) == run)
    keys = keys.where("is_group").select(sql.col("key").alias("group_key")).distinct()
    made_by = [job.score_made_by(name) for name in assignors]
    rows = job.tables.read(spark, "scores").where(sql.col("made_by").isin(made_by))
    rows = rows.join(keys, "group_key", "left_semi")
    # Of a group that was captured several times the last capture counts.
    last = rows.groupBy("group").agg(sql.max("captured_at").alias("_last"))
    rows = latest(rows.join(last, "group").where("captured_at IS NULL OR captured_at = _last"))
    most = "coalesce(one.excess, if(one.excess_from IS NULL, 0, one.excess_to))"
    above = " OR ".join(
        f"(one.name = '{tier}' AND coalesce({most} > {limit}, true))"
        for tier, limit in limits.items()
    )
    unknown = "terms[0].excess IS NULL AND terms[0].excess_from IS NULL"
    suspect = f"NOT coalesce(valid, false) OR {unknown} OR exists(terms, one -> {above})"
    yield from (row.asDict(recursive=True) for row in _rows(rows.where(sql.expr(suspect))))


def _rows(rows: DataFrame) -> Iterator[Any]:
    columns = [*Score.__dataclass_fields__.keys() & {*rows.columns}]
    yield from rows.select("group", *columns).toLocalIterator()


def stored_score(row: Mapping[str, Any]) -> Score:
    """Return a row of the table ``scores`` as it was scored; its violations are not stored."""
    return Score(
        assignor=row["assignor"],
        status=row["status"],
        reason=row["reason"],
        valid=_truth(row["valid"]),
        terms=None if row["terms"] is None else tuple(map(_stored_term, row["terms"])),
        balanced=_truth(row["balanced"]),
        rounds=int(row["rounds"]),
        revoked=int(row["revoked"]),
        seconds=float(row["seconds"]),
        loads=None if row["loads"] is None else tuple(map(int, row["loads"])),
    )


def _truth(value: object) -> bool | None:
    return None if value is None else bool(value)


def _stored_term(term: Mapping[str, Any]) -> ScoreTerm:
    low, high = term["excess_from"], term["excess_to"]
    excess: Excess = None if term["excess"] is None else int(term["excess"])
    if low is not None:
        excess = (int(low), None if high is None else int(high))
    return ScoreTerm(term["name"], int(term["value"]), excess)
