"""Of scores: how each assignor did, as facts to count."""

from __future__ import annotations

from typing import TYPE_CHECKING

from compare.runs.aggregates.bins import bin_sql, integer_bin_sql
from compare.runs.aggregates.facts import fact, facts_of, text
from compare.score import CURRENT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from groups.tiers import Objective

# Whether an assignor took a time that tells something.
IS_TIMED = f"status = 'scored' AND seconds > 0 AND n_partitions > 0 AND assignor <> '{CURRENT}'"
_LEAST = "coalesce(term.excess, term.excess_from)"
COUNTS = {
    "groups": "status = 'scored'",
    "unscored": "status <> 'scored'",
    "valid": "status = 'scored' AND valid",
    "balanced": "status = 'scored' AND balanced",
    "optimal": "forall(terms, term -> term.excess <=> 0)",
    "maybe": f"valid AND forall(terms, term -> coalesce({_LEAST} <= 0, true))",
}


def facts_of_scores(rows: str, tiers: Objective) -> str:
    """Return a query for the facts of scores.

    Parameters
    ----------
    rows : name of scores of one objective, one a group and assignor, with `family`,
        `n_partitions`, `fastest`, the least seconds of the group that tell something, and
        `by_seconds`, the place of the row among them
    """
    told = "concat(status, ': ', coalesce(reason, 'None'))"
    facts = [
        *(_fact("assignor", is_so, label=text(name)) for name, is_so in COUNTS.items()),
        *(one for number, name in enumerate(tiers) for one in _excess(number, name)),
        _fact("reason", COUNTS["unscored"], label=told),
        *_times(),
    ]
    return facts_of(rows, facts)


def _fact(statistic: str, when: str, **of: str) -> str:
    return fact(statistic, when, assignor="assignor", **of)


def _excess(number: int, tier: str) -> Iterator[str]:
    """How far a row is above the optimum of a tier, and how far at most where that is open."""
    term = f"get(terms, {number})"
    # An incumbent that a heuristic beats leaves the excess open from 0 on.
    low = f"if({term}.excess_from < 0, 0, {term}.excess_from)"
    for name, end in (("excess", low), ("excess_most", f"{term}.excess_to")):
        value = f"coalesce({term}.excess, {end})"
        bin_ = integer_bin_sql(value)
        yield _fact(name, f"{value} IS NOT NULL", tier=text(tier), x=bin_, value=value)


def _times() -> Iterator[str]:
    """How many times the fastest an assignor took, and how long for groups of such a size."""
    scale = "pow(10.0D, greatest(length(cast(n_partitions AS string)) - 2, 0))"
    size = f"floor(n_partitions / {scale}) * {scale}"
    yield _fact("times the fastest", IS_TIMED, x=bin_sql("seconds / fastest"))
    yield _fact("seconds by partitions", IS_TIMED, x=size, y=bin_sql("seconds"))
    yield fact("timed groups", f"{IS_TIMED} AND by_seconds = 1")
