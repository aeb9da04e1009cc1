"""Both checkers on many seeded groups and claims: a count of what was met.

Run with ``python -m tests.optimal.audit_sweep --seed 2 --claims 100000``. Three kinds of claims:
answers of the exact method; the same with partitions moved or integers changed; and objects forged
for tiny groups, which are held against brute force as well.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from itertools import permutations
from multiprocessing import get_context
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np

from groups import BadInput
from optimal import Solution, solve
from tests.optimal.conditions import CERTIFIED
from tests.optimal.forgery import judge
from tests.optimal.judging import claimed, is_accepted, readers_of
from tests.optimal.random_groups import random_group

if TYPE_CHECKING:
    from groups import Group

OBJECTIVES = [
    *(order for size in range(1, 5) for order in permutations(CERTIFIED, size)),
    ("topic_balance",),
]
STEPS = (-2, -1, -1, 1, 1, 2)
BESIDE = 12
FORGED = 24
LARGE = (2**20, 2**45, 2**57, 2**61)


def any_group(rng: random.Random) -> Group:
    """A group of up to 8 members and 40 partitions; some with equal rows, some that weigh much."""
    group = random_group(rng, members=rng.randint(1, 8), partitions=rng.randint(1, 40))
    kind = rng.randrange(8)
    if kind == 0:
        return with_a_row_each(group)
    if kind == 1 and group.weight is not None:
        times = rng.choice(LARGE) // (int(group.weight.sum()) + 1)
        return replace(group, weight=group.weight * times)
    return group


def with_a_row_each(group: Group) -> Group:
    """The same group with a row of the subscriptions for each member, equal rows or not."""
    rows = np.split(group.subscription_topics, group.subscription_indptr[1:-1])
    each = [rows[row] for row in group.subscription_row.tolist()]
    return replace(
        group,
        subscription_indptr=np.cumsum([0, *map(len, each)], dtype=np.int64),
        subscription_topics=np.concatenate([np.empty(0, np.int32), *each]),
        subscription_row=np.arange(len(each), dtype=np.int32),
    )


def beside(rng: random.Random, genuine: Solution) -> Solution:
    """An answer near a right one: partitions moved to other readers, integers changed."""
    group, proof = genuine.group, genuine.proof
    owner = genuine.assignment.owner.copy()
    readers = readers_of(group)
    for _ in range(rng.choice((0, 0, 1, 2))):
        if readers:
            partition = rng.choice(list(readers))
            owner[partition] = rng.choice(readers[partition])
    level, price = (
        None if column is None else column.copy() for column in (proof.level, proof.price)
    )
    for column in (level, price):
        if column is not None and len(column) and rng.random() < 0.5:
            column[rng.randrange(len(column))] += rng.choice(STEPS)
        if column is not None and rng.random() < 0.2:
            column += rng.choice(STEPS)
    scale = tuple(unit + rng.choice((0, 0, 0, -1, 1)) for unit in proof.scale)
    return claimed(group, owner, genuine.objective, level, price, scale)


def met(seed: int, number: int) -> Counter[str]:
    """What was met with a group, its answer and claims beside it, and forged for a tiny group."""
    rng = random.Random(f"{seed} {number}")
    group, objective = any_group(rng), rng.choice(OBJECTIVES)
    found = Counter[str]()
    try:
        genuine = solve(group, objective, method=rng.choice(("flow", "auto")))
    except BadInput:
        found["too large to solve"] += 1
    else:
        found += Counter({"right": 1, "right, accepted": is_accepted(group, genuine)})
        for _ in range(BESIDE):
            found["beside"] += 1
            found["beside, accepted"] += is_accepted(group, beside(rng, genuine))
    tiny = random_group(rng, members=3, partitions=rng.randint(1, 5))
    forged = judge(rng, tiny, rng.choice(OBJECTIVES), FORGED)
    found += Counter({f"forged, {what}": count for what, count in forged.items()})
    found["forged"] += FORGED
    return found


def claims(found: Counter[str]) -> int:
    """How many claims were judged by both checkers."""
    return found["right"] + found["beside"] + found["forged"]


def sweep(seed: int, groups: range, *, processes: int = 2) -> Counter[str]:
    """What was met with some groups of a seed; an AssertionError where the checkers disagree."""
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        return sum(pool.map(met, [seed] * len(groups), groups, chunksize=20), Counter[str]())


def main() -> int:
    """Sweep and print what was met."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--claims", type=int, default=100_000)
    parser.add_argument("--processes", type=int, default=2)
    asked = parser.parse_args()
    start, found, done = perf_counter(), Counter[str](), 0
    while claims(found) < asked.claims:
        found += sweep(asked.seed, range(done, done + 500), processes=asked.processes)
        done += 500
    lines = [f"{what:32}{count:10}" for what, count in sorted(found.items())]
    lines.append(
        f"seed {asked.seed}: {done} groups, {claims(found)} claims, both checkers of one mind, "
        f"{perf_counter() - start:.0f} s"
    )
    sys.stdout.write("\n".join(lines) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
