"""Lag by exchange, by CP-SAT alone and by rules: what is proved (docs/explanation/lag.md).

``python -m benchmarks.lag peaks`` takes about a quarter of an hour with three seeds; ``budgets``,
which has times of different rates and moves after a peak too, some minutes.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass, field, replace
from functools import partial
from statistics import mean
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.differencing import balanced_differencing
from benchmarks.lag_groups import alike, differing
from benchmarks.printed import heading, row
from groups import Assignment, parse_objective, values
from groups.columns.places import MemberDetails
from heuristics import assign
from optimal import Status, solve
from optimal.flow.algorithm import flow
from optimal.loads.candidates import candidates_of, column_of, owner_of
from optimal.loads.incumbent import longest_first
from optimal.proof import Proof

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

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
    gaps = [gap(one.value, bound) for one, bound in ways if one.value is not None]
    proved = [one.proved for one, _ in ways]
    return told(proved, gaps, [one.seconds for one, _ in ways], ".4f", "no answer")


def gap(value: int, bound: int) -> float:
    """Return how far a value is above a bound, as a share of that."""
    return (value - bound) / max(1, bound)


def told(
    proved: Sequence[bool], gaps: Sequence[float], seconds: Sequence[float], form: str, none: str
) -> str:
    """Return a cell: how many of some groups are proved, the mean gap and the mean time.

    Parameters
    ----------
    gaps : of the groups that have one
    form : of the gap in percent
    none : what stands there where no group has one
    """
    text = f"{100 * mean(gaps):{form}}%" if gaps else none
    some = f" of {len(gaps)}" if 0 < len(gaps) < len(seconds) else ""
    return f"{sum(proved)}/{len(seconds)}, {text}{some}, {mean(seconds):.2f} s"


# Partitions times members of which a plain program is written down in the time.
PLAIN = 2000


@dataclass(frozen=True)
class Question:
    """Groups of one size, an objective, budgets and the seconds for each."""

    partitions: int
    members: int
    kind: str
    objective: str
    at_most: Mapping[str, int] = field(default_factory=dict)
    seconds: float = 3

    @property
    def name(self) -> str:
        """What is asked, as a row of the table."""
        budgets = ", ".join(f"{tier} at most {most}" for tier, most in self.at_most.items())
        size = f"{self.partitions} x {self.members}, {self.kind}"
        return f"{size} | {self.objective}{', ' if budgets else ''}{budgets}"

    def group(self, seed: int) -> Group:
        """Partitions owned by anybody, and members that read 50 to 200 records a second."""
        rng = np.random.default_rng(100 + seed)
        group = alike(self.partitions, self.members, self.kind, seed)
        owner = rng.integers(0, self.members, self.partitions).astype(np.int32)
        rates = rng.integers(50, 201, self.members).tolist()
        details = tuple(MemberDetails(capacity=rate) for rate in rates)
        return replace(group, owner=owner, details=details)


def questions() -> list[Question]:
    """Return the rows: every question for both sizes and three kinds of lag."""
    found = []
    for p, m in ((100, 10), (1000, 100)):
        for kind in ("uniform", "lognormal", "zipf"):
            for moves in (m // 2, 3 * m):
                found.append(Question(p, m, kind, "peak_lag", {"stickiness": moves}))
            found += [
                Question(p, m, kind, "balance > peak_lag", {"stickiness": 4 * m}),
                Question(p, m, kind, "peak_lag", {"load_spread": 2}),
                Question(p, m, kind, "balance > peak_time"),
                Question(p, m, kind, "balance > peak_lag > stickiness"),
                Question(p, m, kind, "lag_balance"),
            ]
    return found


def ask(question: Question, seeds: int) -> None:
    """Print the row of a question: what exchanges find, and CP-SAT alone where it is small."""
    cells = ["not run", "not run"]
    is_small = question.partitions * question.members <= PLAIN
    ways: tuple[MethodName, ...] = ("exchange", "cp-sat")
    for at, method in enumerate(ways[: 1 + is_small]):
        found = [
            solve(
                question.group(seed),
                question.objective,
                method=method,
                time_limit=question.seconds,
                at_most=question.at_most,
            )
            for seed in range(1, seeds + 1)
        ]
        last = [one.terms[-1] for one in found if one.terms]
        gaps = [gap(term.value, term.bound) for term in last if term.bound is not None]
        proved = [one.status is Status.OPTIMAL for one in found]
        cells[at] = told(proved, gaps, [one.seconds for one in found], ".3f", "no bound")
    row(question.name, *cells)


def main() -> None:
    """Print a table, a row at a time."""
    parser = argparse.ArgumentParser(description="what is proved of lag, and how soon")
    parser.add_argument("table", choices=("peaks", "budgets"))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--only", default="", help="rows with these words in their name")
    asked = parser.parse_args()
    if asked.table == "peaks":
        heading("partitions x members", "limit (s)", *WAYS)
        for family in FAMILIES:
            if asked.only in family.name:
                compare(family, asked.seeds)
        return
    heading("partitions x members", "question", "exchange", "cp-sat")
    for question in questions():
        if asked.only in question.name:
            ask(question, asked.seeds)


if __name__ == "__main__":
    main()
