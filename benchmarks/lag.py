"""What exchange, CP-SAT alone and simple rules prove of lag.

The tables are those of docs/explanation/lag.md, and that of the classes of P||Cmax in
docs/findings/benchmarks.md.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field, replace
from functools import partial
from heapq import heapify, heappop, heappush
from statistics import mean, median
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from benchmarks.instances import alike, differing, reading_all
from benchmarks.printed import heading, row
from groups import Assignment, parse_objective, values
from groups.columns.places import MemberDetails
from heuristics import assign
from optimal import solve
from optimal.flow.algorithm import flow
from optimal.loads.candidates import candidates_of, column_of, owner_of
from optimal.loads.incumbent import longest_first
from optimal.proof import Proof

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from groups import Group
    from groups.arrays import Int64
    from groups.tiers import Objective
    from optimal.solve import MethodName

# The most partitions times members for CP-SAT alone: with more, its program does not fit in
# memory, or for questions with budgets is not built within their seconds.
TOO_MANY, PLAIN = 2_000_000, 2000


@dataclass(frozen=True)
class Question:
    """Groups of one kind, by seed, with an objective, budgets and the seconds for each group."""

    name: str
    group: Callable[[int], Group]
    objective: str
    seconds: float = 3
    at_most: Mapping[str, int] = field(default_factory=dict)


class Answer(NamedTuple):
    """What a method finds in the last tier for one group.

    Attributes
    ----------
    value : None if nothing was found, or an earlier tier is not optimal
    bound : None if none is known
    """

    value: int | None
    bound: int | None
    seconds: float


def ask(
    group: Group,
    objective: str,
    method: MethodName,
    seconds: float,
    at_most: Mapping[str, int] | None = None,
) -> tuple[Answer, list[int]]:
    """Return what a method finds in the last tier, and the values of the earlier tiers."""
    found = solve(group, objective, method=method, time_limit=seconds, at_most=at_most)
    if not found.terms or any(term.bound != term.value for term in found.terms[:-1]):
        return Answer(None, None, found.seconds), []
    *earlier, last = found.terms
    return Answer(last.value, last.bound, found.seconds), [one.value for one in earlier]


def gap(value: int, bound: int) -> float:
    """Return how far a value is above a bound, in percent of the bound."""
    return 100 * (value - bound) / max(1, bound)


def cell(answers: Sequence[Answer], bounds: Sequence[int | None], form: str) -> str:
    """Return a cell: how many groups are proved, the mean gap to bounds and the mean time."""
    gaps = [
        gap(one.value, bound)
        for one, bound in zip(answers, bounds, strict=True)
        if one.value is not None and bound is not None
    ]
    proved = sum(one.value is not None and one.value == one.bound for one in answers)
    text = f"{mean(gaps):{form}}%" if gaps else "no answer"
    some = f" of {len(gaps)}" if 0 < len(gaps) < len(answers) else ""
    return f"{proved}/{len(answers)}, {text}{some}, {mean(one.seconds for one in answers):.2f} s"


ONE_TOPIC = ((100, 10, 1), (200, 20, 1), (1000, 100, 2), (10_000, 1000, 30))
PEAK, EVEN = "balance > peak_lag", "balance > peak_lag > lag_balance"
FEW = ((30, 7), (60, 20), (100, 20), (200, 50))
PEAKS = (
    *(
        Question(f"{p} x {m}, {kind}", partial(alike, p, m, kind), PEAK, limit)
        for p, m, limit in ONE_TOPIC
        for kind in ("uniform", "lognormal", "zipf")
    ),
    *(Question(f"{p} x {m}, few each", partial(alike, p, m, "uniform"), PEAK, 20) for p, m in FEW),
    *(
        Question(f"{p} x {m}, {kind}, then even", partial(alike, p, m, kind), EVEN, 5)
        for p, m in ((100, 10), (1000, 100))
        for kind in ("lognormal", "zipf")
    ),
    Question("10 topics of 7, x 6", partial(alike, 7, 6, "uniform", topics=10), "kip-169", 4),
    Question("4 topics of 12, x 5", partial(alike, 12, 5, "uniform", topics=4), "kip-169", 4),
    Question("differing, 500 x 50", partial(differing, 50, 20, 500), PEAK, 20),
    Question("differing, 500 x 50, even", partial(differing, 50, 20, 500), "kip-169", 20),
)


def by_longest_first(group: Group, objective: Objective) -> Assignment | None:
    """Return the assignment by the longest-first rule under the counts of the first tier."""
    proof = flow(group, objective[:1]).proof
    if objective[0] == "balance":
        proof = Proof(proof.kind, proof.level, np.zeros(len(group.members), np.int64))
    candidates = candidates_of(group, objective[:1], proof, column_of(group, objective[1]))
    holder = longest_first(candidates)
    return None if holder is None else Assignment(group, owner_of(group, candidates, holder))


def balanced_differencing(size: Int64, members: int) -> Int64:
    """(partitions,) int64: the member of each partition, by the method BLDM.

    Partitions in descending order are cut into rows of one partition per member. The two rows of
    the greatest differences are merged, greatest to least, until one row is left.

    Source: Michiels, Korst, Aarts and van Leeuwen, Performance ratios for the differencing
    method applied to the balanced number partitioning problem, STACS 2003,
    doi:10.1007/3-540-36494-3_51.

    Parameters
    ----------
    size : (partitions,) int64, weight of each
    """
    holder = np.full(len(size), -1, np.int64)
    if not len(size):
        return holder
    order = np.argsort(-size, kind="stable")
    # Dummy partitions of weight 0 fill up the last row.
    padded = np.concatenate((order, np.full(-len(size) % members, -1, np.int64)))
    rows = [row[:, None] for row in padded.reshape(-1, members)]
    weight = np.append(size, 0)
    queue = [(-_difference(weight, row), number, row) for number, row in enumerate(rows)]
    heapify(queue)
    number = len(rows)
    while len(queue) > 1:
        (_, _, one), (_, _, other) = heappop(queue), heappop(queue)
        up = one[np.argsort(weight[one].sum(axis=1), kind="stable")]
        down = other[np.argsort(-weight[other].sum(axis=1), kind="stable")]
        row = np.concatenate((up, down), axis=1)
        heappush(queue, (-_difference(weight, row), number, row))
        number += 1
    last = queue[0][2]
    held = last >= 0
    holder[last[held]] = np.nonzero(held)[0]
    return holder


def _difference(weight: Int64, row: Int64) -> int:
    """Return the greatest sum of a row minus the least."""
    sums = weight[row].sum(axis=1)
    return int(sums.max() - sums.min())


def by_differencing(group: Group, objective: Objective) -> Assignment | None:
    """Return the assignment by balanced differencing, None unless one count holds for all."""
    read_alike = len(np.unique(group.subscription_row)) == 1
    if objective[0] != "balance" or not read_alike or group.lag_records is None:
        return None
    holder = balanced_differencing(group.lag_records.astype(np.int64), len(group.members))
    return Assignment(group, holder.astype(np.int32))


RULES: Mapping[str, Callable[[Group, Objective], Assignment | None]] = {
    "longest first": by_longest_first,
    "differencing": by_differencing,
    "kip-169-lag": lambda group, _: assign(group, "kip-169-lag"),
}


def peaks(seeds: int, only: str) -> None:
    """Print a row per question: proved and mean gap of each method, in percent of our bound."""
    ways: tuple[MethodName, ...] = ("exchange", "cp-sat")
    heading("partitions x members", "limit (s)", *ways, *RULES)
    for question in PEAKS:
        if only not in question.name:
            continue
        found = defaultdict[str, list[Answer]](list)
        for seed in range(1, seeds + 1):
            group, objective = question.group(seed), parse_objective(question.objective)
            ours, earlier = ask(group, question.objective, "exchange", question.seconds)
            found["exchange"].append(ours)
            if group.n_partitions * len(group.members) <= TOO_MANY:
                theirs, _ = ask(group, question.objective, "cp-sat", question.seconds)
                found["cp-sat"].append(theirs)
            for name, rule in RULES.items():
                start = perf_counter()
                made = rule(group, objective)
                seconds = perf_counter() - start
                *before, last = (None,) if made is None else values(made, objective)
                found[name].append(Answer(last if before == earlier else None, None, seconds))
        bounds = [one.bound for one in found["exchange"]]
        cells = (cell(found[name], bounds, ".4f") for name in (*ways, *RULES) if name in found)
        row(question.name, f"{question.seconds:g}", *cells)


def owned(partitions: int, members: int, kind: str, seed: int) -> Group:
    """Return a group with random owners, whose members read 50 to 200 records per second."""
    rng = np.random.default_rng(100 + seed)
    owner = rng.integers(0, members, partitions).astype(np.int32)
    rates = rng.integers(50, 201, members).tolist()
    details = tuple(MemberDetails(capacity=rate) for rate in rates)
    return replace(alike(partitions, members, kind, seed), owner=owner, details=details)


def questions() -> list[Question]:
    """Return the questions with budgets: each for two sizes and three distributions of lag."""
    asked: list[Question] = []
    for p, m in ((100, 10), (1000, 100)):
        of_size: tuple[tuple[str, dict[str, int]], ...] = (
            ("peak_lag", {"stickiness": m // 2}),
            ("peak_lag", {"stickiness": 3 * m}),
            (PEAK, {"stickiness": 4 * m}),
            ("peak_lag", {"load_spread": 2}),
            ("balance > peak_time", {}),
            ("balance > peak_lag > stickiness", {}),
            ("lag_balance", {}),
        )
        for kind in ("uniform", "lognormal", "zipf"):
            for objective, at_most in of_size:
                words = [objective, *(f"{tier} at most {most}" for tier, most in at_most.items())]
                name = f"{p} x {m}, {kind} | {', '.join(words)}"
                group = partial(owned, p, m, kind)
                asked.append(Question(name, group, objective, at_most=at_most))
    return asked


def budgets(seeds: int, only: str) -> None:
    """Print a row per question: what exchanges find, and CP-SAT alone if the group is small."""
    heading("partitions x members", "question", "exchange", "cp-sat")
    for question in questions():
        if only not in question.name:
            continue
        groups = [question.group(seed) for seed in range(1, seeds + 1)]
        is_small = groups[0].n_partitions * len(groups[0].members) <= PLAIN
        ways: tuple[MethodName, ...] = ("exchange", "cp-sat") if is_small else ("exchange",)
        asked = question.objective, question.seconds, question.at_most
        found = [[ask(group, asked[0], way, *asked[1:])[0] for group in groups] for way in ways]
        cells = [cell(some, [one.bound for one in some], ".3f") for some in found]
        row(question.name, *cells, *["not run"] * (2 - len(ways)))


# Seconds of each method for an instance of P||Cmax.
SECONDS = 20.0
MACHINES = 5, 10, 25


@dataclass(frozen=True)
class Class:
    """Instances of P||Cmax of one kind: partitions are jobs, lag is their time, members machines.

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
        row(one.name, len(groups), *(_worst(of, bounds) for of in zip(*found, strict=True)))


def _worst(found: Sequence[Answer], bounds: Sequence[int]) -> str:
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
