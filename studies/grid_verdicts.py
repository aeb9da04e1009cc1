"""Verdicts on the maintainers' grid: quality and time of every assignor, beside the optimum.

``python -m studies.grid_verdicts`` makes the tables of ``docs/findings/verdicts.md`` anew. All
runs in one process after the other, on the groups of Kafka's own benchmarks, which measure time
only.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from statistics import mean, median
from time import perf_counter
from typing import TYPE_CHECKING, get_args

from compare.samples.families import Family, LastEvent, Subscriptions, grid
from compare.score import Score, score_assignors
from heuristics import assignor_named, assignors, matching
from heuristics.time_limit import TimeLimit
from optimal import solve
from studies.page import put

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from groups import Group

SEED = 1
SOLVES = 3
TWICE_BELOW = 1.0


def points(members: Sequence[int], most_partitions: int) -> Iterator[Family]:
    """Return the points: those of AssignorBenchmark, then what ConsumerAssignorBenchmark adds.

    The latter: topics of equal or unequal size, every kind of subscription, every event.
    """
    kinds = product(members, (False, True), get_args(Subscriptions), get_args(LastEvent))
    added = (
        Family(size, 10, 100, subscriptions, event, skewed)
        for size, skewed, subscriptions, event in kinds
        if size * 10 <= most_partitions
    )
    yield from dict.fromkeys((*grid(tuple(members), most_partitions), *added))


@dataclass
class GridRow:
    """How an assignor fared on the points of one kind of subscriptions.

    Attributes
    ----------
    rows : its scores, one a point
    left_out : points not tried, as a smaller one of the same kind had taken too long
    ratios : for each plan, seconds of the assignor over seconds of the exact solver
    """

    rows: list[Score] = field(default_factory=list)
    left_out: int = 0
    ratios: list[float] = field(default_factory=list)


def grid_rows(
    families: Sequence[Family], names: Sequence[str], limit: TimeLimit
) -> dict[str, dict[str, GridRow]]:
    """Return a row for each kind of subscriptions, "equal" or "differing", and assignor."""
    found = {kind: {name: GridRow() for name in names} for kind in ("equal", "differing")}
    too_slow: set[tuple[str, str, str]] = set()
    for family in sorted(families, key=lambda f: f.members * f.per_member):
        group = family.group(SEED)
        solution = solve(group)
        exact = min(_seconds(group) for _ in range(SOLVES))
        kind = "equal" if family.subscriptions == "equal" else "differing"
        for name in names:
            one, series = found[kind][name], (name, family.subscriptions, family.event)
            if series in too_slow:
                one.left_out += 1
                continue
            row = score_assignors(group, solution, [name], limit)[0]
            if row.status == "scored" and row.seconds < TWICE_BELOW:
                again = score_assignors(group, solution, [name], limit)[0]
                row = again if again.status == "scored" else row
            if row.status == "timed-out":
                too_slow.add(series)
            if row.status == "scored":
                one.ratios.append(row.seconds / exact)
            one.rows.append(row)
    return found


def _seconds(group: Group) -> float:
    # The same columns, without what was derived from them before.
    given = replace(group)
    started = perf_counter()
    solve(given)
    return perf_counter() - started


def table(found: dict[str, GridRow]) -> str:
    """Return the verdicts as Markdown, a row an assignor."""
    lines = [
        "| assignor | plans | none | valid | balanced | best balance | of those fewest moves | "
        "excess balance, mean (worst) | excess moves, mean (worst) | seconds over ours, median "
        "(worst) |",
        "|---" * 10 + "|",
    ]
    for name, one in found.items():
        scored = [row for row in one.rows if row.status == "scored"]
        if not scored and all(row.status == "refused" for row in one.rows):
            continue
        lines.append(f"| `{name}` | {' | '.join(_cells(one, scored))} |")
    return "\n".join(lines)


def _cells(one: GridRow, scored: Sequence[Score]) -> list[str]:
    late = sum(row.status == "timed-out" for row in one.rows)
    broke = sum(row.status == "failed" for row in one.rows)
    refused = sum(row.status == "refused" for row in one.rows)
    reasons = ((late, "too late"), (one.left_out, "left out"), (broke, "failed"))
    none = [f"{n} {why}" for n, why in (*reasons, (refused, "refused")) if n]
    good = [row for row in scored if row.valid and row.terms]
    excess = [[term.excess for term in row.terms or ()] for row in good]
    balance = [e[0] for e in excess if isinstance(e[0], int)]
    moves = [e[1] for e in excess if isinstance(e[1], int)]
    return [
        str(len(scored)),
        ", ".join(none) or "0",
        _share(len(good), len(scored)),
        _share(sum(bool(row.balanced) for row in good), len(scored)),
        _share(balance.count(0), len(scored)),
        _share(moves.count(0), len(moves)),
        _spread(balance),
        _spread(moves),
        f"{_short(median(one.ratios))} ({_short(max(one.ratios))})" if one.ratios else "",
    ]


def _share(part: int, whole: int) -> str:
    if not whole:
        return ""
    # Rounded down: 100% is said of all of them only.
    return f"{1000 * part // whole / 10:g}%"


def _spread(values: Sequence[int]) -> str:
    return f"{_short(mean(values))} ({max(values):,})" if values else ""


def _short(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 else f"{value:.2g}"


def main() -> None:
    """Make the tables anew."""
    parser = ArgumentParser(description="hold every assignor against the optimum on the grid")
    parser.add_argument("names", nargs="*", help="assignors, all that are available if left out")
    parser.add_argument("--members", type=int, nargs="+", default=[100])
    parser.add_argument("--most-partitions", type=int, default=5000)
    parser.add_argument("--time-limit", type=float, default=2.0)
    parser.add_argument("--docs", type=Path, default=Path("docs/findings/verdicts.md"))
    asked = parser.parse_args()
    names = matching(asked.names) if asked.names else tuple(assignors())
    missing = {name: assignor_named(name).missing() for name in names}
    absent = [f"`{name}`: {reason}" for name, reason in missing.items() if reason]
    names = tuple(name for name, reason in missing.items() if reason is None)
    families = list(points(asked.members, asked.most_partitions))
    started = perf_counter()
    with TimeLimit(asked.time_limit) as limit:
        found = grid_rows(families, names, limit)
    said = [
        f"{len(families)} groups of {' or '.join(map(str, asked.members))} members and up to "
        f"{asked.most_partitions:,} partitions; {asked.time_limit:g} s for each call.",
        *(f"\n**{kind.capitalize()} subscriptions**\n\n{table(found[kind])}" for kind in found),
        *(f"\nNot here: {line}" for line in absent),
    ]
    put(asked.docs, "verdicts", "\n".join(said))
    sys.stderr.write(f"{len(families)} groups in {perf_counter() - started:.0f} s\n")


if __name__ == "__main__":
    main()
