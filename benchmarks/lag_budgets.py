"""Lag within budgets, times of different rates, moves after a peak (docs/explanation/lag.md).

Run with ``python -m benchmarks.lag_budgets``; some minutes with three seeds.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass, field, replace
from statistics import mean
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.lag_groups import alike
from benchmarks.printed import heading, row
from groups.columns.places import MemberDetails
from optimal import Status, solve

if TYPE_CHECKING:
    from collections.abc import Mapping

    from groups import Group
    from optimal import Solution
    from optimal.solve import MethodName

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


def cell(solutions: list[Solution]) -> str:
    """Return how many are proved, the mean gap of the last tier and the mean time."""
    proved = sum(one.status is Status.OPTIMAL for one in solutions)
    gaps = []
    for one in solutions:
        last = one.terms[-1] if one.terms else None
        if last is not None and last.bound is not None:
            gaps.append((last.value - last.bound) / max(1, last.bound))
    gap = f"{100 * mean(gaps):.3f}%" if gaps else "no bound"
    if gaps and len(gaps) < len(solutions):
        gap += f" of {len(gaps)}"
    seconds = mean(one.seconds for one in solutions)
    return f"{proved}/{len(solutions)}, {gap}, {seconds:.2f} s"


def compare(question: Question, seeds: int) -> None:
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
        cells[at] = cell(found)
    row(question.name, *cells)


def main() -> None:
    """Print the table, a row at a time."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--only", default="", help="rows with these words in them")
    asked = parser.parse_args()
    heading("partitions x members", "question", "exchange", "cp-sat")
    for question in questions():
        if asked.only in question.name:
            compare(question, asked.seeds)


if __name__ == "__main__":
    main()
