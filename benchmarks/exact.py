"""The exact solver, alone, with hosts, and beside other ways to the same optimum."""

from __future__ import annotations

import resource
from dataclasses import replace
from functools import partial
from statistics import median
from typing import TYPE_CHECKING, Literal, TypeVar

import numpy as np
from ortools.graph.python import min_cost_flow

from benchmarks.instances import INSTANCES, SEED, some_topics
from benchmarks.printed import heading, row, say
from compare.samples.families import Family
from groups.columns.places import MemberDetails
from optimal import Status, solve
from studies.in_turn import in_turn, solving, timed

if TYPE_CHECKING:
    from collections.abc import Callable

    from groups.group import Group
    from optimal.solution import Solution

Given = TypeVar("Given")
RUNS = 7
RIVALS: tuple[Literal["cp-sat", "ilp"], ...] = ("cp-sat", "ilp")
FITTED = (10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000, 10_000_000)


def seconds(
    call: Callable[[Given], object], prepare: Callable[[], Given], runs: int = RUNS
) -> tuple[float, float, float]:
    """Return least, median and greatest seconds of a call on what `prepare` returns, untimed.

    One warm-up call is not counted.
    """
    (taken,) = in_turn(lambda: timed(partial(call, prepare())), warm=1, runs=runs).seconds
    return min(taken), median(taken), max(taken)


def bars() -> None:
    """Print a row per instance: time goal, seconds of the solve, and with the group built."""
    heading(
        "group", "bar (s)", "least", "median", "greatest", "built too", "method", "balance, moves"
    )
    for name, (bar, build) in INSTANCES.items():
        group = build()
        solution = solve(group)
        taken = seconds(solve, partial(replace, group))
        _, built, _ = seconds(lambda given: solve(replace(given)), partial(replace, group))
        terms = ", ".join(str(term.value) for term in solution.terms)
        figures = (f"{each:.4f}" for each in (*taken, built))
        row(name, bar, *figures, f"{solution.method}, {solution.status}", terms)


def rivals() -> None:
    """Print the times of other ways to the same optimum, measured in turn."""
    heading("group", "way", "ours (s)", "its median (s)", "times ours", "warm-up + runs of each")
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
    sides = in_turn(
        partial(solving, group), lambda: timed(partial(optimum, replace(group))), warm=1, runs=RUNS
    )
    row(name, way, *(f"{one:.4f}" for one in sides.medians), f"{sides.times:.0f}", sides.protocol)


def _values(solution: Solution) -> tuple[float, ...]:
    return tuple(term.value for term in solution.terms)


def one_convex_flow(group: Group) -> tuple[int, ...]:
    """Solve balance > stickiness as a single min-cost flow; return the values of both tiers.

    Partitions of one topic and owner are one source. Each member has an arc for each step, of
    which the k-th costs 2k - 1 times more than all moves together. There are no levels and no
    classes of members.
    """
    members, topics = len(group.members), len(group.topics)
    weight = group.n_partitions + 1
    read = group.readers[group.topic] > 0
    reader, listed = group.subscription_pairs
    key = group.topic[read].astype(np.int64) * (members + 1) + group.owner[read] + 1
    pairs, count = np.unique(key, return_counts=True)
    topic, owner = pairs // (members + 1), pairs % (members + 1) - 1
    owned = owner >= 0
    supply = np.bincount(topic, count, topics).astype(np.int64)
    first_member = topics
    most = int(2 * supply.sum() / max(members, 1)) + int(count.max(initial=0)) + 2
    step = np.tile(np.arange(1, most + 1), members)
    last = first_member + np.repeat(np.arange(members), most)
    tail = np.concatenate((topic[owned], listed, last))
    head = first_member + np.concatenate((owner[owned], reader, np.full(len(last), members)))
    room = np.concatenate((count[owned], supply[listed], np.ones(len(last), np.int64)))
    kept_first = np.repeat((-1, 0), (owned.sum(), len(listed)))
    cost = np.concatenate((kept_first, (2 * step - 1) * weight))
    flow = min_cost_flow.SimpleMinCostFlow()
    arcs = flow.add_arcs_with_capacity_and_unit_cost(tail, head, room, cost)
    nodes = np.concatenate((supply, np.zeros(members, np.int64), [-supply.sum()]))
    flow.set_nodes_supplies(np.arange(len(nodes)), nodes)
    if flow.solve() != flow.OPTIMAL:
        raise RuntimeError("the one convex flow did not end optimal")
    found = flow.flows(arcs)
    kept = int(found[: int(owned.sum())].sum())
    loads = np.bincount(head[: -members * most] - first_member, found[: -members * most], members)
    ordered = np.sort(loads.astype(np.int64))
    score = int(((2 * np.arange(members) - members + 1) * ordered).sum())
    return score, int(count[owned].sum()) - kept


def growth() -> None:
    """Print time and peak memory over the number of partitions, with the line fitted to them."""
    heading("partitions", "median (s)", "microseconds a partition", "peak memory (GB)")
    times = []
    for partitions in FITTED:
        group = some_topics(max(partitions // 100, 10), partitions, 1000, 10)
        _, middle, _ = seconds(solve, partial(replace, group), 3)
        times.append(middle)
        each = f"{1e6 * middle / partitions:.2f}"
        row(f"{partitions:,}", f"{middle:.4f}", each, f"{_peak_memory():.2f}")
    slope = np.polyfit(np.log(FITTED), np.log(times), 1)[0]
    say(f"\ntime grows with the {slope:.2f}th power of the number of partitions (log-log fit)")


def _peak_memory() -> float:
    """Return the peak memory of this process in gigabytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


THREADS = 4
PLAIN = "balance > stickiness"
ASKED = (
    "balance > host_balance > stickiness",
    "host_balance > balance > stickiness",
    "host_balance > load_squares > stickiness",
)
POINTS = [
    Family(members, partitions // members, max(2, members // 10), subscriptions, "join-one")
    for members, partitions in ((10, 60), (100, 1000), (1000, 10_000))
    for subscriptions in ("equal", "random")
]


def hosts(seed: int) -> None:
    """Print a row per group: milliseconds without hosts, and the factor with each objective."""
    heading("group", "ms", *(f"{one} (*: feasible only)" for one in ASKED))
    for point in POINTS:
        group = point.group(seed)
        pods = (MemberDetails(host=f"h{m // THREADS}") for m in range(point.members))
        group = replace(group, details=tuple(pods))
        cells = []
        for objective in ASKED:
            found = solve(group, objective)
            both = (partial(solving, group, one) for one in (PLAIN, objective))
            sides = in_turn(*both, patience=20)
            known = "" if found.status is Status.OPTIMAL else "*"
            cells.append(f"{sides.times:.1f}{known}")
        row(point.name, f"{1000 * sides.medians[0]:.2f}", *cells)


def exact() -> None:
    """Print all tables of the exact solver."""
    bars()
    say(f"\npeak memory of all of these: {_peak_memory():.2f} GB")
    rivals()
    growth()
