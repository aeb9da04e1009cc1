"""Advice: what to change in order of effect; of several groups a line each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.printing.table import Table
from assay.printing.terminal import tell
from assay.streams import show
from compare.advice.words import (
    conclusion,
    depends,
    gains_nothing,
    headline,
    in_short,
    what_decides,
    what_to_do,
    why,
)
from compare.page.group.moves import moves_to
from groups.wording import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from compare.advice.advice import Advice, Change

MOST_MOVES = 8


def print_advice(advice: Advice) -> None:
    """Print what to change about one group, the greatest gain first, and what gains nothing."""
    tell(headline(advice))
    for number, change in enumerate(advice.changes, start=1):
        _print_change(f"{number}. ", change, advice)
    for change in advice.same_peak:
        tell("For the same peak:")
        _print_change("- ", change, advice)
    if advice.more_even is not None:
        moves = counted(advice.more_even, "move")
        tell(f"Loads can be more even with {moves}, the greatest stays: assay score shows it.")
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
    order = sorted(advice, key=lambda one: (-one.share, one.group, one.captured_at or ""))
    better = sum(bool(one.changes) for one in order)
    tell(f"{better:,} of {counted(len(order), 'group')} can be improved for sure.")
    show("")
    # A group that is there more than once is told by when it was captured.
    times = int(len({one.group for one in order}) < len(order))
    heads = ["group", *["captured at"] * times, "what decides", "now", "then", "less"]
    right = [times + column for column in (2, 3, 4, 6)]
    table = Table(*heads, "change first", "moves", right=right, gives_way=[times + 1])
    for one in order:
        change = one.changes[0] if one.changes else None
        first = [one.group, *[one.captured_at] * times, one.lower]
        now = None if one.now is None else f"{one.now:,}"
        if change is None:
            table.add(*first, now, None, None, one.question, None)
            continue
        then = f"{change.after.value / change.after.per:,.4g}"
        if change.after.per == 1:
            then = f"{change.after.value:,}"
        less = f"{int(100 * change.share)}%" if change.before is not None else "not valid"
        table.add(*first, now, then, less, in_short(change, one), change.moves)
    table.show()
    tell(
        "less: by how much of it at least; one in full: --group NAME; "
        "by partitions, not lag: --lower peak_load"
    )


def _print_change(lead: str, change: Change, advice: Advice) -> None:
    tell(f"{lead}{what_to_do(change, advice)}")
    for line in (why(change, advice), *depends(change, advice)):
        tell(f"   {line}")
    if change.kind != "rebalance":
        return
    moves = moves_to(change.assignment)
    for move in moves[:MOST_MOVES]:
        tell(f"   {move.count:,} from {move.origin} to {move.target}: {move.partitions}")
    if len(moves) > MOST_MOVES:
        tell(f"   and {len(moves) - MOST_MOVES:,} more pairs: --format json has every move")


def _print_trials(advice: Advice) -> None:
    if not advice.assignors:
        return
    what = "busiest holds" if advice.lower == "peak_load" else "busiest has"
    table = Table("assignor", what, "moves", "join or leave", right=(1, 2, 3))
    for trial in advice.assignors:
        if trial.peak is None:
            table.add(trial.assignor, trial.reason or trial.status, None, None)
            continue
        least = " (least)" if trial.least else ""
        kept = f"least in {trial.kept} of {trial.tried}" if trial.tried else None
        table.add(trial.assignor, f"{trial.peak:,}{least}", trial.moves, kept)
    table.show()
    show("join or leave: after one member has joined, or one of some has left")
