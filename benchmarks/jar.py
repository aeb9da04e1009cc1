"""Times the assignors of java/ and Kafka's own, in turn in one JVM: time and allocation of a call.

Both sides have as many warm-up calls and as many timed calls. The time is that of the assignor's
own call, with the input that the broker or the client gives it in memory.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from statistics import median
from typing import TYPE_CHECKING, Any

from benchmarks.clients import KAFKA, as_they_time_it, points
from benchmarks.printed import heading, row
from compare.samples.families import Family
from heuristics.shipped.java.java_client import JAVA_OPTIMAL, KAFKA_BROKER, KAFKA_JAVA
from studies.in_turn import in_turn

if TYPE_CHECKING:
    from heuristics.shipped.java.jvm import JavaGroup

# KIP-1263 names this as the point at which uniform takes longest.
SLOWEST = Family(1000, 50, 1000, "random", "join-one")
RUNS = 20
# Warm-up ends after so many seconds of both sides together, and so do the timed runs.
PATIENCE = 4.0
CLIENT = replace(
    KAFKA_JAVA, package="assay.consumer", assignors={"assay-optimal": "OptimalAssignor"}
)
CLIENTS = [
    *(
        Family(members, 10, 100, reads, event)
        for members in (100, 500, 1000)
        for reads in ("equal", "buckets")
        for event in ("fresh", "join-one")
    ),
    Family(500, 10, 20, "random", "fresh"),
    Family(500, 10, 20, "random", "join-one"),
]


def allocated(held: JavaGroup, runs: int = 10) -> float:
    """Return how many megabytes one call allocates."""
    import jpype

    threads: Any = jpype.JClass("java.lang.management.ManagementFactory").getThreadMXBean()
    thread = jpype.JClass("java.lang.Thread").currentThread().getId()
    before = threads.getThreadAllocatedBytes(thread)
    held.timed(runs)
    return float(threads.getThreadAllocatedBytes(thread) - before) / runs / 1e6


def fastest(ours: JavaGroup, theirs: JavaGroup, runs: int) -> tuple[float, float]:
    """Return the milliseconds of each fastest call: other work only makes calls slower."""
    sides = in_turn(
        lambda: ours.timed(1)[0], lambda: theirs.timed(1)[0],
        warm=5 * runs, runs=runs, patience=PATIENCE,
    )  # fmt: skip
    a, b = sides.least
    return 1e3 * a, 1e3 * b


def uniform(runs: int) -> None:
    """Print a row per point, then a summary for each kind of subscriptions and event."""
    heading(
        "group", "optimal (ms)", "uniform (ms)", "uniform over optimal",
        "MB allocated: optimal, uniform",
    )  # fmt: skip
    of_kind = defaultdict(list)
    for family in [*points(10_000), SLOWEST]:
        group = as_they_time_it(family)
        ours = JAVA_OPTIMAL.held(group, "optimal", KAFKA)
        theirs = KAFKA_BROKER.held(group, "uniform", KAFKA)
        a, b = fastest(ours, theirs, runs)
        room = allocated(ours), allocated(theirs)
        of_kind[family.subscriptions, family.event].append((a, b, room[1] / room[0]))
        both = f"{room[0]:.2f}, {room[1]:.2f}"
        row(family.name, f"{a:.3f}", f"{b:.3f}", f"{b / a:.2f}", both)
    heading(
        "subscriptions, event", "points", "uniform over optimal: least, median, most",
        "slower at, by at most (ms)", "memory, median",
    )  # fmt: skip
    for kind, found in of_kind.items():
        times = [b / a for a, b, _ in found]
        later = [a - b for a, b, _ in found if a > b]
        row(
            ", ".join(kind), len(found),
            f"{min(times):.2f}, {median(times):.2f}, {max(times):.2f}",
            f"{len(later)}, {max(later, default=0):.2f}",
            f"{median(more for _, _, more in found):.2f}",
        )  # fmt: skip


def sticky(runs: int) -> None:
    """Print a row per group that Kafka's client plans in seconds, for both sticky assignors."""
    heading(
        "group", "OptimalAssignor (ms, MB)", "sticky (ms, MB)", "times",
        "cooperative-sticky (ms, MB)", "times",
    )  # fmt: skip
    for family in CLIENTS:
        group = family.group(1)
        ours = CLIENT.held(group, "assay-optimal", KAFKA)
        cells = []
        for name in ("sticky", "cooperative-sticky"):
            theirs = KAFKA_JAVA.held(group, name, KAFKA)
            a, b = fastest(ours, theirs, runs)
            cells += [f"{b:.1f}, {allocated(theirs, 1):.1f}", f"{b / a:,.1f}"]
        row(family.name, f"{a:.2f}, {allocated(ours, 1):.1f}", *cells)


def jar(runs: int) -> None:
    """Print both tables; each side has `runs` timed calls, and 5 times as many warm-up calls."""
    uniform(runs)
    sticky(runs)
