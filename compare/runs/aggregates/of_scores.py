"""Of scores: how each assignor did, as facts to count."""

from __future__ import annotations

from typing import TYPE_CHECKING

from compare.runs.aggregates.bins import bin_column, integer_bin_column
from compare.runs.aggregates.facts import fact, facts_of
from compare.score import CURRENT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import Column, DataFrame

    from groups.tiers import Objective


def facts_of_scores(scores: DataFrame, tiers: Objective) -> DataFrame:
    """Return the facts of scores.

    Parameters
    ----------
    scores : of one objective, one a group and assignor, with `family`, `n_partitions`, and
        `fastest`: the least seconds of the group's rows that :func:`is_timed` holds for
    """
    from pyspark.sql import functions as sql

    told = sql.concat("status", sql.lit(": "), sql.coalesce("reason", sql.lit("None")))
    facts = [
        *_counts(),
        *(one for number, name in enumerate(tiers) for one in _excess(number, name)),
        _fact("reason", sql.col("status") != "scored", label=told),
        *_times(),
    ]
    return facts_of(scores, facts)


def is_timed() -> Column:
    """Say whether an assignor took a time that tells something."""
    from pyspark.sql import functions as sql

    return (
        (sql.col("status") == "scored")
        & (sql.col("seconds") > 0)
        & (sql.col("n_partitions") > 0)
        & (sql.col("assignor") != CURRENT)
    )


def _fact(statistic: str, when: Column, **of: Column | str | None) -> Column:
    from pyspark.sql import functions as sql

    return fact(statistic, when, assignor=sql.col("assignor"), **of)


def _counts() -> Iterator[Column]:
    """In which groups an assignor was scored, valid, balanced, optimal, or may be that."""
    from pyspark.sql import functions as sql

    scored = sql.col("status") == "scored"
    least = "coalesce(term.excess, term.excess_from)"
    what = {
        "groups": scored,
        "unscored": ~scored,
        "valid": scored & sql.col("valid"),
        "balanced": scored & sql.col("balanced"),
        "optimal": sql.expr("forall(terms, term -> term.excess <=> 0)"),
        "maybe": sql.col("valid")
        & sql.expr(f"forall(terms, term -> coalesce({least} <= 0, true))"),
    }
    for name, is_so in what.items():
        yield _fact("assignor", is_so, label=name)


def _excess(number: int, tier: str) -> Iterator[Column]:
    """How far a row is above the optimum of a tier, and how far at most where that is open."""
    from pyspark.sql import functions as sql

    exact, low, high = (
        sql.expr(f"terms[{number}].{name}") for name in ("excess", "excess_from", "excess_to")
    )
    # An incumbent that a heuristic beats leaves the excess open from 0 on.
    low = sql.when(low < 0, sql.lit(0)).otherwise(low)
    for name, end in (("excess", low), ("excess_most", high)):
        value = sql.coalesce(exact, end)
        is_known = value.isNotNull()
        yield _fact(name, is_known, tier=tier, x=integer_bin_column(value), value=value)


def _times() -> Iterator[Column]:
    """How many times the fastest an assignor took, and how long for groups of such a size."""
    from pyspark.sql import functions as sql

    seconds = sql.col("seconds")
    ratio = bin_column(seconds / sql.col("fastest"))
    size = _two_digits(sql.col("n_partitions"))
    yield _fact("times the fastest", is_timed(), x=ratio)
    yield _fact("seconds by partitions", is_timed(), x=size, y=bin_column(seconds))
    is_first = is_timed() & (sql.col("place_in_group") == 1)
    yield fact("timed groups", is_first)


def _two_digits(whole: Column) -> Column:
    """Return a whole number of 1 or more with its first two digits, the others 0."""
    from pyspark.sql import functions as sql

    scale = sql.pow(sql.lit(10.0), sql.greatest(sql.length(whole.cast("string")) - 2, sql.lit(0)))
    return sql.floor(whole / scale) * scale
