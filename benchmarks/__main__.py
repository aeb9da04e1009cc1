"""Time the exact solver by the protocol of docs/findings/benchmarks.md and print the tables."""

from __future__ import annotations

import resource
import sys
from functools import partial
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from benchmarks.instances import INSTANCES, SEED, some_topics
from benchmarks.rivals import one_convex_flow
from compare.samples.families import Family
from optimal import solve, solve_many
from studies.in_turn import fresh, in_turn, solving

if TYPE_CHECKING:
    from collections.abc import Callable

    from groups.group import Group
    from optimal.solution import Solution

RUNS = 7
RIVALS: tuple[Literal["cp-sat", "ilp"], ...] = ("cp-sat", "ilp")
FLEET = 4000
FITTED = (10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000, 10_000_000)


def seconds(
    call: Callable[[Any], object], prepare: Callable[[], Any], runs: int = RUNS
) -> tuple[float, float, float]:
    """Return least, median and greatest seconds of a call on what `prepare` makes, untimed.

    One call before is not counted.
    """
    call(prepare())
    taken = []
    for _ in range(runs):
        given = prepare()
        start = perf_counter()
        call(given)
        taken.append(perf_counter() - start)
    return min(taken), median(taken), max(taken)


def bars() -> None:
    """Print a row per instance: bar, seconds of the solve, and with the group built first."""
    _say("| group | bar (s) | least | median | greatest | built too | method | balance, moves |")
    _say("|---|---|---|---|---|---|---|---|")
    for name, (bar, build) in INSTANCES.items():
        group = build()
        solution = solve(group)
        least, middle, greatest = seconds(solve, partial(fresh, group))
        _, built, _ = seconds(lambda given: solve(fresh(given)), partial(fresh, group))
        terms = ", ".join(str(term.value) for term in solution.terms)
        _say(
            f"| {name} | {bar} | {least:.4f} | {middle:.4f} | {greatest:.4f} | {built:.4f} | "
            f"{solution.method}, {solution.status} | {terms} |"
        )


def fleets() -> None:
    """Print how many small groups a second are solved, together and one by one."""
    rng = np.random.default_rng(SEED)
    drawn = [int(rng.integers(2**31)) for _ in range(FLEET)]
    fleet = [Family(10, 6, 6, "random", "join-one").group(seed) for seed in drawn]
    _, together, _ = seconds(solve_many, lambda: [fresh(group) for group in fleet])
    some = fleet[:500]
    _, alone, _ = seconds(lambda groups: [*map(solve, groups)], lambda: [*map(fresh, some)])
    _say(f"\n{FLEET / together:.0f} groups of 10 x 60 a second together, {500 / alone:.0f} alone")


def reading() -> None:
    """Print how far a solve is from reading its input arrays once."""
    group = INSTANCES["2000 x 1,000,000, equal, one joins"][1]()
    columns = (group.owner, group.subscription_topics, group.subscription_indptr, group.partitions)
    _, once, _ = seconds(lambda given: [int(column.sum()) for column in given], lambda: columns)
    _, whole, _ = seconds(solve, partial(fresh, group))
    _say(f"2000 x 1,000,000, equal, one joins: {whole / once:.0f} times reading the arrays once")


def rivals() -> None:
    """Print the same optimum found in other ways, in turn."""
    _say("\n| group | way | ours (s) | its median (s) | times ours | warm-up + runs of each |")
    _say("|---|---|---|---|---|---|")
    large = some_topics(1000, 100_000, 100, 10)
    small = Family(8, 3, 6, "random", "join-one").group(SEED)
    _rival("1000 x 100,000", large, "one convex flow", one_convex_flow)
    for method in RIVALS:
        _rival("8 x 24", small, method, lambda group, by=method: _values(solve(group, method=by)))  # type: ignore[misc]


def _rival(
    name: str, group: Group, way: str, optimum: Callable[[Group], tuple[float, ...]]
) -> None:
    if optimum(group) != _values(solve(group)):
        raise RuntimeError(f"{way} has another optimum")

    def theirs() -> float:
        given = fresh(group)
        started = perf_counter()
        optimum(given)
        return perf_counter() - started

    came = in_turn(partial(solving, group), theirs, warm=1, runs=RUNS)
    ours, its = came.medians
    _say(f"| {name} | {way} | {ours:.4f} | {its:.4f} | {came.times:.0f} | {came.protocol} |")


def _values(solution: Solution) -> tuple[float, ...]:
    return tuple(term.value for term in solution.terms)


def growth() -> None:
    """Print time and peak memory over the number of partitions, with the line fitted to them."""
    _say("\n| partitions | median (s) | microseconds a partition | peak memory (GB) |")
    _say("|---|---|---|---|")
    times = []
    for partitions in FITTED:
        group = some_topics(max(partitions // 100, 10), partitions, 1000, 10)
        _, middle, _ = seconds(solve, partial(fresh, group), 3)
        times.append(middle)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
        _say(f"| {partitions:,} | {middle:.4f} | {1e6 * middle / partitions:.2f} | {peak:.2f} |")
    slope = np.polyfit(np.log(FITTED), np.log(times), 1)[0]
    _say(f"\ntime grows with the {slope:.2f}th power of the number of partitions (log-log fit)")


def main() -> None:
    """Print every table."""
    bars()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    _say(f"\npeak memory of all of these: {peak:.2f} GB")
    fleets()
    reading()
    rivals()
    growth()


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
