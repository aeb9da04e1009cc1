"""Facts: what a row of a table counts for; aggregates count how often each is there."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import Column, DataFrame

# What a fact is of, with the type of each; `value` is added up, and its greatest is kept.
OF = {
    "statistic": "string",
    "assignor": "string",
    "tier": "string",
    "label": "string",
    "captured_at": "string",
    "x": "double",
    "y": "double",
}
VALUE = {"value": "double"}


def fact(statistic: str, when: Column | None = None, **of: Column | str | None) -> Column:
    """Return a fact about a row; null where it does not hold.

    Parameters
    ----------
    of : of `OF` and `VALUE`, those that are not null; a string is a literal
    """
    from pyspark.sql import functions as sql

    found = {"statistic": statistic, **of}
    columns = []
    for name, kind in {**OF, **VALUE}.items():
        given = found.get(name)
        column = sql.lit(given) if given is None or isinstance(given, str) else given
        columns.append(column.cast(kind).alias(name))
    made = sql.struct(*columns)
    return made if when is None else sql.when(when, made)


def facts_of(rows: DataFrame, facts: Sequence[Column], more: Column | None = None) -> DataFrame:
    """Return a row for each fact that holds, with `family` and `group` of the row it is about.

    Parameters
    ----------
    more : a list of further facts
    """
    from pyspark.sql import functions as sql

    listed = sql.array(*facts)
    listed = listed if more is None else sql.concat(listed, more)
    rows = rows.select("family", "group", sql.explode(listed).alias("fact"))
    return rows.where("fact is not null").select("family", "group", "fact.*")


def counted(facts: DataFrame) -> DataFrame:
    """Count the facts: `count`, `total` and `most` of the values, and one group that has it."""
    from pyspark.sql import functions as sql

    return facts.groupBy("family", *OF).agg(
        sql.count("*").alias("count"),
        sql.sum("value").alias("total"),
        sql.max("value").alias("most"),
        sql.min("group").alias("group"),
    )
