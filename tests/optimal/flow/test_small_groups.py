"""Small groups: loads, ties, and parts that are levelled by themselves."""

import random

import pytest

from compare.samples.families import Family
from optimal import Stopped, solve
from optimal.flow.algorithm import flow
from tests.optimal.random_groups import random_group
from tests.optimal.small_groups import chain, found, group_of

KIP_54 = ("balance", "stickiness")
EVENTS = ("fresh", "join-one", "leave-many", "partitions-added", "stable")


def groups_of(kind: str) -> list:
    rng = random.Random(f"small {kind}")
    if kind == "random":
        return [
            random_group(rng, members=rng.randint(1, 10), partitions=rng.randint(1, 60))
            for _ in range(150)
        ]
    return [
        Family(10, 6, 6, kind, event, skewed=skewed).group(seed)
        for event in EVENTS
        for skewed in (False, True)
        for seed in range(4)
    ]


@pytest.mark.parametrize("kind", ["equal", "random", "buckets"])
def test_the_loads_of_a_group_are_the_same_with_the_closed_form_and_without(kind):
    for group in groups_of(kind):
        loads = [solve(group, method=m).assignment.loads.tolist() for m in ("auto", "flow")]
        assert loads[0] == loads[1]


def test_of_those_who_can_carry_one_more_the_first_do():
    owned = {"c0": {"t1": [0, 1, 2]}, "c1": {"t0": [0, 1, 2]}, "c2": {"t0": [3], "t1": [3]}}
    reads = {"c0": ["t1"], "c1": ["t0"], "c2": ["t0", "t1"]}
    solution = solve(group_of({"t0": 4, "t1": 4}, reads, owned))
    assert (found(solution), solution.method) == ((2, 0), "flow")
    fresh = solve(group_of({"t0": 4, "t1": 4}, reads))
    assert fresh.assignment.loads.tolist() == [3, 3, 2]


def test_a_part_that_has_too_much_and_one_that_has_too_little_are_levelled_by_themselves():
    reads = {"c0": ["t0"], "c1": ["t0", "t1"], "c2": ["t1", "t2"], "c3": ["t2"], "c4": []}
    solution = solve(group_of({"t0": 9, "t1": 1, "t2": 2}, reads))
    assert solution.assignment.loads.tolist() == [5, 4, 2, 1, 0]
    assert solution.method == "flow"


def test_a_small_group_stops_when_the_time_is_up():
    answer = flow(chain(9, 20), KIP_54, time_limit=-1.0)
    assert (answer.owner, answer.stopped) == (None, Stopped.TIME_LIMIT)
