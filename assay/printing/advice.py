"""Advice: what to change in order of effect; of several groups a line each."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from assay.printing.table import Table
from assay.streams import show
from assay.tables import show_guessed, show_moves
from assay.terminal import tell
from compare.advice.measure import not_advised, several, verdict_told, what_decides
from compare.advice.words import (
    conclusion,
    depends,
    gains_nothing,
    headline,
    hot_partition,
    in_short,
    more_even,
    told,
    what_to_do,
    why,
)
from compare.overview import guessed_in
from compare.sentences import verdict_shown
from groups.wording import counted, few

if TYPE_CHECKING:
    from collections.abc import Sequence

    from compare.advice.advice import Advice, Change

MOST_CONDITIONS = 5


def print_advice(advice: Advice) -> None:
    """Print what to change about one group, the greatest gain first, and what gains nothing."""
    tell(headline(advice))
    if said := verdict_told(advice):
        tell(said)
    for line in not_advised(advice):
        tell(line)
    for number, change in enumerate(advice.changes, start=1):
        _print_change(f"{number}. ", change, advice)
    if said := hot_partition(advice):
        tell(said)
    for change in advice.same_peak:
        tell("For the same peak:")
        _print_change("- ", change, advice)
    if said := more_even(advice):
        shows = "assay score shows it" if advice.lower == "peak_load" else "--lower peak_load"
        tell(f"{said[0].upper()}{said[1:]}: {shows}.")
    nothing = gains_nothing(advice)
    if nothing:
        tell("What does not help:")
        for line in nothing:
            tell(f"- {line}")
    if said := conclusion(advice):
        tell(said)
    _print_trials(advice)
    if advice.best is not None:
        tell(what_decides(advice))


def print_all(advice: Sequence[Advice]) -> None:
    """Print a line for each of several groups, the greatest gain first."""
    order = sorted(advice, key=lambda one: (-_less(one), one.group, one.captured_at or ""))
    tell(several(order))
    show("")
    # A group that is there more than once is told by when it was captured.
    times = int(len({one.group for one in order}) < len(order))
    heads = ["group", *["captured at"] * times, "what decides", "now", "then", "less"]
    heads += ["change first", "moves", "verdict"]
    right = [times + column for column in (2, 3, 4, 6)]
    table = Table(*heads, right=right, gives_way=[times + 1])
    for one in order:
        change = one.changes[0] if one.changes else None
        now = None if one.now is None else f"{one.now:,}"
        then = less = moves = None
        if change is not None:
            then, moves = told(replace(change.after, bound=change.after.value)), change.moves
            less = "not valid" if change.before is None else f"{int(100 * _less(one))}%"
        says = None if one.judged is None else verdict_shown(one.judged)
        captured = [one.captured_at] * times
        table.add(one.group, *captured, one.lower, now, then, less, in_short(one), moves, says)
    table.show()
    tell("then: what the busiest member has after the change; less: than now")
    _print_assumed(order)
    tell("one in full: --group NAME; by partitions, not lag: --lower peak_load")


def _less(advice: Advice) -> Fraction:
    """Return by what share the first change lowers the peak of now, 0..1; 1 of one that mends."""
    if not advice.changes:
        return Fraction(0)
    change, now = advice.changes[0], advice.now
    if change.before is None or not now:
        return change.share
    return 1 - Fraction(change.after.value, change.after.per) / now


def _print_assumed(advice: Sequence[Advice]) -> None:
    """Print on what the advice on some groups rests."""
    show_guessed(guessed_in([one.assumed for one in advice]), len(advice))
    named: dict[str, list[str]] = {}
    for one in advice:
        if one.condition is not None:
            named.setdefault(one.condition, []).append(one.group)
    for condition, names in list(named.items())[:MOST_CONDITIONS]:
        tell(f"{few(list(dict.fromkeys(names)))}: only if {condition}")
    if len(named) > MOST_CONDITIONS:
        more = counted(len(named) - MOST_CONDITIONS, "condition")
        tell(f"and {more} more: see each group in full")


def _print_change(lead: str, change: Change, advice: Advice) -> None:
    tell(f"{lead}{what_to_do(change, advice)}")
    for line in (why(change, advice), *depends(change, advice)):
        tell(f"   {line}")
    if change.kind not in ("rebalance", "isolate"):
        return
    show_moves(change.assignment, indent="   ")


def _print_trials(advice: Advice) -> None:
    if not advice.assignors:
        return
    what = "busiest holds" if advice.lower == "peak_load" else "busiest has"
    table = Table("assignor", what, "moves", "join or leave", right=(1, 2, 3))
    for trial in advice.assignors:
        if trial.peak is None:
            why = "not valid" if trial.status == "scored" else trial.status
            table.add(trial.assignor, why, None, None)
            continue
        least = " (least)" if trial.least else ""
        kept = f"least in {trial.kept} of {trial.tried}" if trial.tried else None
        table.add(trial.assignor, f"{trial.peak:,}{least}", trial.moves, kept)
    table.show()
    show("join or leave: after one member has joined, or one of some has left")
