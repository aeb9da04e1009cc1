"""Both checkers on a seeded group and claims: a count of what was met.

Three kinds of claims: answers of the exact method; the same with partitions moved or integers
changed; and objects forged for tiny groups, which are held against brute force as well.
"""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from itertools import permutations
from typing import TYPE_CHECKING

import numpy as np

from groups import BadInput
from optimal import Solution, solve
from tests.optimal.forgery import judge
from tests.optimal.judging import claimed, is_accepted, readers_of
from tests.optimal.random_groups import random_group

if TYPE_CHECKING:
    from groups import Group

CERTIFIED = ("balance", "stickiness", "moved_weight", "racks")
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
