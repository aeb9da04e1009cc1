"""The assignors of java/ beside Kafka's own, in one JVM, in turn: time and allocation of a call.

Each side is called as often before the clock counts, and as often when it does. What is timed is
the assignor's own call, with what the broker or the client hands it in memory.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from benchmarks.kafka import VERSION, as_they_time_it, differing
from compare.samples.families import Family, grid
from heuristics.shipped.java.java_client import JAVA_OPTIMAL, KAFKA_BROKER, KAFKA_JAVA
from studies.in_turn import in_turn

if TYPE_CHECKING:
    from collections.abc import Callable

    from heuristics.shipped.java.jvm import JavaGroup

LEAST, MOST = 10_000, 500_000
# KIP-1263 names this as the point at which uniform takes longest.
SLOWEST = Family(1000, 50, 1000, "random", "join-one")
RUNS = 60
CLIENT = replace(
    KAFKA_JAVA, package="assay.consumer", assignors={"assay-optimal": "OptimalAssignor"}
)


def points() -> list[Family]:
    """Return the grid's points with 10,000 partitions or more, and that of KIP-1263."""
    every = grid((100, 500, 1000, 5000, 10_000), MOST)
    return [p for p in every if p.members * p.per_member >= LEAST] + [SLOWEST]


def allocated(held: JavaGroup) -> float:
    """Return how many megabytes one call allocates."""
    import jpype

    threads: Any = jpype.JClass("java.lang.management.ManagementFactory").getThreadMXBean()
    thread = jpype.JClass("java.lang.Thread").currentThread().getId()
    before = threads.getThreadAllocatedBytes(thread)
    held.timed(10)
    return float(threads.getThreadAllocatedBytes(thread) - before) / 10e6


def beside(ours: JavaGroup, theirs: JavaGroup, runs: int) -> tuple[float, float]:
    """Return the median seconds of a call of both sides."""

    def one(held: JavaGroup) -> Callable[[], float]:
        return lambda: held.timed(1)[0]

    return in_turn(one(ours), one(theirs), warm=5 * runs, runs=runs, patience=20).medians


def main() -> None:
    """Print the tables."""
    parser = ArgumentParser(description="time the assignors of java/ beside Kafka's, in turn")
    parser.add_argument("--runs", type=int, default=RUNS, help="of each side; before, five times")
    asked = parser.parse_args()
    say = partial(print, file=sys.stdout, flush=True)
    say(
        "| group | optimal (ms) | uniform (ms) | uniform over optimal "
        "| MB allocated: optimal, uniform |"
    )
    say("|---|---|---|---|---|")
    slower = []
    for family in points():
        group = as_they_time_it(family, VERSION)
        ours = JAVA_OPTIMAL.held(group, "optimal", VERSION)
        theirs = KAFKA_BROKER.held(group, "uniform", VERSION)
        a, b = beside(ours, theirs, asked.runs)
        if b < a:
            slower.append(b / a)
        say(
            f"| {family.name} | {a * 1e3:.3f} | {b * 1e3:.3f} | {b / a:.2f} "
            f"| {allocated(ours):.2f}, {allocated(theirs):.2f} |"
        )
    least = f", at the worst {min(slower):.2f} times as fast" if slower else ""
    say(f"\noptimal takes longer at {len(slower)} of {len(points())} points{least}")
    say("\n| group | OptimalAssignor (ms) | sticky (s) | times | cooperative-sticky (s) | times |")
    say("|---|---|---|---|---|---|")
    for family in differing():
        group = family.group(1)
        ours = CLIENT.held(group, "assay-optimal", VERSION)
        cells = []
        for name in ("sticky", "cooperative-sticky"):
            a, b = beside(ours, KAFKA_JAVA.held(group, name, VERSION), 5)
            cells.append(f"{b:.2f} | {b / a:,.0f}")
        say(f"| {family.name} | {a * 1e3:.2f} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
