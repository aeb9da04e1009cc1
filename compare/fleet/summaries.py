"""Summaries: what the tables of runs come to, for the end of a run and its page."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from compare.fleet.facts import (
    BOTH,
    FACTS,
    OF_OPTIMA,
    OF_SCORES,
    ROWS,
    Asked,
    Sums,
    added_up,
    digits_between,
    facts_in,
    family_of,
    worst_of,
)
from compare.fleet.tables import RUN, TABLES, content_key, stored
from compare.history import Course, ordered
from groups.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from pyspark.sql import DataFrame, SparkSession

    from compare.fleet.job import Job

# Of what is counted and how: those of another version are made again.
VERSION = 6
MOST_FAMILIES = 64
MOST_LINES = 20
# How rows of ``aggregates`` that are alike become one.
ADDED = {"count": "sum", "total": "sum", "most": "max", "group": "min"}
_ROWS = pa.schema(
    [
        ("table", pa.string()),
        (RUN, pa.string()),
        ("objective", pa.string()),
        ("is_group", pa.bool_()),
        ("source", pa.string()),
        ("captured_at", pa.string()),
    ]
)
# Of rows that are alike in the first five: when the first and the last were captured.
_SURVEYED = pa.schema(
    [
        *(_ROWS.field(at) for at in range(4)),
        ("family", pa.string()),
        ("first", pa.string()),
        ("last", pa.string()),
        ("count", pa.int64()),
    ]
)


@dataclass(frozen=True, eq=False)
class Survey:
    """Which rows the tables hold, a few rows for each run.

    Attributes
    ----------
    rows : of `_SURVEYED`
    """

    rows: pa.Table

    @staticmethod
    def of(spark: SparkSession, job: Job, run: str) -> Survey:
        """Look at all optima and scores, and at the input of a run, in one pass."""
        from pyspark.sql.pandas.types import from_arrow_schema

        told = {
            "optima": ("objective", "source", "captured_at"),
            "scores": (),
            "inputs": ("is_group",),
        }
        optima, scores, inputs = (
            _columns(
                job.tables.read(spark, name),
                _ROWS,
                {"table": f"'{name}'", **{one: one for one in (RUN, *columns)}},
            )
            for name, columns in told.items()
        )
        every = optima.unionAll(scores).unionAll(inputs.where(f"{RUN} = '{run}'"))
        found = every.mapInArrow(_surveyed, from_arrow_schema(_SURVEYED)).toArrow()
        return Survey(found.cast(_SURVEYED))

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
        return Asked(job.objective, told, digits_between(first or "", last or ""))


def _columns(rows: DataFrame, schema: pa.Schema, how: Mapping[str, str]) -> DataFrame:
    """Return columns of a schema, of each how it is made in SQL; others are null."""
    from pyspark.sql.pandas.types import from_arrow_schema

    return rows.selectExpr(
        *(
            f"CAST({how.get(field.name, 'null')} AS {field.dataType.simpleString()}) {field.name}"
            for field in from_arrow_schema(schema)
        )
    )


def _surveyed(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield what some rows are, a row for all that are alike."""
    for batch in batches:
        sources = batch.column("source").dictionary_encode()
        names = [family_of(one) for one in sources.dictionary.to_pylist()]
        columns = {name: batch.column(name) for name in _SURVEYED.names[:4]}
        told = pa.table(
            {
                **columns,
                "family": pa.array(names, pa.string()).take(sources.indices),
                "at": batch.column("captured_at"),
            }
        )
        found = told.group_by([*columns, "family"]).aggregate(
            [("at", "min"), ("at", "max"), ([], "count_all")]
        )
        yield from found.rename_columns(_SURVEYED.names).combine_chunks().to_batches()


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

    own = {"optima": OF_OPTIMA, "scores": OF_SCORES}
    made_by = ", ".join(f"'{one}'" for one in job.made_by)
    optima, scores = (
        _columns(
            job.tables.read(spark, name).where(sql.col("objective") == job.tiers),
            ROWS,
            {one: one for one in BOTH} | own[name] | {"own": f"made_by IN ({made_by})"},
        )
        for name in own
    )
    every = optima.unionAll(scores)
    if keys is not None:
        wanted = keys.select(sql.col("key").alias("group_key"))
        every = every.join(wanted, "group_key", "left_semi").select(*ROWS.names)
    told = from_arrow_schema(FACTS)
    together = every.repartition("group").sortWithinPartitions("group")
    facts = together.mapInArrow(partial(facts_in, asked), told)
    alike = facts.repartition("statistic", "family", "label").mapInArrow(added_up, told)
    sums = Sums()
    for batch in alike.toArrow().cast(FACTS).to_batches():
        sums.add(batch)
    return sums.done()


def summary_of(spark: SparkSession, job: Job, survey: Survey, run: str) -> pa.Table:
    """Return what all groups in the tables come to, kept in the table ``aggregates``.

    Parameters
    ----------
    run : that keeps it
    """
    state = _state(survey.runs)
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


def _state(runs: Iterable[str]) -> str:
    return content_key({"version": VERSION, "runs": sorted(runs)})


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
        return Aggregates(newest, newest["state"][0].as_py() == _state(runs))

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
        added = rows.group_by(list(by)).aggregate([*ADDED.items()])
        names = {f"{name}_{how}": name for name, how in ADDED.items()}
        added = added.rename_columns([names.get(name, name) for name in added.column_names])
        found: list[dict[str, Any]] = added.sort_by([(one, "ascending") for one in by]).to_pylist()
        return found

    @property
    def captured(self) -> int:
        """How many captures of groups there are."""
        return self.counts("groups").get("captured", 0)

    def changes(self) -> dict[str, Any]:
        """Return how groups went over their captures, as an overview has it."""
        rows = self.table.filter(pc.equal(self.table["statistic"], "change")).to_pylist()
        changes = [
            Course(row["group"], row["label"], int(row["x"]), int(row["y"]), row["count"])
            for row in rows
        ]
        many = {(row["family"], row["label"]): int(row["total"]) for row in rows}
        counts: Counter[str] = Counter()
        for (_, what), count in many.items():
            counts[what] += count
        return {"changes": ordered(changes), "changed": dict(counts)}

    def counts(self, statistic: str) -> dict[str, int]:
        """Return how many groups there are for each label of a statistic."""
        return {row["label"]: row["count"] for row in self.rows(statistic, "label")}

    def worst(self, most: int) -> list[dict[str, Any]]:
        """Return the groups that people want to see first, over the families.

        Of each sort of groups that a sentence names the first ones are there, too.
        """
        rows = self.table.filter(pc.equal(self.table["statistic"], "worst")).to_pylist()
        return worst_of(rows, most)
