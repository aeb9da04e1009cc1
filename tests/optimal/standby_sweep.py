"""Actives and standbys of small streams groups held against all that there may be, on many groups.

``python -m tests.optimal.standby_sweep --groups 20000``; with ``--together`` standbys also against
those beside all other actives that are as good.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import combinations
from math import lcm
from multiprocessing import get_context
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np

from groups import Group, values
from optimal.brute import brute
from optimal.enumeration import count
from optimal.standbys import standby_bounds, standbys_beside
from optimal.streams import StreamsSolution, solve_streams
from tests.optimal.random_groups import random_streams
from tests.optimal.small_groups import every_assignment

if TYPE_CHECKING:
    from optimal.solution import Standbys


def least(solution: StreamsSolution, replicas: int) -> tuple[tuple[int, ...], int]:
    """Return the least values of all choices of standbys, by the definitions, and their number."""
    group, document = solution.actives.group, solution.actives.group.snapshot()
    process = [document["members"][name]["process"] for name in group.members]
    copies = {
        (topic, number, member["process"])
        for member in document["members"].values()
        for role in member["tasks"].values()
        for topic, numbers in role.items()
        for number in numbers
    }
    active = solution.actives.assignment.owner.tolist()
    each = min(replicas, len({*process}) - 1)
    # One row for each choice: the number of tasks of each member, and of restored standbys.
    rows = np.array([[*(active.count(m) for m in range(len(process))), 0]])
    for p, m in enumerate(active):
        task = group.topics[group.topic[p]], int(group.number[p])
        if document["subtopologies"][task[0]]["stateful"]:
            options = np.array(
                [
                    [*(o in some for o in range(len(process))),
                     sum((*task, process[o]) not in copies for o in some)]
                    for some in combinations(range(len(process)), each)
                    if len({process[o] for o in some} - {process[m]}) == each
                ], int,
            )  # fmt: skip
            rows = (rows[:, None] + options).reshape(-1, rows.shape[1])
    number = Counter(process)
    tasks, restored = rows[:, :-1], rows[:, -1]
    even = sum(
        lcm(*number.values()) // n * tasks[:, [h == one for h in process]].sum(axis=1) ** 2
        for one, n in number.items()
    )
    found = zip((tasks**2).sum(axis=1).tolist(), even.tolist(), restored.tolist(), strict=True)
    return min(found), len(rows)


def values_of(standbys: Standbys) -> tuple[int, ...]:
    return tuple(term.value for term in standbys.terms)


def small(rng: random.Random) -> tuple[Group, int]:
    """Return a streams group, mostly of several processes, and a number of standby replicas."""
    while True:
        members, tasks = rng.choice(((3, 9), (4, 7), (5, 6), (6, 5)))
        document = random_streams(rng, members=members, tasks=tasks, processes="ABCD")
        group = Group.from_dict(document)
        several = len(group.places("host").names) > 1 and (group.copies.replicas >= 0).any()
        if several or rng.random() < 0.1:
            return group, rng.choice((0, 1, 1, 1, 2, 3))


def together(solution: StreamsSolution, replicas: int) -> tuple[int, ...]:
    """Return the least values of standbys, over all active assignments that are as good."""
    group, objective = solution.actives.group, solution.actives.objective
    best = values(solution.actives.assignment, objective)
    return min(
        values_of(standbys_beside(other, replicas))
        for other in every_assignment(group)
        if values(other, objective) == best
    )


def meet(seed: int, beside_all: bool, number: int) -> list[str]:
    """Solve the group with this number, and return in words what came of it."""
    group, replicas = small(random.Random(f"standbys {seed} {number}"))
    solution = solve_streams(group, standby_replicas=replicas)
    objective, (best, choices) = solution.actives.objective, least(solution, replicas)
    actives, bounds = solution.actives, standby_bounds(solution.actives, replicas)
    has_standbys = len(solution.standbys.task) > 0
    met = {
        "proved": actives.proof.kind == "certificate" and solution.check() == (),
        "worse actives": values(actives.assignment, objective) != brute(group, objective).bounds,
        "worse standbys": values_of(solution.standbys) != best,
        "with a choice of standbys": choices > 1,
        "with a bound above the standbys": bounds > best,
        "with standbys": has_standbys,
    }
    known = solution.bounds_by if solution.optimal_together else "nothing"
    met[f"with standbys, the best together by {known}"] = has_standbys
    if beside_all and count(group) < 1500 and has_standbys:
        of_all = together(solution, replicas)
        first = solve_streams(group, standby_replicas=replicas, together_seconds=0)
        met |= {
            "looked at together": True,
            "better together than beside the first": of_all < values_of(first.standbys),
            "better together": of_all < best,
            "with a bound above the best together": bounds > of_all,
        }
    return [words for words, holds in met.items() if holds]


def main() -> int:
    """Sweep, print the counts; return 1 if anything was not optimal."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--groups", type=int, default=20_000)
    parser.add_argument("--together", action="store_true")
    asked = parser.parse_args()
    start, work = perf_counter(), partial(meet, asked.seed, asked.together)
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        each = pool.map(work, range(asked.groups), chunksize=100)
        met = Counter(words for some in each for words in some)
    words = ", ".join(f"{number:,} {word}" for word, number in sorted(met.items()))
    seconds = perf_counter() - start
    sys.stdout.write(f"seed {asked.seed}: {asked.groups:,} groups: {words}, {seconds:.0f} s\n")
    wrong = {"worse actives", "worse standbys", "better together"}
    return int(any(words in wrong or "a bound above" in words for words in met))


if __name__ == "__main__":
    sys.exit(main())
