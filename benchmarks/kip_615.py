"""KIP-615's 2.5 minutes: cooperative-sticky for 2100 members and 2100 partitions, by release.

Run with ``python -m benchmarks.kip_615``; releases that are not here come with ``assay fetch
kafka-java@2.4.1``. The text says neither who read what nor who owned what, so several shapes are
tried. Each side is called once on a group of each shape, after one call on a tenth of its size.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from typing import TYPE_CHECKING

from benchmarks.instances import equal, sparse
from compare.scores import score_assignors
from heuristics.time_limit import TimeLimit
from optimal import solve
from studies.in_turn import solving

if TYPE_CHECKING:
    from collections.abc import Callable

    from groups import Group

SIZE = 2100
VERSIONS = ("2.4.1", "2.5.0", "2.8.2", "4.4.0")
SHAPES: dict[str, Callable[[int], Group]] = {
    "one topic, new": lambda size: equal(size, size, 1, joins=False),
    "one topic, one joins": lambda size: equal(size, size, 1, joins=True),
    "2100 topics, all read all, new": lambda size: equal(size, size, size, joins=False),
    "2100 topics, all read all, one joins": lambda size: equal(size, size, size, joins=True),
    "21 topics, half of them each, new": lambda size: sparse(size, 21, 0.5, size),
}


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
            small, group = make(SIZE // 10), make(SIZE)
            solving(small)
            exact = solving(group)
            solution = solve(group)
            cells = []
            for name in names:
                score_assignors(small, solve(small), [name], limit)
                row = score_assignors(group, solution, [name], limit)[0]
                said = f"{row.seconds:.2f}" if row.status == "scored" else row.status
                best = row.status == "scored" and row.is_optimal
                cells.append(said if best or row.status != "scored" else f"{said}, not optimal")
            _say(f"| {shape} | {exact:.4f} | {' | '.join(cells)} |")


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
