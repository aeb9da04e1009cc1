"""Peak lag on the instance classes of P||Cmax: what is proved (docs/findings/benchmarks.md).

Run with ``python -m benchmarks.makespan``; half an hour to an hour.
Partitions are jobs, lag is their time, and members are machines: the objective is `peak_lag`.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.printed import heading, row
from groups import Group
from optimal import solve

if TYPE_CHECKING:
    from collections.abc import Callable

    from optimal.solve import MethodName

# Seconds for an instance, of each way.
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
    """Return what draws whole numbers from low to high, both included."""
    return lambda jobs, rng: rng.integers(low, high + 1, jobs)


def normal(mean: float, deviation: float) -> Callable[[int, np.random.Generator], np.ndarray]:
    """Return what draws from a normal distribution, rounded, 1 at least."""
    return lambda jobs, rng: np.maximum(np.rint(rng.normal(mean, deviation, jobs)), 1).astype(int)


def non_uniform(high: int) -> Callable[[int, np.random.Generator], np.ndarray]:
    """Return what draws 98% of the times from the uppermost tenth and 2% from the lowest fifth."""

    def draw(jobs: int, rng: np.random.Generator) -> np.ndarray:
        long = rng.integers(round(0.9 * (high - 1)), high + 1, jobs)
        return np.where(
            rng.random(jobs) < 0.98, long, rng.integers(1, round(0.2 * (high - 1)), jobs)
        )

    return draw


# Franca, Gendreau, Laporte and Muller 1994, doi:10.1016/0305-0548(94)90053-1, as Frangioni,
# Necciari and Scutella 2004 describe them, doi:10.1023/B:JOCO.0000031420.05971.29.
FRANCA = ((10, 5), *((jobs, m) for jobs in (50, 100, 500, 1000) for m in MACHINES))
# Two to three jobs a machine, where the average is no close bound: the classes of Dell'Amico and
# Martello 1995, doi:10.1287/ijoc.7.2.191, and of Haouari and Jemmali 2008,
# doi:10.1016/j.disopt.2007.10.001, of fewer sizes.
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


@dataclass(frozen=True)
class Answer:
    """What a way found: None where nothing; a bound of 0 where nothing is known."""

    value: int | None
    bound: int
    seconds: float


def group_of(times: np.ndarray, machines: int) -> Group:
    """Return a group of one topic that all read and nobody owns."""
    return Group.from_arrays(
        group="makespan",
        topics=["t"],
        partitions=[len(times)],
        members=[f"c{m:04}" for m in range(machines)],
        subscription_indptr=[0, 1],
        subscription_topics=[0],
        subscription_row=[0] * machines,
        lag=times,
    )


def answer(times: np.ndarray, machines: int, method: MethodName) -> Answer:
    """Return what a method makes of `peak_lag`."""
    group, start = group_of(times, machines), perf_counter()
    solution = solve(group, "peak_lag", method=method, time_limit=SECONDS)
    seconds = perf_counter() - start
    if not solution.terms:
        return Answer(None, 0, seconds)
    return Answer(solution.terms[0].value, solution.terms[0].bound or 0, seconds)


WAYS: tuple[MethodName, ...] = ("exchange", "cp-sat")


def compare(one: Class, instances: int) -> None:
    """Print the row of a class; a gap is to the highest bound that any way has."""
    answers: dict[str, list[Answer]] = {name: [] for name in WAYS}
    for jobs, machines in one.sizes:
        for seed in range(1, instances + 1):
            times = one.draw(jobs, np.random.default_rng((seed, jobs, machines)))
            for name in WAYS:
                answers[name].append(answer(times, machines, name))
    bounds = [max(one.bound for one in each) for each in zip(*answers.values(), strict=True)]
    values = [
        min((one.value for one in each if one.value is not None), default=0)
        for each in zip(*answers.values(), strict=True)
    ]
    if any(0 < value < bound for value, bound in zip(values, bounds, strict=True)):
        raise RuntimeError(f"{one.name}: a way found less than another's bound")
    row(one.name, len(bounds), *(_cell(found, bounds) for found in answers.values()))


def _cell(found: list[Answer], bounds: list[int]) -> str:
    """Return how many are proved, the median seconds and the greatest gap."""
    proved = sum(one.value == one.bound for one in found)
    gaps = [
        100 * (one.value - bound) / bound
        for one, bound in zip(found, bounds, strict=True)
        if one.value is not None
    ]
    worst = f"{max(gaps):.3f}%" if len(gaps) == len(found) else f"{len(found) - len(gaps)} without"
    middle = median(one.seconds for one in found)
    return f"{proved} ({100 * proved / len(found):.1f}%), {middle:.3f} s, {worst}"


def main() -> None:
    """Print the table, a row at a time."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--instances", type=int, default=3, help="of each number of jobs")
    parser.add_argument("--only", default="", help="classes with these words in their name")
    asked = parser.parse_args()
    heading("class", "instances", *WAYS)
    for one in CLASSES:
        if asked.only in one.name:
            compare(one, asked.instances)


if __name__ == "__main__":
    main()
