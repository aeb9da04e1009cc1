"""In turn: two sides of a comparison, with the same warm-up, the same runs, the same statistic."""

from __future__ import annotations

from dataclasses import dataclass, fields
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np

from groups import Group
from optimal import solve

if TYPE_CHECKING:
    from collections.abc import Callable

WARM, RUNS, PATIENCE = 15, 9, 60.0


@dataclass(frozen=True)
class Sides:
    """Seconds of the runs that count, a run of ours and one of theirs in turn.

    Attributes
    ----------
    ours, theirs : equally many
    warm : runs of each side before them, which do not count
    """

    ours: list[float]
    theirs: list[float]
    warm: int

    @property
    def medians(self) -> tuple[float, float]:
        """Ours and theirs."""
        return median(self.ours), median(self.theirs)

    @property
    def least(self) -> tuple[float, float]:
        """Ours and theirs."""
        return min(self.ours), min(self.theirs)

    @property
    def times(self) -> float:
        """How many times longer theirs take, by the medians."""
        ours, theirs = self.medians
        return theirs / ours

    @property
    def protocol(self) -> str:
        """How often each side ran, as a cell of a table: "15 + 9"."""
        return f"{self.warm} + {len(self.ours)}"


def in_turn(
    ours: Callable[[], float],
    theirs: Callable[[], float],
    *,
    warm: int = WARM,
    runs: int = RUNS,
    patience: float = PATIENCE,
) -> Sides:
    """Run two sides in turn and return the seconds of each.

    Parameters
    ----------
    ours, theirs : run once and return seconds
    warm, runs : of each side; the first do not count
    patience : seconds of both sides together after which warming up ends, and again after which
        runs end. Both sides run equally often whatever happens, and once at least where it counts
    """
    first = _pairs(ours, theirs, warm, patience) if warm else []
    counted = _pairs(ours, theirs, runs, patience)
    return Sides([a for a, _ in counted], [b for _, b in counted], len(first))


def _pairs(
    ours: Callable[[], float], theirs: Callable[[], float], most: int, patience: float
) -> list[tuple[float, float]]:
    found: list[tuple[float, float]] = []
    while not found or (len(found) < most and sum(map(sum, found)) < patience):
        found.append((ours(), theirs()))
    return found


def fresh(group: Group) -> Group:
    """Build the group of the same columns anew, with nothing derived from them yet."""
    kept = {field.name: getattr(group, field.name) for field in fields(group)}
    return type(group)(**kept)


def solving(group: Group, objective: str = "kip-54") -> float:
    """Solve a fresh copy; return the seconds without the copy, with the proof and its check."""
    given = fresh(group)
    started = perf_counter()
    solve(given, objective)
    return perf_counter() - started


def reading_alike(group: Group) -> float:
    """Return the seconds of building the group from a topic list for each member.

    Equal lists are put together there: it is what no solve has inside the clock.
    """
    rows = [group.subscription(member) for member in range(len(group.members))]
    indptr = np.cumsum([0, *map(len, rows)])
    listed = np.concatenate(rows)
    started = perf_counter()
    Group.from_arrays(
        group=group.name,
        topics=group.topics,
        partitions=group.partitions,
        members=group.members,
        subscription_indptr=indptr,
        subscription_topics=listed,
        owner=group.owner,
    )
    return perf_counter() - started
