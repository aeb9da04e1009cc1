"""Of optima: the verdicts of groups over families and captures, as facts to count."""

from __future__ import annotations

from typing import TYPE_CHECKING

from compare.overview import GUESSES
from compare.runs.aggregates.facts import fact, facts_of
from compare.verdict import EMPTY, WORST_FIRST

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import Column, DataFrame

MOST_WORST = 1_000
OF_OPTIMA = (
    "family", "group", "group_key", "key", "captured_at", "assumed", "status", "is_known",
    "verdict",
)  # fmt: skip
CAPTURE = ("family", "group", "group_key", "optimum_key", "captured_at")
# Of these verdicts a sentence says how many groups they are about.
NAMED = ("not valid", "improvable")
EVERY = "every"


def facts_of_optima(optima: DataFrame, digits: int) -> DataFrame:
    """Return the facts of optima.

    Parameters
    ----------
    optima : of one objective, one a group, with `family` and `is_known`
    digits : how many characters of a time of capture are one point of a trend
    """
    from pyspark.sql import functions as sql

    says, verdict = sql.col("verdict.says"), sql.col("verdict")
    is_judged = ~says.isin(*EMPTY)
    moves = sql.when(says == "improvable", verdict["to_move"])
    at = sql.col("captured_at")
    what: dict[str, Column] = {
        "proved": sql.col("status") == "optimal",
        "judged": is_judged,
        "unknown": is_judged & ~sql.col("is_known"),
        "questions": verdict["question"].isNotNull(),
    }
    what |= {said: sql.exists("assumed", _holding(said)) for said in GUESSES}
    facts = [
        fact("verdict", label=says, value=moves),
        fact("trend", at.isNotNull(), label=says, captured_at=at.substr(1, digits), value=moves),
        *(fact("groups", is_so, label=name) for name, is_so in what.items()),
    ]
    assumed = sql.transform("assumed", lambda line: fact("assumed", label=line))
    return facts_of(optima, facts, sql.coalesce(assumed, sql.array()))


def facts_of_names(optima: DataFrame) -> DataFrame:
    """Return a fact for each name of a group, and for each of those with a verdict to name.

    It counts for the first family that has it, so that the names of several add up.
    """
    from pyspark.sql import functions as sql

    says = sql.col("verdict.says")
    firsts = {EVERY: sql.min("family")}
    firsts |= {name: sql.min(sql.when(says == name, sql.col("family"))) for name in NAMED}
    found = optima.groupBy("group").agg(
        sql.array(
            *(
                sql.struct(first.alias("family"), sql.lit(name).alias("label"))
                for name, first in firsts.items()
            )
        ).alias("firsts")
    )
    rows = found.select("group", sql.explode("firsts").alias("first")).where(
        "first.family is not null"
    )
    rows = rows.select("group", "first.*")
    return facts_of(rows, [fact("names", label=sql.col("label"))])


def worst_of(optima: DataFrame) -> DataFrame:
    """Return the groups that people want to see first, of each family; `count` is their place."""
    from pyspark.sql import Window
    from pyspark.sql import functions as sql

    says = sql.col("verdict.says")
    rank = sql.array_position(sql.array(*map(sql.lit, WORST_FIRST)), says)
    at_least = sql.col("verdict.at_least")
    rows = optima.where(says.isNotNull()).withColumns(
        {"rank": rank, "x": at_least.cast("double"), "label": says, "optimum_key": sql.col("key")}
    )
    order = ["rank", sql.desc_nulls_last("x"), "group", "captured_at", "key"]
    place = sql.row_number().over(Window.partitionBy("family").orderBy(*order))
    kept = rows.withColumn("place", place).where(sql.col("place") <= MOST_WORST)
    count = sql.col("place").cast("bigint").alias("count")
    return kept.select(*CAPTURE, "label", "x", count, sql.lit("worst").alias("statistic"))


def _holding(said: str) -> Callable[[Column], Column]:
    return lambda line: line.contains(said)
