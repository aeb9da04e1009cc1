"""Verdicts for people: a line a group, or one group with its members and assignors."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import numpy as np

from assay.printing.one_group import print_rows
from assay.printing.table import Table, width
from assay.streams import show
from compare.score import scores_document
from compare.sentences import counted, moves_needed, sentence, spread, summary
from compare.verdict import WORST_FIRST
from groups.arrays import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from compare.score import Score
    from compare.verdict import Judged
    from groups.tiers import Objective
    from optimal.solution import Solution

SHORTEST_NAME = 8
SPACE = 2
MOST_QUESTIONS = 5
MOST_MEMBERS = 12
WIDEST_BAR = 20


def document(
    judged: Judged,
    reference: Solution | None,
    rows: Sequence[Score],
    tiers: Objective,
    assumed: Sequence[str],
) -> dict[str, object]:
    """Return the ``assay-scores/1`` document of a group, with its verdict."""
    if reference is None:
        found: dict[str, object] = {
            "format": "assay-scores/1",
            "group": judged.group.name,
            "objective": list(tiers),
            "optimum": {"status": "unknown", "terms": []},
            "scores": [],
        }
    else:
        found = scores_document(judged.group, reference, rows)
    return {**found, "verdict": judged.verdict.to_dict(), "assumed": list(assumed)}


def print_groups(judged: Sequence[Judged], tiers: Objective, files: Sequence[str]) -> None:
    """Print a sentence about all groups, then a line for each, worst first."""
    worst = sorted(judged, key=lambda one: (WORST_FIRST.index(one.verdict.says), -_by(one)))
    show(summary(worst))
    show("")
    lag = any(_peak_lag(one) is not None for one in judged)
    columns = ("group", "members", "partitions", "loads", "best", "verdict", "moves", "peak lag")
    rows = [_line(one)[: 8 if lag else 7] for one in worst]
    table = Table(*columns[: 8 if lag else 7], right=(1, 2, 3, 4, 6, 7))
    others = [max(map(len, column)) for column in zip(columns, *rows, strict=False)][1:]
    room = max(width() - sum(others) - SPACE * len(others), SHORTEST_NAME)
    for name, *cells in rows:
        table.add(name if len(name) <= room else f"{name[: room - 1]}…", *cells)
    table.show()
    _print_notes(worst, tiers, files)


def _line(judged: Judged) -> tuple[str, ...]:
    verdict, group = judged.verdict, judged.group
    best = judged.target
    moves, peak = _moves(judged), _peak_lag(judged)
    return (
        group.name,
        str(len(group.members)),
        str(group.n_partitions),
        spread(judged.now.loads) if judged.best is not None else "-",
        "-" if best is None or verdict.question else spread(best.loads),
        f"{verdict.says}{' *' if verdict.condition else ''}",
        "-" if moves is None else str(moves),
        "-" if peak is None else _short(peak),
    )


def _print_notes(worst: Sequence[Judged], tiers: Objective, files: Sequence[str]) -> None:
    asked = [one for one in worst if one.verdict.question]
    for one in asked[:MOST_QUESTIONS]:
        show(f"{one.group.name}: {one.verdict.question}")
    if len(asked) > MOST_QUESTIONS:
        show(f"and {counted(len(asked) - MOST_QUESTIONS, 'question')} more: see each in full")
    conditions = {one.verdict.condition for one in worst if one.verdict.condition}
    for condition in sorted(filter(None, conditions)):
        show(f"* if {condition}")
    names = " ".join(shlex.quote(file) for file in files)
    what = " > ".join("moves" if tier == "stickiness" else tier for tier in tiers)
    show(f"{what}; one in full: assay score --group NAME {names}")


def print_group(judged: Judged, reference: Solution | None, rows: Sequence[Score]) -> None:
    """Print what is known of one group, its members' loads, and a row for each assignor."""
    show(sentence(judged))
    if rows and reference is not None:
        _print_loads(judged)
        print_rows(reference, rows)


def _print_loads(judged: Judged) -> None:
    """Print the members whose load changes, or all of a small group, each with a bar."""
    best = judged.target
    if best is None or judged.verdict.says != "improvable":
        return
    now, then, members = judged.now.loads, best.loads, judged.group.members
    changed = np.flatnonzero(now != then)
    changed = changed[np.argsort(-np.abs(now[changed] - then[changed]), kind="stable")]
    gives: dict[str, list[str]] = {}
    for (origin, target), count in best.moves_by_pair().items():
        gives.setdefault(origin, []).append(f"{count} to {target}")
    widest = max(int(now.max(initial=1)), 1)
    table = Table("member", "", "now", "best", "gives", right=(2, 3))
    for member in changed[:MOST_MEMBERS].tolist():
        bar = "#" * max(round(WIDEST_BAR * int(now[member]) / widest), int(now[member] > 0))
        name = members[member]
        table.add(name, bar, now[member], then[member], ", ".join(gives.get(name, [])))
    table.show()
    if len(changed) > MOST_MEMBERS:
        show(f"and {counted(len(changed) - MOST_MEMBERS, 'member')} more")


def _by(judged: Judged) -> int:
    return judged.verdict.at_least or 0


def _moves(judged: Judged) -> int | None:
    if judged.verdict.says == "as good as can be":
        return 0
    return moves_needed(judged) if judged.verdict.says == "improvable" else None


def _peak_lag(judged: Judged) -> int | None:
    """Return the lag of the member that has most, None where some partition's is unknown."""
    lag, (member, partition) = judged.group.lag_records, judged.now.holdings
    if lag is None or not len(member) or (lag[partition] == UNKNOWN).any():
        return None
    return max(int(lag[partition[member == m]].sum()) for m in np.unique(member))


def _short(records: int) -> str:
    """Return a count of records in four places or so: 900, 12 k, 1.2 M."""
    for unit, size in (("T", 10**12), ("G", 10**9), ("M", 10**6), ("k", 10**3)):
        if records >= size:
            whole = records / size
            return f"{whole:.1f} {unit}" if whole < 10 else f"{whole:.0f} {unit}"
    return str(records)
