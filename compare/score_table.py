"""Score table: the columns in which the terminal and pages compare assignors on one group."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from compare.limits import excesses
from compare.scores import FACTS, TYPES
from groups.tiers import TIERS, called
from groups.wording import duration, rounded

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from compare.lag.lowest import LowestPeak
    from compare.scores import Excess, Score
    from optimal.solution import Solution, Term

PEAK_LAG = "peak lag"


@dataclass(frozen=True)
class ScoreColumn:
    """A column of assignors on one group.

    Attributes
    ----------
    head : words over it
    value : what stands in it of a row: None, a truth, a text or a number
    told, in_short : how a number is written, and where there is little room
    excess : how much worse the value is; None: it is compared with nothing
    unit : what its numbers count; empty where the head says it
    is_number : whether its texts end at the same place
    gives_way : which of the columns is left out first where there is no room; 0: none
    """

    head: str
    value: Callable[[Score], object]
    told: Callable[[Any], str] = "{:,}".format
    in_short: Callable[[Any], str] | None = None
    excess: Callable[[Score], Excess] | None = None
    unit: str = ""
    is_number: bool = True
    gives_way: int = 0


def columns_of(
    solution: Solution | None, rows: Sequence[Score], lowest: LowestPeak | None
) -> list[ScoreColumn]:
    """Return the columns of assignors on one group, without their names and loads.

    Parameters
    ----------
    solution : what the rows were scored against
    rows : of which lag is shown if it is known of one
    lowest : the lowest peak lag, which theirs is compared with; None if it is not known
    """
    heads = {name: fact.head for name, fact in FACTS.items() if fact.head}
    columns = [
        ScoreColumn(
            head, partial(_fact, name), is_number=TYPES[name] in ("int", "float"), gives_way=number
        )
        for number, (name, head) in enumerate(heads.items(), start=2)
    ]
    tiers = () if solution is None else solution.objective
    for at, tier in enumerate(tiers):
        terms = () if solution is None else solution.terms
        value, excess = partial(_value, at), partial(_excess, at, terms)
        columns.append(ScoreColumn(called(tier), value, excess=excess, unit=TIERS[tier].unit))
    if lowest is None:
        return [*columns, SECONDS]
    if "peak_lag" not in tiers and any(row.peak_lag is not None for row in rows):
        excess = partial(_above, lowest)
        columns.append(
            ScoreColumn(
                PEAK_LAG, lambda row: row.peak_lag, in_short=rounded, excess=excess, unit="records"
            )
        )
    if any(row.catch_up_seconds for row in rows):
        columns.append(ScoreColumn("catch-up", lambda row: row.catch_up_seconds, duration))
    return [*columns, SECONDS]


SECONDS = ScoreColumn("seconds", lambda row: row.seconds, "{:.4f}".format, gives_way=1)


def _fact(name: str, row: Score) -> object:
    return row.status if name == "valid" and row.valid is None else getattr(row, name)


def _value(at: int, row: Score) -> int | None:
    return row.terms[at].value if row.terms else None


def _excess(at: int, optimum: Sequence[Term], row: Score) -> Excess:
    """Return how much worse a tier is; after the first that differs, where it is for sure."""
    if not row.terms:
        return None
    term, excess = [*excesses(row.terms, optimum if row.valid else ())][at]
    if term.excess is None and (isinstance(excess, tuple) or (excess or 0) < 0):
        return None
    return excess


def _above(lowest: LowestPeak, row: Score) -> Excess:
    return None if row.peak_lag is None else lowest.excess_of(row.peak_lag)
