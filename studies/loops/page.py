"""Page: what was recorded and computed, as the made part of ``docs/findings/why.md``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from studies.loops.beside import table_of
from studies.loops.words import case_of
from studies.page import table

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    Entry = Mapping[str, object]


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
