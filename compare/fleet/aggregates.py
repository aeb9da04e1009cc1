"""Aggregates: sums over many groups, from a run's tables or from groups in memory."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial, reduce
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from compare.fleet.facts import (
    BOTH,
    EVERY,
    FACTS,
    OF_OPTIMA,
    OF_SCORES,
    ROWS,
    ROWS_AT_ONCE,
    SCORED,
    Breakdown,
    added_by,
    added_up,
    digits_between,
    facts_in,
    facts_of,
    most_frequent_texts,
    worst_of,
)
from compare.fleet.results import MOST_LINES
from compare.fleet.tables import RUN, TABLES, content_key, stored
from compare.history import Trend, ordered
from compare.over_groups import unscored_rows
from compare.overview import GUESSES, NOT_JUDGED, URGENT, Overview
from compare.scores import COUNTED
from compare.verdict import EVEN_LAGGING
from groups.arrays import GREATEST
from groups.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pyspark.sql import DataFrame, SparkSession

    from compare.fleet.job import Job
    from compare.over_groups import NotScored
    from compare.overview import Glance
    from compare.scores import Score
    from groups.group import Group
    from groups.tiers import Objective

# Raised when what is counted changes: aggregates of another version are made again.
VERSION = 16
MOST_FAMILIES = 64


def state_of(runs: Iterable[str]) -> str:
    """Return the key of the runs that aggregates are made of; it is stored with them."""
    return content_key({"version": VERSION, "counted": COUNTED, "runs": sorted(runs)})


@dataclass(frozen=True, eq=False)
class Aggregates:
    """The aggregates of one objective.

    Attributes
    ----------
    table : rows of ``aggregates``
    current : whether they cover all runs that are in the tables now
    """

    table: pa.Table
    current: bool

    @staticmethod
    def stored(folder: str, objective: str) -> Aggregates:
        """Read the newest aggregates of an objective from a run's folder, without Spark.

        Raises
        ------
        BadInput
            If there are none, as no run for this objective has finished.
        """
        names = TABLES["aggregates"].names
        rows = stored(folder, "aggregates", [*names, RUN], by="objective", keys=[objective])
        if not len(rows):
            raise BadInput(
                f"{folder}: no run for {objective} in it came to its end; the same command goes on"
            )
        newest = rows.filter(pc.equal(rows[RUN], pc.max(rows[RUN]))).select(names)
        runs = {
            run
            for name in ("optima", "scores")
            for run in pc.unique(
                stored(folder, name, [RUN], by="objective", keys=[objective])[RUN]
            ).to_pylist()
        }
        return Aggregates(newest, newest["state"][0].as_py() == state_of(runs))

    @property
    def families(self) -> list[str]:
        """Names of the families, in order."""
        return sorted(filter(None, pc.unique(self.table["family"]).to_pylist()))

    def of(self, families: Sequence[str]) -> Aggregates:
        """Return the aggregates of some families alone."""
        chosen = pc.is_in(self.table["family"], pa.array(families, pa.string()))
        return Aggregates(self.table.filter(chosen), self.current)

    def rows(self, statistic: str, *by: str) -> list[dict[str, Any]]:
        """Return the rows of a statistic, added up where they are equal in the columns `by`."""
        rows = self.table.filter(pc.equal(self.table["statistic"], statistic))
        added = added_by(rows, by)
        found: list[dict[str, Any]] = added.sort_by([(one, "ascending") for one in by]).to_pylist()
        return found

    @property
    def captured(self) -> int:
        """Number of captures of groups."""
        return self.counts("groups").get("captured", 0)

    def overview(self, glances: Sequence[Glance]) -> Overview:
        """Return the overview of the captures.

        Parameters
        ----------
        glances : the worst of those that have a verdict
        """
        says, names, of_groups = map(self.counts, ("verdict", "names", "groups"))
        unjudged = says.pop(None, 0)  # type: ignore[call-overload]
        return Overview(
            captured=self.captured,
            groups=names.pop(EVERY, 0),
            says=says,
            lagging=names.get(EVEN_LAGGING, 0),
            needing=sum(names.get(one, says.get(one, 0)) for one in (*URGENT, EVEN_LAGGING)),
            guessed={guess: of_groups.get(guess, 0) for guess in GUESSES},
            worst=glances,
            unjudged=(unjudged, sorted(self.counts(NOT_JUDGED))[:MOST_LINES]),
            changes=self.changes(),
            changed=self.counts("changes"),
        )

    def changes(self) -> list[Trend]:
        """Return the changes of groups between captures, sorted."""
        rows = self.table.filter(pc.equal(self.table["statistic"], "change"))
        return ordered(
            Trend(
                one["group"],
                one["label"],
                int(one["x"]),
                int(one["y"]),
                one["count"],
                one["captured_at"],
            )
            for one in rows.to_pylist()
        )

    def unscored(self, without: Sequence[str] = ()) -> tuple[NotScored, ...]:
        """Return the reasons why assignors have no score, except the assignors in `without`."""
        counts = {
            (row["assignor"], *row["label"].split(": ", 1)): row["count"]
            for row in self.rows("reason", "assignor", "label")
            if row["assignor"] not in without
        }
        return unscored_rows(counts)

    def counts(self, statistic: str) -> dict[str, int]:
        """Return the number of groups for each label of a statistic."""
        return {row["label"]: row["count"] for row in self.rows(statistic, "label")}

    def worst(self, most: int) -> list[dict[str, Any]]:
        """Return the most urgent groups of all families, as :func:`worst_of` does."""
        rows = self.table.filter(pc.equal(self.table["statistic"], "worst"))
        found: list[dict[str, Any]] = worst_of(rows, "statistic", most).to_pylist()
        return found


def aggregates_of(
    groups: Sequence[Group], scores: Sequence[Sequence[Score]], tiers: Objective
) -> Aggregates:
    """Return the aggregates of groups in memory.

    Parameters
    ----------
    scores : (groups,) the scores of each group
    """
    rows: list[dict[str, object]] = []
    for number, (group, found) in enumerate(zip(groups, scores, strict=True)):
        key = f"{number}"
        same = {"group": group.name, "group_key": key, "family": "", "own": True}
        rows.append(same | {"key": key})
        rows += [same | {"n_partitions": group.n_partitions} | _scored(one) for one in found]
    facts = facts_of(Breakdown(tiers, None, 0), pa.Table.from_pylist(rows, ROWS))
    return Aggregates(facts, current=True)


def _scored(score: Score) -> dict[str, object]:
    """Return the columns of `ROWS` that an assignor's score fills."""
    found = [term.excess for term in score.terms or ()]
    ends = [one if isinstance(one, tuple) else (None, None) for one in found]
    return {
        **{name: getattr(score, name) for name in ("status", *SCORED)},
        "excess": [None if isinstance(one, tuple) else _in_64_bits(one) for one in found],
        "excess_from": [_in_64_bits(low) for low, _ in ends],
        "excess_to": [_in_64_bits(high) for _, high in ends],
    }


def _in_64_bits(value: int | None) -> int | None:
    return None if value is None else min(value, GREATEST)


@dataclass(frozen=True, eq=False)
class Stored:
    """What the tables hold for a job's objective, and what a run has read.

    Attributes
    ----------
    frame : optima and scores in the columns of `ROWS`, and the run's ``inputs`` with their key as
        `group_key`; `is_group` is null except in inputs
    rows : all rows of `frame` if a process has room for them, else None
    ends : for each `run`, `is_group`, `is_optimum` and `family` the `first` and `last` time of
        capture, and the `count`; several rows may be for the same
    """

    frame: DataFrame
    rows: pa.Table | None
    ends: pa.Table

    @staticmethod
    def of(job: Job, tables: Mapping[str, DataFrame], run: str, *, written: int = 0) -> Stored:
        """Read optima and scores, and the input of a run: by one query if they are few.

        Parameters
        ----------
        written : number of rows that the tables hold at least
        """
        from pyspark.sql import functions as sql

        frame = _frame(job, tables, run)
        is_more = written > ROWS_AT_ONCE
        rows = None if is_more else frame.limit(ROWS_AT_ONCE + 1).toArrow()
        if rows is None or len(rows) > ROWS_AT_ONCE:
            is_optimum = sql.col("assignor").isNull().alias("is_optimum")
            ends = frame.groupBy(RUN, "is_group", is_optimum, "family").agg(
                sql.min("captured_at").alias("first"),
                sql.max("captured_at").alias("last"),
                sql.count("*").alias("count"),
            )
            return Stored(frame, None, ends.toArrow())
        columns = {name: rows[name] for name in (RUN, "is_group", "family")}
        columns |= {name: rows["captured_at"] for name in ("first", "last")}
        columns["is_optimum"] = pc.is_null(rows["assignor"])
        columns["count"] = pa.repeat(pa.scalar(1), len(rows))
        return Stored(frame, rows, pa.table(columns))

    @property
    def runs(self) -> list[str]:
        """The runs that have written optima or scores for the objective."""
        answers = self.ends.filter(pc.is_null(self.ends["is_group"]))
        return sorted(pc.unique(answers[RUN]).to_pylist())

    def of_input(self, *, is_group: bool) -> int:
        """Return how many groups, or else failures, the run has read."""
        rows = self.ends.filter(pc.equal(self.ends["is_group"], is_group))
        return int(pc.sum(rows["count"]).as_py() or 0)

    def facts(self, job: Job, *, of_input: bool = False) -> pa.Table:
        """Return the facts of the optima and scores, added up.

        Parameters
        ----------
        of_input : only of the groups that the run has read
        """
        if self.rows is None:
            return most_frequent_texts(added_up(self._facts_on_spark(job, of_input=of_input)))
        answers = self.rows.filter(pc.is_null(self.rows["is_group"]))
        if of_input:
            read = self.rows.filter(self.rows["is_group"])["group_key"].combine_chunks()
            answers = answers.filter(pc.is_in(answers["group_key"], read))
        return most_frequent_texts(
            added_up(facts_of(self._breakdown(job), answers.select(ROWS.names).cast(ROWS)))
        )

    def _facts_on_spark(self, job: Job, *, of_input: bool) -> pa.Table:
        from pyspark.sql.pandas.types import from_arrow_schema

        answers = self.frame.where("is_group IS NULL").select(*ROWS.names)
        if of_input:
            read = self.frame.where("is_group").select("group_key")
            answers = answers.join(read, "group_key", "left_semi").select(*ROWS.names)
        parts = -(-(pc.sum(self.ends["count"]).as_py() or 0) // ROWS_AT_ONCE) or 1
        found = answers.repartition(parts, "group").mapInArrow(
            partial(facts_in, self._breakdown(job)), from_arrow_schema(FACTS)
        )
        return found.toArrow().cast(FACTS)

    def _breakdown(self, job: Job) -> Breakdown:
        """Return how to break down facts: the families with the most groups are kept apart."""
        is_optimum = pc.and_(pc.is_null(self.ends["is_group"]), self.ends["is_optimum"])
        rows = self.ends.filter(is_optimum)
        counts = rows.group_by("family", use_threads=False).aggregate([("count", "sum")])
        order = [("count_sum", "descending"), ("family", "descending")]
        families = counts.sort_by(order)["family"].to_pylist()
        apart = None if len(families) < MOST_FAMILIES else frozenset(families[:MOST_FAMILIES])
        first, last = pc.min(rows["first"]).as_py(), pc.max(rows["last"]).as_py()
        return Breakdown(job.objective, apart, digits_between(first or "", last or ""))


def _frame(job: Job, tables: Mapping[str, DataFrame], run: str) -> DataFrame:
    from pyspark.sql import functions as sql
    from pyspark.sql.pandas.types import from_arrow_schema

    made_by = ", ".join(f"'{one}'" for one in job.made_by)
    own = {"own": f"made_by IN ({made_by})"}
    columns = from_arrow_schema(ROWS.append(pa.field("is_group", pa.bool_())))
    for_objective = sql.col("objective") == job.tiers
    sources = (
        ("optima", BOTH | OF_OPTIMA | own, for_objective),
        ("scores", BOTH | OF_SCORES | own, for_objective),
        ("inputs", {"group_key": "key", "is_group": "is_group", RUN: RUN}, sql.col(RUN) == run),
    )
    frames = (
        tables[name]
        .where(chosen)
        .selectExpr(
            *(
                f"CAST({how.get(one.name, 'null')} AS {one.dataType.simpleString()}) AS {one.name}"
                for one in columns
            )
        )
        for name, how, chosen in sources
    )
    return reduce(lambda one, other: one.unionAll(other), frames)


def summary_of(spark: SparkSession, job: Job, found: Stored, run: str) -> pa.Table:
    """Return the aggregates of all groups in the tables; write them to ``aggregates`` if new.

    Parameters
    ----------
    run : the run that writes them
    """
    state = state_of(found.runs)
    # A run that has written rows makes a state of which no aggregates are stored yet.
    if run not in found.runs:
        kept = job.tables.read(spark, "aggregates")
        rows = kept.where(f"state = '{state}' AND objective = '{job.tiers}'").toArrow()
        if len(rows):
            one_run = pc.equal(rows[RUN], pc.max(rows[RUN]))
            return rows.filter(one_run).select(TABLES["aggregates"].names)
    rows = found.facts(job)
    for name, text in (("objective", job.tiers), ("state", state)):
        rows = rows.append_column(name, pa.repeat(pa.scalar(text), len(rows)))
    schema = TABLES["aggregates"]
    rows = rows.select(schema.names).cast(schema)
    job.tables.write(spark.createDataFrame(rows).coalesce(1), "aggregates", run)
    return rows
