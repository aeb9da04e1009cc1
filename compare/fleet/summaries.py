"""Summaries: what the tables of runs come to, in Spark SQL, for the end of a run and its page."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from compare.fleet.tables import RUN, TABLES, Tables, content_key, stored
from compare.history import LEAST_CAPTURES, Capture, Course, above_best, changes_of, ordered
from compare.overview import GUESSES, NAMED
from compare.scores import CURRENT
from compare.verdict import EMPTY, WORST_FIRST
from groups.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pyspark.sql import DataFrame, SparkSession

    from compare.fleet.job import Job
    from groups.tiers import Objective

# Of what is counted and how: those of another version are made again.
VERSION = 4
EVERY = "every"
MOST_FAMILIES = 64
OTHERS = "other families"
MOST_LINES = 20
MOST_WORST = 1_000
# Of texts that may be many, the most frequent of each family.
MOST_TEXTS = 100
# Up to how many days apart captures are told to the minute, hour, day, month.
DIGITS = ((0, 16), (14, 13), (400, 10), (10**9, 7))
# How rows of ``aggregates`` that are alike become one.
ADDED = {"count": "sum", "total": "sum", "most": "max", "group": "min"}
OF_OPTIMA = (
    "key", "group", "group_key", "captured_at", "lag", "subscriptions_known", "status", "assumed",
    "verdict",
)  # fmt: skip
OF_SCORES = (
    "group", "group_key", "n_partitions", "assignor", "status", "reason", "valid", "balanced",
    "terms", "seconds",
)  # fmt: skip
_RANKS = ", ".join(f"'{says}'" for says in WORST_FIRST)
# By verdict, how far above the optimum, how many partitions to move, name and time of capture,
# as `compare.judged.worst_first` has it.
_WORST_FIRST = (
    f"array_position(array({_RANKS}), label), -coalesce(x, 0), -coalesce(y, 0), `group`, "
    "coalesce(captured_at, ''), optimum_key"
)
# Where a group is from: a file of many, or else the folder.
_FIRST = "element_at(split(source, ', '), 1)"
_FAMILY = rf"""
    CASE WHEN {_FIRST} RLIKE '(?i)[.](jsonl|ndjson|parquet)$' THEN {_FIRST}
         WHEN {_FIRST} NOT LIKE '%/%' THEN '.'
         ELSE regexp_replace({_FIRST}, '/[^/]*$', '') END
"""


@dataclass(frozen=True, eq=False)
class Frames:
    """The optima and scores of an objective, one a group, or a group and an assignor.

    Both have the columns named above and the `family` of their groups.
    """

    optima: DataFrame
    scores: DataFrame

    @staticmethod
    def of(spark: SparkSession, job: Job, runs: Sequence[str]) -> Frames:
        """Return those of the tables that a job fills: its own rows where there are several.

        Parameters
        ----------
        runs : that have written to the tables
        """
        optima, scores = (job.tables.read(spark, name) for name in ("optima", "scores"))
        optima = _one_each(job, optima, ["group_key"], [None], runs)
        scores = _one_each(job, scores, ["group_key", "assignor"], job.assignors, runs)
        names = _families(optima)
        return Frames(
            _with_families(optima, names).select(*OF_OPTIMA, "family"),
            _with_families(scores, names).select(*OF_SCORES, "family"),
        )

    def kept(self) -> Frames:
        """Return the same, held in memory once they are made."""
        return Frames(self.optima.persist(), self.scores.persist())

    def among(self, keys: DataFrame) -> Frames:
        """Return those of some groups, by the column `key`."""
        wanted = keys.withColumnRenamed("key", "group_key")
        return Frames(
            self.optima.join(wanted, "group_key", "left_semi"),
            self.scores.join(wanted, "group_key", "left_semi"),
        )


def _one_each(
    job: Job,
    rows: DataFrame,
    by: list[str],
    assignors: Sequence[str | None],
    runs: Sequence[str],
) -> DataFrame:
    """Return one row of those that are alike: this job's, else that of the latest run.

    Runs with another time limit, or of another version, leave rows of their own; one run leaves
    one row of each.
    """
    from pyspark.sql import Window
    from pyspark.sql import functions as sql

    if len(runs) == 1:
        return rows.where(sql.col("objective") == job.tiers)
    own = [job.optimum_made_by if one is None else job.score_made_by(one) for one in assignors]
    order = Window.partitionBy(*by).orderBy(
        sql.col("made_by").isin(own).desc(), sql.col(RUN).desc(), "key"
    )
    found = rows.where(sql.col("objective") == job.tiers)
    placed = found.withColumn("_place", sql.row_number().over(order))
    return placed.where("_place = 1").drop("_place", RUN)


def _families(optima: DataFrame) -> list[str]:
    """Return the families with most groups."""
    from pyspark.sql import functions as sql

    order = (sql.col("count").desc(), sql.col("family").desc())
    counts = optima.groupBy(sql.expr(_FAMILY).alias("family")).count()
    return [row["family"] for row in counts.orderBy(*order).limit(MOST_FAMILIES).collect()]


def _with_families(rows: DataFrame, names: list[str]) -> DataFrame:
    """Return rows with the families of their groups: those of some names, one for all others."""
    from pyspark.sql import functions as sql

    family = sql.expr(_FAMILY)
    if len(names) == MOST_FAMILIES:
        family = sql.when(family.isin(names), family).otherwise(OTHERS)
    return rows.withColumn("family", family)


def summarised(frames: Frames, tiers: Objective) -> pa.Table:
    """Return what optima and scores come to, as rows of ``aggregates`` without state.

    Of a group that was captured several times the last capture counts, and how it went there.
    """
    from pyspark.sql import functions as sql

    optima, scores = frames.optima.withColumn("is_now", sql.lit(True)), frames.scores
    names = _names(optima).persist()
    many, captured, first, last = names.agg(
        sql.count("*"), sql.sum("captures"), sql.min("first"), sql.max("last")
    ).collect()[0]
    is_series = many < (captured or 0)
    if is_series:
        latest_of = names.select("group", sql.col("last").alias("_last"))
        is_now = "captured_at IS NULL OR captured_at = _last"
        optima = optima.join(latest_of, "group").withColumn("is_now", sql.expr(is_now))
        names = _names(optima)
        scores = scores.join(optima.where("is_now").select("group_key"), "group_key", "left_semi")
    facts = _facts_of_optima(optima, digits_between(first or "", last or ""))
    facts = facts.unionAll(_facts_of_names(names))
    facts = facts.unionAll(_facts_of_scores(scores, tiers))
    by = ["statistic", "family", "assignor", "tier", "label", "captured_at", "x", "y"]
    counted = facts.groupBy(*by).agg(
        sql.sum("many").alias("count"),
        sql.sum(sql.col("many") * sql.col("value")).alias("total"),
        sql.max("value").alias("most"),
        sql.min("group").alias("group"),
    )
    for name in ("group_key", "optimum_key"):
        counted = counted.withColumn(name, sql.lit(None).cast("string"))
    counted = counted.withColumn(
        "place",
        sql.expr(
            "row_number() OVER (PARTITION BY statistic, family ORDER BY `count` DESC, label)"
        ),
    ).where(f"statistic NOT IN ('assumed', 'reason') OR place <= {MOST_TEXTS}")
    schema = pa.schema([f for f in TABLES["aggregates"] if f.name not in ("state", "objective")])
    rows = counted.select(*schema.names).unionAll(_worst(optima).select(*schema.names))
    if is_series:
        rows = rows.unionAll(_changes(optima, schema))
    return rows.toArrow().cast(schema)


def _changes(optima: DataFrame, schema: pa.Schema) -> DataFrame:
    """Return how groups went that were captured several times, the greatest changes of a family.

    `x` and `y` are the first and the last value; `count` how many captures there are.
    """
    from pyspark.sql import functions as sql
    from pyspark.sql.pandas.types import from_arrow_schema

    capture = sql.struct(
        "captured_at", sql.col("verdict.says").alias("says"),
        sql.col("verdict.tier").alias("tier"), sql.col("verdict.at_least").alias("at_least"),
        "lag",
    )  # fmt: skip
    series = optima.where("captured_at IS NOT NULL").groupBy("group")
    series = series.agg(sql.collect_list(capture).alias("captures"), sql.min("family").alias("of"))
    series = series.where(sql.size("captures") >= LEAST_CAPTURES)
    made = series.mapInArrow(_changes_in, from_arrow_schema(_CHANGES))
    by = "OVER (PARTITION BY family, label"
    placed = made.selectExpr(
        "*",
        f"row_number() {by} ORDER BY y - x DESC, `group`) AS place",
        f"count(*) {by}) AS total",
    )
    nothing = {
        field.name: "CAST(null AS string)"
        for field in schema
        if field.name not in _CHANGES.names and pa.types.is_string(field.type)
    }
    columns = {**nothing, "statistic": "'change'", "total": "CAST(total AS double)"}
    columns["most"] = "CAST(null AS double)"
    return placed.where(f"place <= {MOST_TEXTS}").selectExpr(
        *(f"{columns.get(name, f'`{name}`')} AS `{name}`" for name in schema.names)
    )


_CHANGES = pa.schema(
    [
        ("family", pa.string()),
        ("label", pa.string()),
        ("group", pa.string()),
        ("x", pa.float64()),
        ("y", pa.float64()),
        ("count", pa.int64()),
    ]
)


def _changes_in(batches: Iterable[pa.RecordBatch]) -> Iterable[pa.RecordBatch]:
    """Yield the changes of groups, of batches of all their captures."""
    for batch in batches:
        rows = [
            (row["of"], change.what, change.group, change.first, change.last, change.captures)
            for row in batch.to_pylist()
            for change in changes_of(
                row["group"],
                (
                    Capture(
                        one["captured_at"],
                        one["says"],
                        above_best(one["says"], one["tier"], one["at_least"]),
                        one["lag"],
                    )
                    for one in row["captures"]
                ),
            )
        ]
        made = [dict(zip(_CHANGES.names, row, strict=True)) for row in rows]
        yield pa.RecordBatch.from_pylist(made, _CHANGES)


_FACT = "struct<statistic:string,assignor:string,tier:string,label:string,captured_at:string,\
x:double,y:double,value:double,counts:boolean>"


def _fact(statistic: str, counts: str = "true", **columns: str) -> str:
    """Return a fact about a row in SQL: `counts` says whether it holds."""
    names = ("assignor", "tier", "label", "captured_at", "x", "y", "value")
    given = ", ".join(columns.get(name, "null") for name in names)
    return f"CAST(struct('{statistic}', {given}, coalesce({counts}, false)) AS {_FACT})"


def _facts(rows: DataFrame, alike: Mapping[str, str], facts: Sequence[str]) -> DataFrame:
    """Return the facts that hold of some rows, with their families and how many rows they are of.

    Rows that are alike are counted before: facts are told of few.

    Parameters
    ----------
    alike : what facts are about, in SQL, by name
    """
    from pyspark.sql import functions as sql

    told = rows.selectExpr(
        "family", "`group`", *(f"{how} AS {name}" for name, how in alike.items())
    )
    counted = told.groupBy("family", *alike).agg(
        sql.count("*").alias("many"), sql.min("group").alias("group")
    )
    every = f"inline(filter(array({', '.join(facts)}), one -> one.counts))"
    return counted.selectExpr("family", "`group`", "many", every).drop("counts")


def _facts_of_optima(optima: DataFrame, digits: int) -> DataFrame:
    empty = ", ".join(f"'{one}'" for one in EMPTY)
    guesses: dict[str, str] = {f"guess_{n}": said for n, said in enumerate(GUESSES)}
    alike = {
        "says": "verdict.says",
        "moves": "if(verdict.says = 'improvable', verdict.to_move, null)",
        "at": f"substring(captured_at, 1, {digits})",
        "now": "is_now",
        "proved": "status = 'optimal'",
        "known": "subscriptions_known",
        "asked": "verdict.question IS NOT NULL",
        **{n: f"exists(assumed, one -> contains(one, '{said}'))" for n, said in guesses.items()},
    }
    judged = f"now AND says NOT IN ({empty})"
    what = {
        "captured": "true",
        "proved": "proved",
        "judged": judged,
        "unknown": f"{judged} AND NOT known",
        "questions": "now AND asked",
        **{said: f"now AND {name}" for name, said in guesses.items()},
    }
    facts = [
        _fact("verdict", "now", label="says", value="moves"),
        _fact("trend", "at IS NOT NULL", label="says", captured_at="at", value="moves"),
        *(_fact("groups", counts, label=f"'{label}'") for label, counts in what.items()),
    ]
    lines = optima.where("is_now AND size(assumed) > 0")
    lines = lines.selectExpr("family", "`group`", "explode(assumed) AS line")
    of_lines = _facts(lines, {"line": "line"}, [_fact("assumed", label="line")])
    return _facts(optima, alike, facts).unionAll(of_lines)


def _names(optima: DataFrame) -> DataFrame:
    """Return each name of a group: its captures, and the first family of each that is counted.

    It counts for that one, so that the names of several families add up.
    """
    from pyspark.sql import functions as sql

    labels: dict[str, str] = {EVERY: "true"}
    labels |= {says: f"is_now AND verdict.says = '{says}'" for says in NAMED}
    firsts = [f"min(if({is_so}, family, null))" for is_so in labels.values()]
    structs = [
        f"struct('{label}' AS label, {first} AS family)"
        for label, first in zip(labels, firsts, strict=True)
    ]
    return optima.groupBy("group").agg(
        sql.expr(f"array({', '.join(structs)})").alias("of"),
        sql.count("*").alias("captures"),
        sql.min("captured_at").alias("first"),
        sql.max("captured_at").alias("last"),
    )


def _facts_of_names(names: DataFrame) -> DataFrame:
    """Count each name of a group, and each of those with a verdict to name."""
    each = names.selectExpr("`group`", "inline(of)").where("family IS NOT NULL")
    return _facts(each, {"label": "label"}, [_fact("names", label="label")])


def _facts_of_scores(scores: DataFrame, tiers: Objective) -> DataFrame:
    from pyspark.sql import functions as sql

    scored = "status = 'scored'"
    is_timed = f"{scored} AND seconds > 0 AND n_partitions > 0 AND assignor <> '{CURRENT}'"
    rows = scores.withColumn("is_timed", sql.expr(f"coalesce({is_timed}, false)"))
    alike = {
        "assignor": "assignor",
        "scored": scored,
        "reason": f"if({scored}, null, concat(status, ': ', coalesce(reason, 'None')))",
        "valid": "valid",
        "balanced": "balanced",
        "optimal": "forall(terms, one -> coalesce(one.excess = 0, false))",
        "maybe": "forall(terms, one -> coalesce(one.excess, one.excess_from, 0) <= 0)",
    }
    what = {
        "groups": "scored",
        "unscored": "NOT scored",
        "valid": "scored AND valid",
        "balanced": "scored AND balanced",
        "optimal": "optimal",
        "maybe": "valid AND maybe",
    }
    facts = [_fact("reason", "NOT scored", assignor="assignor", label="reason")]
    facts += [
        _fact("assignor", is_so, assignor="assignor", label=f"'{label}'")
        for label, is_so in what.items()
    ]
    for number, tier in enumerate(tiers):
        term = f"get(terms, {number})"
        # An incumbent that a heuristic beats leaves the excess open from 0 on.
        low = f"if({term}.excess_from < 0, 0, {term}.excess_from)"
        for name, end in (("excess", low), ("excess_most", f"{term}.excess_to")):
            column = f"{name}_{number}"
            alike[column] = f"coalesce({term}.excess, {end})"
            told = {"assignor": "assignor", "tier": f"'{tier}'", "value": column}
            facts.append(_fact(name, f"{column} IS NOT NULL", x=integer_bin_of(column), **told))
    return _facts(rows, alike, facts).unionAll(_facts_of_times(rows.where("is_timed")))


def _facts_of_times(scores: DataFrame) -> DataFrame:
    """Count how many times the fastest an assignor took, and how long for groups of a size."""
    of_group = "OVER (PARTITION BY group_key"
    rows = scores.selectExpr(
        "*",
        f"min(seconds) {of_group}) AS fastest",
        f"row_number() {of_group} ORDER BY assignor) AS place",
    )
    size = "pow(10, greatest(length(cast(n_partitions AS string)) - 2, 0))"
    alike = {
        "assignor": "assignor",
        "first": "place = 1",
        "times": _bin("seconds / fastest"),
        "partitions": f"floor(n_partitions / {size}) * {size}",
        "took": _bin("seconds"),
    }
    told = {"assignor": "assignor"}
    return _facts(
        rows,
        alike,
        [
            _fact("timed groups", "first"),
            _fact("times the fastest", x="times", **told),
            _fact("seconds by partitions", x="partitions", y="took", **told),
        ],
    )


# Up to here each integer is a bin of its own.
EXACT = 64
PER_DOUBLING = 16


def _bin(value: str) -> str:
    """Return the upper end of the bin of a value above 0, in SQL: a few bins per doubling.

    What a distribution says there, "so many are at most this", is exact.
    """
    return f"pow(2, ceil({PER_DOUBLING} * log2({value})) / {PER_DOUBLING})"


def integer_bin_of(value: str) -> str:
    """Return the same of an integer from 0 on."""
    return f"if({value} <= {EXACT}, {value}, floor({_bin(value)}))"


def _worst(optima: DataFrame) -> DataFrame:
    """Return the groups that people want to see first, of each family."""
    told = optima.where("is_now AND verdict.says IS NOT NULL").selectExpr(
        "family", "`group`", "captured_at", "group_key", "key AS optimum_key",
        "verdict.says AS label",
        "CAST(coalesce(verdict.at_least, verdict.waiting) AS double) AS x",
        "CAST(if(verdict.says = 'improvable', verdict.to_move, null) AS double) AS y",
    )  # fmt: skip
    placed = told.selectExpr(
        "*", f"row_number() OVER (PARTITION BY family ORDER BY {_WORST_FIRST}) AS place"
    )
    nothing = ("assignor", "tier")
    return placed.where(f"place <= {MOST_WORST}").selectExpr(
        "*", "'worst' AS statistic", "1L AS `count`", "CAST(null AS double) AS total",
        "CAST(null AS double) AS most", *(f"CAST(null AS string) AS {one}" for one in nothing),
    )  # fmt: skip


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


def summary_of(
    spark: SparkSession, job: Job, frames: Frames, run: str, runs: Sequence[str]
) -> pa.Table:
    """Return what all groups in the tables come to, kept in the table ``aggregates``.

    Parameters
    ----------
    run : that keeps it
    runs : that have written to the tables
    """
    state = _state(runs)
    if (stored := job.tables.read_if_there(spark, "aggregates")) is not None:
        found = stored.where(f"state = '{state}' AND objective = '{job.tiers}'").toArrow()
        if len(found):
            one_run = pc.equal(found[RUN], pc.max(found[RUN]))
            return found.filter(one_run).select(TABLES["aggregates"].names)
    rows = summarised(frames, job.objective)
    for name, text in (("objective", job.tiers), ("state", state)):
        rows = rows.append_column(name, pa.repeat(pa.scalar(text), len(rows)))
    schema = TABLES["aggregates"]
    rows = rows.select(schema.names).cast(schema)
    job.tables.write(spark.createDataFrame(rows).coalesce(1), "aggregates", run)
    return rows


def runs_in(spark: SparkSession, tables: Tables) -> list[str]:
    """Return the runs that have written optima or scores."""
    optima, scores = (tables.read(spark, name).select(RUN) for name in ("optima", "scores"))
    found = optima.distinct().union(scores.distinct()).distinct().collect()
    return sorted(row[RUN] for row in found)


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

    def worst(self, most: int, of_named: int = 0) -> list[dict[str, Any]]:
        """Return the groups that people want to see first, over the families.

        Parameters
        ----------
        of_named : of each verdict that a sentence names, how many there are at least
        """
        rows = self.table.filter(pc.equal(self.table["statistic"], "worst")).to_pylist()
        rank = {says: number for number, says in enumerate(WORST_FIRST)}
        rows.sort(
            key=lambda row: (
                rank[row["label"]], -(row["x"] or 0), -(row["y"] or 0), row["group"],
                row["captured_at"] or "", row["optimum_key"],
            )
        )  # fmt: skip
        seen: Counter[str] = Counter()
        kept = []
        for number, row in enumerate(rows):
            seen[row["label"]] += 1
            if number < most or (row["label"] in NAMED and seen[row["label"]] <= of_named):
                kept.append(row)
        return kept
