"""Aggregates: what many groups come to, those of a run's tables or those at hand."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from compare.fleet.facts import (
    BOTH,
    EVERY,
    FACTS,
    FAMILY,
    OF_OPTIMA,
    OF_SCORES,
    ROWS,
    ROWS_AT_ONCE,
    SCORED,
    Asked,
    added,
    added_by,
    cut,
    digits_between,
    facts_in,
    facts_of,
    worst_of,
)
from compare.fleet.tables import RUN, TABLES, content_key, latest, stored
from compare.history import Course, ordered
from compare.over_groups import unscored_rows
from compare.overview import GUESSES, Overview
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

# Of what is counted and how: those of another version are made again.
VERSION = 7
MOST_FAMILIES = 64
MOST_LINES = 20


def state_of(runs: Iterable[str]) -> str:
    """Return the key of what some runs have left, which is kept with what it comes to."""
    return content_key({"version": VERSION, "counted": COUNTED, "runs": sorted(runs)})


@dataclass(frozen=True, eq=False)
class Aggregates:
    """The aggregates of an objective.

    Attributes
    ----------
    table : rows of ``aggregates``
    current : whether they are of all that is in the tables now
    """

    table: pa.Table
    current: bool

    @staticmethod
    def stored(folder: str, objective: str) -> Aggregates:
        """Read the newest aggregates of an objective from a run's folder, without Spark.

        Raises
        ------
        BadInput
            Where there are none: no run for this objective came to its end.
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
            for run in stored(folder, name, [RUN])[RUN].unique().to_pylist()
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
        """Return the rows of a statistic, those that are alike in some columns added up."""
        rows = self.table.filter(pc.equal(self.table["statistic"], statistic))
        added = added_by(rows, by)
        found: list[dict[str, Any]] = added.sort_by([(one, "ascending") for one in by]).to_pylist()
        return found

    @property
    def captured(self) -> int:
        """How many captures of groups there are."""
        return self.counts("groups").get("captured", 0)

    def overview(self, glances: Sequence[Glance]) -> Overview:
        """Return the overview of the captures that have a verdict.

        Parameters
        ----------
        glances : the worst of them
        """
        says, names, of_groups = map(self.counts, ("verdict", "names", "groups"))
        unjudged = says.pop(None, 0)  # type: ignore[call-overload]
        return Overview(
            captured=self.captured - unjudged,
            groups=names.pop(EVERY, 0),
            says=says,
            lagging=names.pop(EVEN_LAGGING, 0),
            names=names,
            questions=of_groups.get("questions", 0),
            guessed={said: of_groups.get(said, 0) for said in GUESSES},
            worst=glances,
            changes=self.changes(),
            changed=self.counts("changes"),
        )

    def changes(self) -> list[Course]:
        """Return how groups went over their captures, the first ones of each kind."""
        rows = self.table.filter(pc.equal(self.table["statistic"], "change")).to_pylist()
        return ordered(
            Course(row["group"], row["label"], int(row["x"]), int(row["y"]), row["count"])
            for row in rows
        )

    def unscored(self, without: Sequence[str] = ()) -> tuple[NotScored, ...]:
        """Return why assignors have no score, but for some."""
        counts = {
            (row["assignor"], *row["label"].split(": ", 1)): row["count"]
            for row in self.rows("reason", "assignor", "label")
            if row["assignor"] not in without
        }
        return unscored_rows(counts)

    def counts(self, statistic: str) -> dict[str, int]:
        """Return how many groups there are for each label of a statistic."""
        return {row["label"]: row["count"] for row in self.rows(statistic, "label")}

    def worst(self, most: int) -> list[dict[str, Any]]:
        """Return the groups that people want to see first, over the families.

        Of each sort of groups that a sentence names the first ones are there, too.
        """
        rows = self.table.filter(pc.equal(self.table["statistic"], "worst"))
        found: list[dict[str, Any]] = worst_of(rows, "statistic", most).to_pylist()
        return found


def aggregates_of(
    groups: Sequence[Group], scores: Sequence[Sequence[Score]], tiers: Objective
) -> Aggregates:
    """Return what assignors made of groups at hand, (groups,), as a run adds up its tables."""
    rows: list[dict[str, object]] = []
    for number, (group, found) in enumerate(zip(groups, scores, strict=True)):
        key = f"{number}"
        same = {"group": group.name, "group_key": key, "family": "", "own": True}
        rows.append(same | {"key": key})
        rows += [same | {"n_partitions": group.n_partitions} | _scored(one) for one in found]
    facts = facts_of(Asked(tiers, None, 0), pa.Table.from_pylist(rows, ROWS))
    return Aggregates(facts, current=True)


def _scored(score: Score) -> dict[str, object]:
    """Return the columns of `ROWS` that say how an assignor fared."""
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
class Survey:
    """Which rows the tables hold, a few rows for each run.

    Attributes
    ----------
    rows : for each `table`, `run`, `objective`, `is_group` and `family` the `first` and `last`
        time of capture, and the `count`
    """

    rows: pa.Table

    @staticmethod
    def of(tables: Mapping[str, DataFrame], run: str) -> Survey:
        """Look at all optima and scores, and at the input of a run, in one pass."""
        from pyspark.sql import functions as sql

        told = {
            "optima": ("objective", f"{FAMILY} AS family", "captured_at"),
            "scores": (),
            "inputs": ("is_group",),
        }
        optima, scores, inputs = (
            tables[name].selectExpr(f"'{name}' AS table", RUN, *columns)
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
    job: Job, tables: Mapping[str, DataFrame], asked: Asked, keys: DataFrame | None = None
) -> pa.Table:
    """Return what the optima and scores of a job's objective come to, as rows of facts.

    Parameters
    ----------
    tables : ``optima`` and ``scores``
    keys : of groups, in the column `key`: only these; None: all
    """
    from pyspark.sql import functions as sql
    from pyspark.sql.pandas.types import from_arrow_schema

    made_by = ", ".join(f"'{one}'" for one in job.made_by)
    own = {"own": f"made_by IN ({made_by})"}
    columns = from_arrow_schema(ROWS)
    optima, scores = (
        tables[name]
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


def summary_of(
    spark: SparkSession, job: Job, tables: Mapping[str, DataFrame], survey: Survey, run: str
) -> pa.Table:
    """Return what all groups in the tables come to, kept in the table ``aggregates``.

    Parameters
    ----------
    tables : ``optima`` and ``scores``
    run : that keeps it
    """
    state = state_of(survey.runs)
    if (stored := job.tables.read_if_there(spark, "aggregates")) is not None:
        found = stored.where(f"state = '{state}' AND objective = '{job.tiers}'").toArrow()
        if len(found):
            one_run = pc.equal(found[RUN], pc.max(found[RUN]))
            return found.filter(one_run).select(TABLES["aggregates"].names)
    rows = summarised(job, tables, survey.asked(job))
    for name, text in (("objective", job.tiers), ("state", state)):
        rows = rows.append_column(name, pa.repeat(pa.scalar(text), len(rows)))
    schema = TABLES["aggregates"]
    rows = rows.select(schema.names).cast(schema)
    job.tables.write(spark.createDataFrame(rows).coalesce(1), "aggregates", run)
    return rows
