"""Clients: the clients' own assignors and the exact solver, timed in turn.

Inputs are in memory before the clock starts: uniform gets its subscription type and subscription
sets that members share, franz-go's balancer parsed members, and the solver a group that keeps each
distinct topic list once; the time to find out which members read alike is a column of its own.
Everything that the solver derives from the columns, the proof and its check are inside the clock.
Both sides get the same warm-up runs, the same runs and the same statistic.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.instances import INSTANCES, equal, sparse
from benchmarks.printed import heading, row, say, spans
from compare.samples.families import Family, grid
from compare.scores import score_assignors
from groups import values
from heuristics.shipped.consumers.library import FRANZ_GO
from heuristics.shipped.java.java_client import KAFKA_BROKER, KAFKA_JAVA, RELEASES
from heuristics.time_limit import TimeLimit
from optimal import solve
from studies.in_turn import RUNS, WARM, Sides, in_turn, reading_alike, solving

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from groups import Assignment, Group
    from heuristics.assignor import Plan

KAFKA, OF_FRANZ_GO = RELEASES[0], FRANZ_GO.listed[0]
TIERS = ("balance", "stickiness")
# With different subscriptions, on which cooperative-sticky is slow.
DIFFERING = (
    Family(500, 10, 100, "buckets", "join-one"),
    Family(500, 10, 20, "random", "join-one"),
    Family(1000, 10, 20, "random", "join-many", skewed=True),
    Family(500, 50, 100, "buckets", "join-one"),
)


def points(least: int) -> list[Family]:
    """Return the points of the maintainers' grid with so many partitions or more, to 500,000."""
    every = grid((100, 500, 1000, 5000, 10_000), 500_000)
    return [point for point in every if point.members * point.per_member >= least]


def as_they_time_it(family: Family) -> Group:
    """Return the group of a point, with the owners that uniform chose before the event."""
    group = family.group(1)
    if family.event == "fresh":
        return group
    joined = len(group.members) - 1
    before = group.only(np.arange(joined)).with_claims([], [])
    owner = KAFKA_BROKER.one_round(before, "uniform", KAFKA).assignment.owner
    return replace(group, owner=owner)


def beside_balancer(
    group: Group, name: str, *, warm: int = WARM, runs: int = RUNS
) -> tuple[Sides, Assignment]:
    """Return the seconds of `optimal.solve` and of a balancer, and the balancer's last plan.

    The balancer's seconds are those of ``BalanceOrError`` only: members are parsed, and garbage of
    earlier runs is collected, before. The plan of a cooperative balancer is its first round.
    """
    plans: list[Plan] = []

    def balancing() -> float:
        plans[:] = [FRANZ_GO.one_round(group, name, OF_FRANZ_GO)]
        return plans[0].seconds or 0.0

    sides = in_turn(partial(solving, group), balancing, warm=warm, runs=runs)
    return sides, plans[0].assignment


def print_beside(rows: Iterable[tuple[str, str, Group]]) -> None:
    """Print a row for each assignor: least and median seconds, and the values of its plan.

    Parameters
    ----------
    rows : name of the group, full name of the assignor, the group
    """
    heading(
        "group", "assignor", "exact (s)", "assignor (s)", "times: least, median",
        "warm-up + runs of each", "who reads alike, outside the clock (s)", "balance, moves",
        "optimum",
    )  # fmt: skip
    slower = []
    for name, assignor, group in rows:
        client, _, rest = assignor.partition("/")
        kind, _, version = rest.partition("@")
        if client == FRANZ_GO.name:
            sides, made = beside_balancer(group, kind)
        else:
            java = KAFKA_BROKER if client == KAFKA_BROKER.name else KAFKA_JAVA
            held = java.held(group, kind, version)
            sides = in_turn(partial(solving, group), lambda held=held: held.timed(1)[0])  # type: ignore[misc]
            made = java.one_round(group, kind, version).assignment
        ours, theirs = zip(sides.least, sides.medians, strict=True)
        slower.append(sides.times < 1)
        row(
            name, assignor, *spans(ours, theirs), f"{theirs[0] / ours[0]:.2f}, {sides.times:.2f}",
            sides.protocol, f"{reading_alike(group):.4f}",
            # A cooperative assignor withholds partitions that must be revoked first.
            ", ".join(map(str, values(made, TIERS))) if made.is_valid else "first round",
            ", ".join(str(term.value) for term in solve(group).terms),
        )  # fmt: skip
    say(f"\nthe exact solver takes longer by the median in {sum(slower)} of {len(slower)} rows")


def uniform() -> None:
    """Print the rows of the maintainers' grid, beside the broker's uniform."""
    name = f"{KAFKA_BROKER.name}/uniform@{KAFKA}"
    print_beside((family.name, name, as_they_time_it(family)) for family in points(100_000))


def cooperative() -> None:
    """Print the rows of groups that differ, beside the first round of cooperative-sticky."""
    name = f"{KAFKA_JAVA.name}/cooperative-sticky@{KAFKA}"
    print_beside((family.name, name, family.group(1)) for family in DIFFERING)


def balancers() -> None:
    """Print the rows of the instances, beside franz-go's balancers."""
    print_beside(
        (name, f"{FRANZ_GO.name}/{balancer}@{OF_FRANZ_GO}", group)
        for name, (_, build) in INSTANCES.items()
        for group in [build()]
        for balancer in ("sticky", "cooperative-sticky")
    )


SIZE = 2100
VERSIONS = ("2.4.1", "2.5.0", "2.8.2", KAFKA)
SHAPES: dict[str, Callable[[int], Group]] = {
    "one topic, new": lambda size: equal(size, size, 1, joins=False),
    "one topic, one joins": lambda size: equal(size, size, 1, joins=True),
    "2100 topics, all read all, new": lambda size: equal(size, size, size, joins=False),
    "2100 topics, all read all, one joins": lambda size: equal(size, size, size, joins=True),
    "21 topics, half of them each, new": lambda size: sparse(size, 21, 0.5, size),
}


def kip_615() -> None:
    """Print the case of KIP-615, 2.5 minutes: cooperative-sticky, 2100 members and partitions.

    There is a row for each shape, since the KIP says neither subscriptions nor owners: seconds of
    the optimum, then of the assignor by release; ``assay fetch kafka-java@2.4.1`` installs one.
    Each side is called once on a group of each shape, after one call on a tenth of its size.
    """
    names = [f"kafka-java/cooperative-sticky@{version}" for version in VERSIONS]
    heading("2100 members x 2100 partitions", "exact (s)", *VERSIONS)
    with TimeLimit(240.0) as limit:
        for shape, make in SHAPES.items():
            small, group = make(SIZE // 10), make(SIZE)
            solving(small)
            exact = solving(group)
            solution = solve(group)
            cells = []
            for name in names:
                score_assignors(small, solve(small), [name], limit)
                score = score_assignors(group, solution, [name], limit)[0]
                shown = f"{score.seconds:.2f}" if score.status == "scored" else score.status
                best = score.status != "scored" or score.is_optimal
                cells.append(shown if best else f"{shown}, not optimal")
            row(shape, f"{exact:.4f}", *cells)
