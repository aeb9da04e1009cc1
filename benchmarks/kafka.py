"""Kafka's own assignors and the exact solver in turn, warm, in memory to in memory.

Both begin with what they are given in memory and build nothing of it inside the clock: uniform is
handed its subscription type and subscription sets that members share, the solver a group that
keeps each distinct topic list once; what it costs to find out who reads alike stands beside each
figure. Everything that the solver derives from the columns, the proof and its check are inside.
Both sides get the same runs before the clock counts, the same runs and the same statistic.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from compare.samples.families import Family, grid
from groups import values
from heuristics.shipped.java.java_client import KAFKA_BROKER, KAFKA_JAVA
from optimal import solve
from studies.in_turn import Sides, in_turn, reading_alike, solving

if TYPE_CHECKING:
    from collections.abc import Iterator

    from groups import Group

VERSION = "4.4.0"
LEAST = 100_000


def points() -> Iterator[Family]:
    """Return the points of the maintainers' grid with 100,000 partitions or more."""
    for family in grid((100, 500, 1000, 5000, 10_000), 10_000 * 50):
        if family.members * family.per_member >= LEAST:
            yield family


def as_they_time_it(family: Family, version: str) -> Group:
    """Return the group of a point; what its members own is what uniform gave them before."""
    group = family.group(1)
    if family.event == "fresh":
        return group
    joined = len(group.members) - 1
    before = group.only(np.arange(joined)).with_claims([], [])
    owner = KAFKA_BROKER.one_round(before, "uniform", version).assignment.owner
    return replace(group, owner=owner)


def differing() -> Iterator[Family]:
    """Return points whose subscriptions differ and on which cooperative-sticky takes its time."""
    yield Family(500, 10, 100, "buckets", "join-one")
    yield Family(500, 10, 20, "random", "join-one")
    yield Family(1000, 10, 20, "random", "join-many", skewed=True)
    yield Family(500, 50, 100, "buckets", "join-one")


def beside_uniform(group: Group, version: str) -> Sides:
    """Return the seconds of `optimal.solve`, proof and check included, and of uniform."""
    held = KAFKA_BROKER.held(group, "uniform", version)
    return in_turn(partial(solving, group), lambda: held.timed(1)[0])


def cooperative(version: str) -> None:
    """Print how long cooperative-sticky takes for its first round, beside the exact optimum."""
    _say("\n| group | exact (s) | cooperative-sticky (s) | times | warm-up + runs of each | "
         "who reads alike, outside the clock (s) |\n|---|---|---|---|---|---|")  # fmt: skip
    for family in differing():
        group = family.group(1)
        held = KAFKA_JAVA.held(group, "cooperative-sticky", version)
        came = in_turn(partial(solving, group), lambda held=held: held.timed(1)[0])  # type: ignore[misc]
        ours, theirs = came.medians
        _say(
            f"| {family.name} | {ours:.4f} | {theirs:.2f} | {came.times:,.0f} | {came.protocol} "
            f"| {reading_alike(group):.4f} |"
        )


def main() -> None:
    """Print the tables."""
    parser = ArgumentParser(description="time Kafka's assignors and the exact solver in turn")
    parser.add_argument("--version", default=VERSION)
    asked = parser.parse_args()
    uniform(asked.version)
    cooperative(asked.version)


def uniform(version: str) -> None:
    """Print a row a point: seconds of both, least and median, and what uniform's plan is worth."""
    _say("| members x partitions | topics | subscriptions | event | exact (s) | uniform (s) | "
         "uniform over exact: least, median | warm-up + runs of each | "
         "who reads alike, outside the clock (s) | its excess: balance, moves |")  # fmt: skip
    _say("|---|---|---|---|---|---|---|---|---|---|")
    slower = slower_at_least = total = 0
    for family in points():
        group = as_they_time_it(family, version)
        came = beside_uniform(group, version)
        best = [term.value for term in solve(group).terms]
        plan = KAFKA_BROKER.one_round(group, "uniform", version)
        made = values(plan.assignment, ("balance", "stickiness"))
        excess = ", ".join(str(a - b) for a, b in zip(made, best, strict=True))
        ours, theirs = zip(came.least, came.medians, strict=True)
        least = came.least[1] / came.least[0]
        slower += came.times < 1
        slower_at_least += least < 1
        total += 1
        _say(
            f"| {family.members:,} x {group.n_partitions:,} | {family.topics} | "
            f"{family.subscriptions} | {family.event} | {ours[0]:.4f}, {ours[1]:.4f} | "
            f"{theirs[0]:.4f}, {theirs[1]:.4f} | {least:.2f}, {came.times:.2f} | "
            f"{came.protocol} | {reading_alike(group):.4f} | {excess} |"
        )
    _say(
        f"\nthe exact solver takes longer at {slower} of {total} points by the median, "
        f"at {slower_at_least} by the least"
    )


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
