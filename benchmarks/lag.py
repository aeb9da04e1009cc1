"""Lag by exchange, by CP-SAT alone and longest first: what is proved (docs/explanation/lag.md).

Run with ``python -m benchmarks.lag``; about a quarter of an hour with three seeds.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from functools import partial
from statistics import mean
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.differencing import balanced_differencing
from benchmarks.lag_groups import alike, differing
from benchmarks.printed import heading, row
from groups import Assignment, parse_objective, values
from heuristics import assign
from optimal import Status, solve
from optimal.flow.algorithm import flow
from optimal.loads.candidates import candidates_of, column_of, owner_of
from optimal.loads.incumbent import longest_first
from optimal.proof import Proof

if TYPE_CHECKING:
    from collections.abc import Callable

    from groups import Group
    from groups.tiers import Objective
    from optimal.solve import MethodName

# Variables of a plain program that are not written down: they do not fit in memory.
TOO_MANY = 2_000_000


@dataclass(frozen=True)
class Family:
    """Groups of one kind, an objective and the time for each."""

    name: str
    make: Callable[[int], Group]
    objective: str
    seconds: float


ONE_TOPIC = ((100, 10, 1), (200, 20, 1), (1000, 100, 2), (10_000, 1000, 30))
EVEN = "balance > peak_lag > lag_balance"
FEW = ((30, 7), (60, 20), (100, 20), (200, 50))
FAMILIES = (
    *(
        Family(f"{p} x {m}, {kind}", partial(alike, p, m, kind), "balance > peak_lag", limit)
        for p, m, limit in ONE_TOPIC
        for kind in ("uniform", "lognormal", "zipf")
    ),
    *(
        Family(f"{p} x {m}, few each", partial(alike, p, m, "uniform"), "balance > peak_lag", 20)
        for p, m in FEW
    ),
    *(
        Family(f"{p} x {m}, {kind}, then even", partial(alike, p, m, kind), EVEN, 5)
        for p, m in ((100, 10), (1000, 100))
        for kind in ("lognormal", "zipf")
    ),
    Family("10 topics of 7, x 6", partial(alike, 7, 6, "uniform", topics=10), "kip-169", 4),
    Family("4 topics of 12, x 5", partial(alike, 12, 5, "uniform", topics=4), "kip-169", 4),
    Family("differing, 500 x 50", partial(differing, 50, 20, 500), "balance > peak_lag", 20),
    Family("differing, 500 x 50, even", partial(differing, 50, 20, 500), "kip-169", 20),
)


@dataclass(frozen=True)
class Found:
    """What one way made of one group: the last value, None where an earlier one is not least."""

    value: int | None
    proved: bool
    seconds: float


def by_method(group: Group, family: Family, method: MethodName) -> tuple[Found, tuple[int, ...]]:
    """Return what a method finds, and its bound on the last tier."""
    start = perf_counter()
    solution = solve(group, family.objective, method=method, time_limit=family.seconds)
    taken = perf_counter() - start
    if not solution.terms or any(t.bound != t.value for t in solution.terms[:-1]):
        return Found(None, False, taken), ()
    bounds = tuple(term.bound or 0 for term in solution.terms)
    return Found(solution.terms[-1].value, solution.status is Status.OPTIMAL, taken), bounds


def by_longest_first(group: Group, objective: Objective, least: tuple[int, ...]) -> Found:
    """Return what the longest-first rule makes of it under the counts of the first tier."""
    start = perf_counter()
    first = flow(group, objective[:1])
    proof = first.proof
    if objective[0] == "balance":
        proof = Proof(proof.kind, proof.level, np.zeros(len(group.members), np.int64))
    candidates = candidates_of(group, objective[:1], proof, column_of(group, objective[1]))
    holder = longest_first(candidates)
    taken = perf_counter() - start
    if holder is None:
        return Found(None, False, taken)
    return found(Assignment(group, owner_of(group, candidates, holder)), objective, least, taken)


def found(
    assignment: Assignment, objective: Objective, least: tuple[int, ...], seconds: float
) -> Found:
    """Return the last value of an assignment, if the earlier ones are the least ones."""
    *earlier, last = values(assignment, objective)
    return Found(last if tuple(earlier) == least else None, False, seconds)


def by_differencing(group: Group, objective: Objective, least: tuple[int, ...]) -> Found:
    """Return what balanced differencing makes of it; it knows one count for all."""
    start = perf_counter()
    alike_members = len(np.unique(group.subscription_row)) == 1
    if objective[0] != "balance" or not alike_members or group.lag_records is None:
        return Found(None, False, 0)
    holder = balanced_differencing(group.lag_records.astype(np.int64), len(group.members))
    taken = perf_counter() - start
    return found(Assignment(group, holder.astype(np.int32)), objective, least, taken)


def by_rule(group: Group, objective: Objective, least: tuple[int, ...]) -> Found:
    """Return what KIP-169's rule makes of it."""
    start = perf_counter()
    assignment = assign(group, "kip-169-lag")
    taken = perf_counter() - start
    return found(assignment, objective, least, taken)


def compare(family: Family, seeds: int) -> None:
    """Print the row of a family: proved and mean gap of each way, in percent of our bound."""
    cells: dict[str, list[tuple[Found, int]]] = {name: [] for name in WAYS}
    for number in range(1, seeds + 1):
        group, objective = family.make(number), parse_objective(family.objective)
        ours, bounds = by_method(group, family, "exchange")
        *earlier, least = bounds or (0,)
        cells["exchange"].append((ours, least))
        if group.n_partitions * len(group.members) <= TOO_MANY:
            cells["cp-sat"].append((by_method(group, family, "cp-sat")[0], least))
        for name, rule in RULES.items():
            cells[name].append((rule(group, objective, tuple(earlier)), least))
    row(family.name, f"{family.seconds:g}", *map(_cell, cells.values()))


RULES = {
    "longest first": by_longest_first,
    "differencing": by_differencing,
    "kip-169-lag": by_rule,
}
WAYS = ("exchange", "cp-sat", *RULES)


def _cell(ways: list[tuple[Found, int]]) -> str:
    """Return how many are proved, the mean gap and the mean time."""
    if not ways:
        return "too large"
    answers = [(one.value, bound) for one, bound in ways if one.value is not None]
    proved = sum(one.proved for one, _ in ways)
    gap = "no answer"
    if answers:
        gap = f"{100 * mean((value - bound) / max(1, bound) for value, bound in answers):.4f}%"
        if len(answers) < len(ways):
            gap += f" of {len(answers)}"
    return f"{proved}/{len(ways)}, {gap}, {mean(one.seconds for one, _ in ways):.2f} s"


def main() -> None:
    """Print the table, a row at a time."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--only", default="", help="families with these words in their name")
    asked = parser.parse_args()
    heading("partitions x members", "limit (s)", *WAYS)
    for family in FAMILIES:
        if asked.only in family.name:
            compare(family, asked.seeds)


if __name__ == "__main__":
    main()
