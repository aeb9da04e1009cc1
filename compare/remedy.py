"""Remedy: what makes the moves of a plan: an assignor of Kafka's, one of ours, or nothing."""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING

from compare.deployed import (
    BY_REBALANCE,
    IN_CONSUMERS,
    OURS,
    assigns_now,
    effort,
    is_ours,
    is_rule,
    spoken,
    where_ours_runs,
)
from compare.lag.behind import peak_lag
from compare.scores import CURRENT, OPTIMUM
from groups.tiers import LAG_PEAKS, MOVES
from groups.wording import counted
from heuristics.catalogue import shipped_here

if TYPE_CHECKING:
    from collections.abc import Sequence

    from compare.judged import Judged
    from compare.scores import Score

NO_COMMAND = "Kafka has no command for moves: an assignor makes them."
BY_TASKS = "Kafka has no command for moves: the assignor of tasks makes them at a rebalance."
BLIND = (
    "No assignor of Kafka's looks at lag: where one has less here, that is chance, and the next "
    "rebalance may undo it."
)
NOT_HERE = "Kafka's sticky assignors are not here, and were not tried: assay fetch kafka-java."
BY_LAG = f"An assignor that looks at lag runs in Python consumers: {IN_CONSUMERS}#with-lag."


def remedy(judged: Judged, rows: Sequence[Score], advise: str) -> str:
    """Return what makes the moves that a verdict names; empty where it names none.

    Parameters
    ----------
    rows : what was scored on the group, of assignors that were tried
    advise : how the reader asks for advice on `peak_load`
    """
    improvable = judged.verdict.says == "improvable"
    if not improvable and judged.fall is None:
        return ""
    if judged.group.of_streams:
        return BY_TASKS
    tried = [row for row in rows if row.assignor not in (CURRENT, OPTIMUM) and row.terms]
    on_lag = judged.best is not None and {*LAG_PEAKS} & {*judged.best.objective}
    if not improvable or (not tried and on_lag):
        return f"{NO_COMMAND} {BLIND} {BY_LAG}"
    own = BY_LAG if on_lag else ours(judged)
    if own and not on_lag and is_ours(judged.group):
        return f"{NO_COMMAND} {own}"
    if not tried:
        return f"{NO_COMMAND} {advise} says which one."
    known = f"{NO_COMMAND} " if shipped_here() else f"{NO_COMMAND} {NOT_HERE} "
    as_good = [row for row in tried if not is_rule(row.assignor) and _gets_there(row)]
    if not as_good:
        none = f"None of the {len(tried)} tried gets"
        none = none if len(tried) > 1 else "The one tried does not get"
        return f"{known}{none} as far. {own}".rstrip()
    values = {row.assignor: [term.value for term in row.terms or ()] for row in as_good}
    best = min(as_good, key=lambda row: (values[row.assignor], effort(row.assignor, judged.group)))
    moves = next((term for term in best.terms or () if term.name == MOVES), None)
    by = "" if moves is None else f" by moving {counted(moves.value, 'partition')}"
    then = None if judged.plan is None else peak_lag(judged.plan)
    if best.peak_lag is not None and then is not None and best.peak_lag > then:
        by += f", but leaves {best.peak_lag:,} records of lag with one member instead of {then:,}"
    found = f"{known}Of those tried, {spoken(best.assignor)} gets there{by}"
    if assigns_now(best.assignor, judged.group):
        return f"{found}, and assigns already: {BY_REBALANCE}."
    if best.assignor.startswith(f"{OURS}/"):
        return f"{found}. {where_ours_runs(judged.group)}"
    more = "" if moves is None or not moves.excess else own
    return f"{found}; {advise} says what it takes to change to it. {more}".rstrip()


def ours(judged: Judged) -> str:
    """Return where an assignor of ours runs that comes to the optimum; empty if none does."""
    best = judged.best
    is_its_own = best is not None and [*best.objective] == ["balance", MOVES]
    is_its_own = is_its_own and not judged.group.of_streams
    return where_ours_runs(judged.group) if is_its_own else ""


def _gets_there(row: Score) -> bool:
    """Return whether a row is as good as the optimum in all tiers before the moves."""
    before = takewhile(lambda term: term.name != MOVES, row.terms or ())
    return bool(row.valid) and all(term.excess == 0 for term in before)
