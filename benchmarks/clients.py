"""Clients: their own assignors and the exact solver in turn, warm, in memory to in memory.

All begin with what they are given in memory and build nothing of it inside the clock: uniform is
handed its subscription type and subscription sets that members share, franz-go's balancer parsed
members, the solver a group that keeps each distinct topic list once; what it costs to find out who
reads alike stands beside each figure. Everything that the solver derives from the columns, the
proof and its check are inside. Both sides get the same runs before the clock counts, the same runs
and the same statistic.
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
from heuristics.shipped.java.java_client import KAFKA_BROKER, KAFKA_JAVA
from heuristics.time_limit import TimeLimit
from optimal import solve
from studies.in_turn import RUNS, WARM, Sides, in_turn, reading_alike, solving

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from groups import Assignment, Group
    from heuristics.assignor import Plan

KAFKA, OF_FRANZ_GO = "4.4.0", "1.22.2"
TIERS = ("balance", "stickiness")
LEAST = 100_000
PROTOCOL = "warm-up + runs of each"
ALIKE = "who reads alike, outside the clock (s)"


def points() -> Iterator[Family]:
    """Return the points of the maintainers' grid with 100,000 partitions or more."""
    for family in grid((100, 500, 1000, 5000, 10_000), 10_000 * 50):
        if family.members * family.per_member >= LEAST:
            yield family


def as_they_time_it(family: Family) -> Group:
    """Return the group of a point; what its members own is what uniform gave them before."""
    group = family.group(1)
    if family.event == "fresh":
        return group
    joined = len(group.members) - 1
    before = group.only(np.arange(joined)).with_claims([], [])
    owner = KAFKA_BROKER.one_round(before, "uniform", KAFKA).assignment.owner
    return replace(group, owner=owner)


def differing() -> Iterator[Family]:
    """Return points whose subscriptions differ and on which cooperative-sticky takes its time."""
    yield Family(500, 10, 100, "buckets", "join-one")
    yield Family(500, 10, 20, "random", "join-one")
    yield Family(1000, 10, 20, "random", "join-many", skewed=True)
    yield Family(500, 50, 100, "buckets", "join-one")


def uniform() -> None:
    """Print a row a point: seconds of both, least and median, and what uniform's plan is worth."""
    heading(
        "members x partitions", "topics", "subscriptions", "event", "exact (s)", "uniform (s)",
        "uniform over exact: least, median", PROTOCOL, ALIKE, "its excess: balance, moves",
    )  # fmt: skip
    slower = slower_at_least = total = 0
    for family in points():
        group = as_they_time_it(family)
        held = KAFKA_BROKER.held(group, "uniform", KAFKA)
        came = in_turn(partial(solving, group), lambda held=held: held.timed(1)[0])  # type: ignore[misc]
        best = [term.value for term in solve(group).terms]
        made = values(KAFKA_BROKER.one_round(group, "uniform", KAFKA).assignment, TIERS)
        excess = ", ".join(str(a - b) for a, b in zip(made, best, strict=True))
        ours, theirs = zip(came.least, came.medians, strict=True)
        least = theirs[0] / ours[0]
        slower += came.times < 1
        slower_at_least += least < 1
        total += 1
        row(
            f"{family.members:,} x {group.n_partitions:,}", family.topics, family.subscriptions,
            family.event, *spans(ours, theirs), f"{least:.2f}, {came.times:.2f}", came.protocol,
            f"{reading_alike(group):.4f}", excess,
        )  # fmt: skip
    say(
        f"\nthe exact solver takes longer at {slower} of {total} points by the median, "
        f"at {slower_at_least} by the least"
    )


def cooperative() -> None:
    """Print how long cooperative-sticky takes for its first round, beside the exact optimum."""
    heading("group", "exact (s)", "cooperative-sticky (s)", "times", PROTOCOL, ALIKE)
    for family in differing():
        group = family.group(1)
        held = KAFKA_JAVA.held(group, "cooperative-sticky", KAFKA)
        came = in_turn(partial(solving, group), lambda held=held: held.timed(1)[0])  # type: ignore[misc]
        ours, theirs = came.medians
        row(
            family.name, f"{ours:.4f}", f"{theirs:.2f}", f"{came.times:,.0f}", came.protocol,
            f"{reading_alike(group):.4f}",
        )  # fmt: skip


def beside_balancer(
    group: Group, name: str, *, warm: int = WARM, runs: int = RUNS
) -> tuple[Sides, Assignment]:
    """Return the seconds of `optimal.solve` and of a balancer, and the balancer's last plan.

    The balancer's are those of ``BalanceOrError`` alone: members are parsed and the garbage of
    earlier runs is collected before. The plan of a cooperative one is its first round.
    """
    plans: list[Plan] = []

    def balancing() -> float:
        plans[:] = [FRANZ_GO.one_round(group, name, OF_FRANZ_GO)]
        return plans[0].seconds or 0.0

    came = in_turn(partial(solving, group), balancing, warm=warm, runs=runs)
    return came, plans[0].assignment


def balancers() -> None:
    """Print a row for each instance and balancer of franz-go: seconds, least and median."""
    heading(
        "group", "balancer", "exact (s)", "franz-go (s)", "times", PROTOCOL, ALIKE,
        "balance, moves", "optimum",
    )  # fmt: skip
    for instance, (_, build) in INSTANCES.items():
        group = build()
        optimum = ", ".join(str(term.value) for term in solve(group).terms)
        alike = f"{reading_alike(group):.4f}"
        for name in ("sticky", "cooperative-sticky"):
            came, made = beside_balancer(group, name)
            ours, theirs = zip(came.least, came.medians, strict=True)
            # The cooperative one withholds what must be revoked first.
            found = ", ".join(map(str, values(made, TIERS))) if made.is_valid else "first round"
            times = f"{theirs[0] / ours[0]:.1f}, {came.times:.1f}"
            figures = spans(ours, theirs)
            row(instance, name, *figures, times, came.protocol, alike, found, optimum)


SIZE = 2100
VERSIONS = ("2.4.1", "2.5.0", "2.8.2", "4.4.0")
SHAPES: dict[str, Callable[[int], Group]] = {
    "one topic, new": lambda size: equal(size, size, 1, joins=False),
    "one topic, one joins": lambda size: equal(size, size, 1, joins=True),
    "2100 topics, all read all, new": lambda size: equal(size, size, size, joins=False),
    "2100 topics, all read all, one joins": lambda size: equal(size, size, size, joins=True),
    "21 topics, half of them each, new": lambda size: sparse(size, 21, 0.5, size),
}


def kip_615() -> None:
    """Print KIP-615's 2.5 minutes: cooperative-sticky for 2100 members and as many partitions.

    A row a shape, as the text says neither who read what nor who owned what: seconds of the
    optimum, then of the assignor by release; ``assay fetch kafka-java@2.4.1`` brings one. Each
    side is called once on a group of each shape, after one call on a tenth of its size.
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
                came = score_assignors(group, solution, [name], limit)[0]
                said = f"{came.seconds:.2f}" if came.status == "scored" else came.status
                best = came.status != "scored" or came.is_optimal
                cells.append(said if best else f"{said}, not optimal")
            row(shape, f"{exact:.4f}", *cells)
