"""In turn: times two or more sides of a comparison alternately, with the same number of runs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
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
    """Seconds of the runs that count.

    Attributes
    ----------
    seconds : of each side, equally many; usually ours first, then theirs
    warm : number of warm-up runs of each side, which do not count
    """

    seconds: tuple[tuple[float, ...], ...]
    warm: int

    @property
    def medians(self) -> list[float]:
        """The median of each side."""
        return [*map(median, self.seconds)]

    @property
    def least(self) -> list[float]:
        """The least seconds of each side."""
        return [*map(min, self.seconds)]

    @property
    def times(self) -> float:
        """The median of the second side divided by that of the first."""
        return self.medians[1] / self.medians[0]

    @property
    def protocol(self) -> str:
        """Number of warm-up and counted runs, as a cell of a table: "15 + 9"."""
        return f"{self.warm} + {len(self.seconds[0])}"


def in_turn(
    *sides: Callable[[], float], warm: int = WARM, runs: int = RUNS, patience: float = PATIENCE
) -> Sides:
    """Run the sides alternately, and return the seconds of each.

    Parameters
    ----------
    sides : functions that run once and return seconds
    warm, runs : numbers of warm-up and counted runs of each side
    patience : seconds of all sides together after which the warm-up ends early, and again the
        counted runs. Every side still runs equally often, and at least once
    """

    def rounds(most: int) -> list[list[float]]:
        found: list[list[float]] = []
        while not found or (len(found) < most and sum(map(sum, found)) < patience):
            found.append([side() for side in sides])
        return found

    first = rounds(warm) if warm else []
    return Sides(tuple(zip(*rounds(runs), strict=True)), len(first))


def timed(call: Callable[[], object], clock: Callable[[], float] = perf_counter) -> float:
    """Return the seconds of a call."""
    began = clock()
    call()
    return clock() - began


def solving(group: Group, objective: str = "kip-54") -> float:
    """Solve a fresh copy of a group; return the seconds of the solve, its proof and its check."""
    return timed(partial(solve, replace(group), objective))


def reading_alike(group: Group) -> float:
    """Return the seconds of building the group from a topic list for each member.

    Building groups members with equal lists, which assignors do in their own time.
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
