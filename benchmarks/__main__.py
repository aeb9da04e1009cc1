"""Time the exact solver by the written protocol and print the table."""

from __future__ import annotations

import resource
import sys
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.instances import INSTANCES, SEED, some_topics
from optimal import solve, solve_many

if TYPE_CHECKING:
    from collections.abc import Callable

    from groups.group import Group

RUNS = 7
FLEET = 2000


def seconds(call: Callable[[], object], runs: int = RUNS) -> tuple[float, float, float]:
    """Return least, median and greatest seconds of a call, after one that is not counted."""
    call()
    taken = []
    for _ in range(runs):
        start = perf_counter()
        call()
        taken.append(perf_counter() - start)
    return min(taken), median(taken), max(taken)


def fresh(group: Group) -> Group:
    """Return the same columns without anything that was derived from them before."""
    kept = {name: getattr(group, name) for name in group.__dataclass_fields__}
    return type(group)(**kept)


def main() -> None:
    """Print a row per instance: bar, least, median and greatest seconds, what ran."""
    _say("| group | bar (s) | least | median | greatest | method | balance, moves |")
    _say("|---|---|---|---|---|---|---|")
    for name, (bar, build) in INSTANCES.items():
        group = build()
        solution = solve(group)
        least, middle, greatest = seconds(lambda group=group: solve(fresh(group)))
        terms = ", ".join(str(term.value) for term in solution.terms)
        _say(
            f"| {name} | {bar} | {least:.4f} | {middle:.4f} | {greatest:.4f} | "
            f"{solution.method}, {solution.status} | {terms} |"
        )
    rng = np.random.default_rng(SEED)
    fleet = [_small(int(rng.integers(2**31))) for _ in range(FLEET)]
    _, together, _ = seconds(lambda: solve_many([fresh(g) for g in fleet]))
    _, alone, _ = seconds(lambda: [solve(fresh(g)) for g in fleet[:500]])
    _say(f"\n{FLEET / together:.0f} groups of 10 x 60 a second together, {500 / alone:.0f} alone")
    _say(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6:.2f} GB")


def _small(seed: int) -> Group:
    from compare.families import Family

    return Family(10, 6, 6, "random", "join-one").group(seed)


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
