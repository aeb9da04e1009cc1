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
    """A column of the table of assignors on one group.

    Attributes
    ----------
    head : its heading
    value : a row's value: None, a bool, a text or a number
    told, in_short : format a number, also for little room
    excess : a row's excess; None if the value is compared with nothing
    unit : what its numbers count; empty if the heading says it
    is_number : whether to align it to the right
    gives_way : the order in which columns are dropped if there is no room, from 1; 0: never
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
    """Return the columns of the table of assignors on one group, except names and loads.

    Parameters
    ----------
    solution : the solution that the rows were scored against
    rows : lag is shown if one of them knows it
    lowest : the lowest peak lag, to compare theirs with; None if not known
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


def _seconds(row: Score) -> float | None:
    """Return the time of a call that ended in a plan or at its limit; None without such a call."""
    return row.seconds or None if row.status in ("scored", "timed-out") else None


SECONDS = ScoreColumn("seconds", _seconds, "{:.4f}".format, gives_way=1)


def _fact(name: str, row: Score) -> object:
    """Return a fact of a row; instead of "valid", the status of one that has no score."""
    fact = getattr(row, name)
    return row.status if name == "valid" and fact is None and not row.is_open else fact


def _value(at: int, row: Score) -> int | None:
    return row.terms[at].value if row.terms else None


def _excess(at: int, optimum: Sequence[Term], row: Score) -> Excess:
    """Return the excess of a tier; after the first that differs, only if exact and not below 0."""
    if not row.terms:
        return None
    term, excess = [*excesses(row.terms, optimum if row.valid else ())][at]
    if term.excess is None and (isinstance(excess, tuple) or (excess or 0) < 0):
        return None
    return excess


def _above(lowest: LowestPeak, row: Score) -> Excess:
    return None if row.peak_lag is None else lowest.excess_of(row.peak_lag)
