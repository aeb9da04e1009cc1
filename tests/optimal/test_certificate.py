"""A certificate is accepted exactly where it proves what it is said to prove."""

import random
from itertools import permutations

import numpy as np

from groups import Assignment, Group, values
from optimal import check
from optimal.brute import brute
from tests.optimal.judging import claimed, is_accepted, readers_of
from tests.optimal.random_groups import random_group


def test_the_certificate_of_a_small_group_is_what_the_format_says(group, solution):
    assert [t.value for t in solution.terms] == [4, 2]
    assert solution.proof.level.tolist() == [0, 2, 2]
    assert check(group, solution) == ()


def valid_owner(rng: random.Random, group: Group) -> np.ndarray:
    """Any valid assignment of a group."""
    owner = np.full(group.n_partitions, -1, np.int32)
    for partition, readers in readers_of(group).items():
        mine = int(group.owner[partition])
        owner[partition] = mine if mine >= 0 and rng.random() < 0.5 else rng.choice(readers)
    return owner


def test_no_certificate_is_accepted_for_tiers_without_balance_unless_each_partition_costs_least():
    rng = random.Random("no balance")
    orders = list(permutations(("stickiness", "moved_weight", "racks")))
    for _ in range(120):
        group = random_group(rng, members=3, partitions=5)
        order = rng.choice(orders)[: rng.randint(1, 3)]
        owner = valid_owner(rng, group)
        best = values(Assignment(group, owner), order) == brute(group, order).bounds
        assert is_accepted(group, claimed(group, owner, order)) is best, (group.to_dict(), order)


def test_the_sums_above_every_level_close_wherever_readers_and_loads_fit_the_levels():
    rng = random.Random("the second condition")
    fitting = 0
    for _ in range(400):
        group = random_group(rng, members=3, partitions=4)
        readers, owner = readers_of(group), valid_owner(rng, group)
        loads = Assignment(group, owner).loads.tolist()
        level = [load - rng.choice((0, 1)) for load in loads]
        least = {p: min(level[m] for m in readers[p]) for p in readers}
        if all(level[owner[p]] == least[p] for p in readers):
            fitting += 1
            for k in range(max(loads, default=0) + 1):
                inside = sum(level >= k for level in least.values())
                outside = k * sum(one >= k for one in level)
                assert sum(max(0, load - k) for load in loads) == inside - outside
    assert fitting > 40
