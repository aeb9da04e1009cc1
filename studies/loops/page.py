"""Page: cycles of turns as sentences, and the made part of ``docs/findings/why.md``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from groups.wording import counted
from studies.loops.beside import table_of
from studies.page import table

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from studies.loops.turn import Turn

    Entry = Mapping[str, object]


def story(turns: Sequence[Turn], before: int, period: int) -> list[str]:
    """Tell a cycle: who should give what to whom, what is moved in its place, and what that does.

    What comes first, each turn and what follows stand by themselves.

    Parameters
    ----------
    turns : all that were recorded
    before : turns before the cycle
    period : turns of the cycle
    """
    cycle = turns[before : before + period]
    parts = [_turn(turn, _start(turns, turn.partition)) for turn in cycle]
    again = f"After these {counted(period, 'turn')} everything is as it was, and so on for good."
    return [f"{counted(before, 'turn')} come first.", *parts, again]


def case_of(entry: Mapping[str, object]) -> list[str]:
    """Return the sentences of an entry's case; none where it has no case."""
    case = entry.get("case")
    return case if isinstance(case, list) else []


def why_of(entry: Mapping[str, object]) -> tuple[str, ...]:
    """Return what an entry tells a maintainer: the rule and what repeats, or the moves missed."""
    rule, chain = entry["rule"], entry["chain"]
    told = [*([str(rule)] if rule else []), *case_of(entry)]
    return (*told, f"The best balance takes {chain}") if chain else tuple(told)


def _start(turns: Sequence[Turn], partition: str) -> str | None:
    """Return with whom a partition was before its first move, None if it has not moved."""
    return next((turn.leaves for turn in turns if turn.moved == partition), None)


def _turn(turn: Turn, start: str | None) -> str:
    asked = (
        f"{turn.holder} has {turn.loads[turn.holder]} partitions and should give {turn.partition} "
        f"to {turn.to}, which has {turn.loads[turn.to]}."
    )
    after = turn.after
    if turn.moved == turn.partition:
        return (
            f"{asked} It does: {turn.holder} has {after[turn.holder]}, {turn.to} {after[turn.to]}."
        )
    if turn.leaves == turn.holder:
        return f"{asked} {turn.moved}, which came from {turn.to}, goes in its place."
    return (
        f"{asked} {turn.partition} started with {start}, so the rule looks for a partition that "
        f"went from {turn.to} to {start}, finds {turn.moved} with {turn.leaves}, and gives that "
        f"back to {turn.to}: {turn.leaves} has {after[turn.leaves]} now, {turn.to} "
        f"{after[turn.to]}, and {turn.holder} still {after[turn.holder]}."
    )


def page_of(made: Mapping[str, Entry], beside: Iterable[Mapping[str, str]]) -> str:
    """Return the made part of the page: each case and each chain once, with whose it is.

    Parameters
    ----------
    beside : the records of `studies.loops.beside`
    """
    lines: list[str] = []
    cases: dict[str, list[str]] = {}
    for name, entry in made.items():
        if case_of(entry):
            cases.setdefault(" ".join(case_of(entry)), []).append(name)
    for case, names in cases.items():
        entry = made[names[0]]
        who = ", ".join(f"`{name}`" for name in names)
        lines.append(f"- {who}: {case} {_without(entry)}{entry['change']}")
    chains: dict[str, list[str]] = {}
    for name, entry in made.items():
        if entry["chain"]:
            chains.setdefault(str(entry["chain"]), []).append(f"`{name}`")
    rows = [(", ".join(names), chain) for chain, names in chains.items()]
    lines += ["", table(("finding", "moves that would make the balance the best"), rows)]
    lines += ["", "`sticky-that-ends` beside `kafka-java/sticky@4.4.0`:", "", table_of(beside)]
    return "\n".join(lines)


def _without(entry: Entry) -> str:
    if "rounds_without_racks" not in entry:
        return ""
    rounds_taken = entry["rounds_without_racks"]
    if rounds_taken is None:
        return "Without racks it does not settle either. "
    return f"Without racks the same group settles after {rounds_taken} rounds. "
