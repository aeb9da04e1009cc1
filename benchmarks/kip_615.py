"""KIP-615's 2.5 minutes: cooperative-sticky for 2100 members and 2100 partitions, by release.

Run with ``python -m benchmarks.kip_615``; releases that are not here come with ``assay fetch
kafka-java@2.4.1``. The text says neither who read what nor who owned what, so several shapes are
tried.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING

from benchmarks.__main__ import fresh
from benchmarks.instances import equal, sparse
from compare.scoring import score_assignors
from heuristics.time_limit import TimeLimit
from optimal import solve

if TYPE_CHECKING:
    from collections.abc import Callable

    from groups import Group

SIZE = 2100
VERSIONS = ("2.4.1", "2.5.0", "2.8.2", "4.4.0")
SHAPES: dict[str, Callable[[], Group]] = {
    "one topic, new": lambda: equal(SIZE, SIZE, 1, joins=False),
    "one topic, one joins": lambda: equal(SIZE, SIZE, 1, joins=True),
    "2100 topics, all read all, new": lambda: equal(SIZE, SIZE, SIZE, joins=False),
    "2100 topics, all read all, one joins": lambda: equal(SIZE, SIZE, SIZE, joins=True),
    "21 topics, half of them each, new": lambda: sparse(SIZE, 21, 0.5, SIZE),
}
RUNS = 5


def exact(group: Group) -> float:
    """Return the median seconds of the optimum with its proof and check, after one more call."""
    taken = []
    for _ in range(RUNS + 1):
        given = fresh(group)
        started = perf_counter()
        solve(given)
        taken.append(perf_counter() - started)
    return median(taken[1:])


def main() -> None:
    """Print a row a shape: seconds of the optimum, then of cooperative-sticky by release."""
    parser = ArgumentParser(description="time cooperative-sticky at the size that KIP-615 names")
    parser.add_argument("--version", nargs="+", default=VERSIONS)
    parser.add_argument("--time-limit", type=float, default=240.0)
    asked = parser.parse_args()
    names = [f"kafka-java/cooperative-sticky@{version}" for version in asked.version]
    _say(f"| 2100 members x 2100 partitions | exact (s) | {' | '.join(asked.version)} |")
    _say("|---" * (2 + len(names)) + "|")
    with TimeLimit(asked.time_limit) as limit:
        for shape, make in SHAPES.items():
            group = make()
            solution = solve(group)
            cells = []
            for name in names:
                row = score_assignors(group, solution, [name], limit)[0]
                said = f"{row.seconds:.2f}" if row.status == "scored" else row.status
                best = row.status == "scored" and row.is_optimal
                cells.append(said if best or row.status != "scored" else f"{said}, not optimal")
            _say(f"| {shape} | {exact(group):.4f} | {' | '.join(cells)} |")


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
