"""What is found for a group does not depend on the groups that are solved with it."""

from dataclasses import replace
from itertools import permutations
from random import Random

import numpy as np
import pytest

from optimal import solve, solve_many
from optimal.flow import tier_flows
from tests.optimal.random_groups import random_group
from tests.optimal.small_groups import group_of

OBJECTIVES = [
    "balance > stickiness",
    "stickiness > balance",
    "balance > moved_weight",
    "balance > racks > stickiness",
    "racks > balance",
    "topic_balance > balance > stickiness",
    "balance > topic_balance",
]


def some_groups(count: int) -> list:
    return [
        random_group(Random(seed), members=2 + seed % 9, partitions=5 * (seed % 9))
        for seed in range(count)
    ]


def found(solution) -> tuple:
    proof = solution.proof
    return (
        solution.status,
        solution.stopped,
        solution.method,
        solution.terms,
        proof.kind,
        None if proof.level is None else proof.level.tolist(),
        solution.assignment.loads.tolist(),
    )


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_a_group_has_one_answer_in_any_batch_and_order(objective):
    groups = some_groups(60)
    one_by_one = [
        found(solution) for group in groups for solution in solve_many([group], objective)
    ]
    for size in (7, len(groups)):
        for seed in (None, 1):
            order = list(range(len(groups)))
            if seed is not None:
                Random(seed).shuffle(order)
            for start in range(0, len(order), size):
                batch = order[start : start + size]
                solutions = solve_many([groups[at] for at in batch], objective)
                assert [found(s) for s in solutions] == [one_by_one[at] for at in batch]


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_a_group_by_itself_has_the_loads_that_it_has_among_others(objective):
    groups = some_groups(40)
    for group, among in zip(groups, solve_many(groups, objective), strict=True):
        alone = solve(group, objective)
        assert (alone.terms, alone.assignment.loads.tolist()) == (
            among.terms,
            among.assignment.loads.tolist(),
        )


@pytest.mark.parametrize("objective", ["balance > moved_weight", "balance > stickiness"])
def test_ties_are_decided_alike_whether_with_the_last_tier_or_after_it(monkeypatch, objective):
    groups = some_groups(40)
    together = [found(solution) for solution in solve_many(groups, objective)]
    monkeypatch.setattr(tier_flows, "TOGETHER", 0)
    assert [found(solution) for solution in solve_many(groups, objective)] == together


def test_weights_up_to_what_a_flow_takes_are_still_taken():
    group = random_group(Random(5), members=8, partitions=40)
    heavy = replace(group, weight=group.weight * 2**46)
    light = solve(group, "balance > moved_weight")
    solution = solve(heavy, "balance > moved_weight")
    assert solution.status == "optimal"
    assert solution.terms[1].value == light.terms[1].value * 2**46
    assert solution.assignment.loads.tolist() == light.assignment.loads.tolist()


@pytest.mark.parametrize("objective", OBJECTIVES[:3])
def test_of_loads_that_are_as_good_the_first_members_carry_more(objective):
    topics = {"t": 2, "u": 2}
    reads = (["t"], ["u"], ["t", "u"])
    for order in permutations(reads):
        group = group_of(topics, dict(zip("abc", order, strict=True)))
        group = replace(group, weight=np.ones(4, np.int64))
        assert solve(group, objective).assignment.loads.tolist() == [2, 1, 1]
