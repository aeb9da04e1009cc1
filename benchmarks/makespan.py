"""Peak lag on the instance classes of P||Cmax: what is proved (docs/findings/benchmarks.md).

Partitions are jobs, lag is their time, and members are machines: the objective is `peak_lag`.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.instances import reading_all
from benchmarks.lag import ask, gap
from benchmarks.printed import heading, row

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from benchmarks.lag import Answer
    from optimal.solve import MethodName

# Seconds of each method for an instance.
SECONDS = 20.0
MACHINES = 5, 10, 25


@dataclass(frozen=True)
class Class:
    """Instances of one kind.

    Attributes
    ----------
    sizes : (jobs, machines)
    draw : (jobs,) int64 times
    """

    name: str
    sizes: tuple[tuple[int, int], ...]
    draw: Callable[[int, np.random.Generator], np.ndarray]


def uniform(low: int, high: int) -> Callable[[int, np.random.Generator], np.ndarray]:
    """Return a function that draws integers from low to high, both included."""
    return lambda jobs, rng: rng.integers(low, high + 1, jobs)


def normal(mean: float, deviation: float) -> Callable[[int, np.random.Generator], np.ndarray]:
    """Return a function that draws from a normal distribution, rounded, at least 1."""
    return lambda jobs, rng: np.maximum(np.rint(rng.normal(mean, deviation, jobs)), 1).astype(int)


def non_uniform(high: int) -> Callable[[int, np.random.Generator], np.ndarray]:
    """Return a function that draws 98% from the uppermost tenth, and 2% from the lowest fifth."""

    def draw(jobs: int, rng: np.random.Generator) -> np.ndarray:
        long = rng.integers(round(0.9 * (high - 1)), high + 1, jobs)
        return np.where(
            rng.random(jobs) < 0.98, long, rng.integers(1, round(0.2 * (high - 1)), jobs)
        )

    return draw


# Franca, Gendreau, Laporte and Muller 1994, doi:10.1016/0305-0548(94)90053-1, as Frangioni,
# Necciari and Scutella 2004 describe them, doi:10.1023/B:JOCO.0000031420.05971.29.
FRANCA = ((10, 5), *((jobs, m) for jobs in (50, 100, 500, 1000) for m in MACHINES))
# Two to three jobs per machine, where the average is no close bound: the classes of Dell'Amico and
# Martello 1995, doi:10.1287/ijoc.7.2.191, and of Haouari and Jemmali 2008,
# doi:10.1016/j.disopt.2007.10.001, in fewer sizes.
HARD = tuple((round(ratio * m), m) for m in (10, 20, 40) for ratio in (2, 2.25, 2.5, 2.75, 3))
CLASSES = (
    *(Class(f"uniform 1 to {high:,}", FRANCA, uniform(1, high)) for high in (100, 1000, 10_000)),
    *(
        Class(f"non-uniform to {high:,}", FRANCA, non_uniform(high))
        for high in (100, 1000, 10_000)
    ),
    *(
        Class(f"{low} to {high}, 2 to 3 each", HARD, uniform(low, high))
        for low, high in ((1, 20), (1, 100), (20, 100), (50, 100), (100, 200))
    ),
    Class("normal 100, 50, 2 to 3 each", HARD, normal(100, 50)),
    Class("normal 100, 20, 2 to 3 each", HARD, normal(100, 20)),
)


def makespan(instances: int, only: str) -> None:
    """Print a row per class; gaps are to the highest bound of any method."""
    ways: tuple[MethodName, ...] = ("exchange", "cp-sat")
    heading("class", "instances", *ways)
    for one in CLASSES:
        if only not in one.name:
            continue
        groups = [
            reading_all(one.draw(jobs, np.random.default_rng((seed, jobs, machines))), machines)
            for jobs, machines in one.sizes
            for seed in range(1, instances + 1)
        ]
        found = [[ask(group, "peak_lag", way, SECONDS)[0] for way in ways] for group in groups]
        bounds = [max(answer.bound or 0 for answer in of) for of in found]
        row(one.name, len(groups), *(_cell(of, bounds) for of in zip(*found, strict=True)))


def _cell(found: Sequence[Answer], bounds: Sequence[int]) -> str:
    """Return a cell: how many are proved, the median seconds and the greatest gap."""
    proved = sum(one.value is not None and one.value == one.bound for one in found)
    gaps = [
        gap(one.value, bound)
        for one, bound in zip(found, bounds, strict=True)
        if one.value is not None
    ]
    worst = f"{max(gaps):.3f}%" if len(gaps) == len(found) else f"{len(found) - len(gaps)} without"
    middle = median(one.seconds for one in found)
    return f"{proved} ({100 * proved / len(found):.1f}%), {middle:.3f} s, {worst}"
