"""How low the peak gets within so many moves."""

import random
from itertools import pairwise, product

import numpy as np
import pytest

from groups import Assignment, Group, values
from optimal import ProofKind, frontier, solve
from tests.seeds import for_each

PAIR = ("stickiness", "peak_lag")


def lagging(rng: random.Random, *, members: int, partitions: int, alike: bool = True) -> Group:
    """A group most of which is with the first members."""
    names = [f"m{i}" for i in range(members)]
    topics = {
        "t": {"partitions": partitions, "lag": [rng.randint(0, 99) for _ in range(partitions)]},
        "u": {"partitions": 2, "lag": [rng.randint(0, 99) for _ in range(2)]},
    }
    reads = {name: ["t", "u"] if alike or i % 2 else ["t"] for i, name in enumerate(names)}
    owned: dict[str, list[int]] = {name: [] for name in names}
    for p in range(partitions):
        owned[names[min(rng.randrange(members), rng.randrange(members))]].append(p)
    said = {n: {"subscription": reads[n], "owned": {"t": owned[n]}} for n in names}
    return Group.from_dict(
        {"format": "assay-group/1", "group": "g", "topics": topics, "members": said}
    )


def exhausted(group: Group) -> list[tuple[int, int]]:
    readers = [group.subscribers(t).tolist() for t in group.topic.tolist()]
    scores = {
        values(Assignment(group, np.array(row, np.int32)), PAIR) for row in product(*readers)
    }
    found: list[tuple[int, int]] = []
    for moves, peak in sorted(scores):
        if not found or peak < found[-1][1]:
            found.append((moves, peak))
    return found


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("alike", [True, False], ids=["alike", "differing"])
def test_the_points_are_those_that_exhaustion_finds_and_all_are_proved(seed, alike):
    rng = random.Random(f"{seed} {alike}")
    group = lagging(rng, members=3, partitions=5, alike=alike)
    points = frontier(group, *PAIR)
    assert [point.at for point in points] == exhausted(group)
    assert all(point.proved and point.complete for point in points)
    assert points.left_out is None
    turned = frontier(group, *PAIR[::-1])
    assert [point.at[::-1] for point in turned] == [point.at for point in points][::-1]
    assert all(point.proved and point.complete for point in turned)


@for_each(range(8))
def test_bounds_of_a_hurried_search_are_below_what_exhaustion_finds(seed):
    group = lagging(random.Random(f"hurry {seed}"), members=3, partitions=6)
    known = exhausted(group)
    for point in frontier(group, *PAIR, points=3, time_limit=0.2):
        within = min(peak for moves, peak in known if moves <= point.first_value)
        fewest = min(moves for moves, peak in known if peak <= point.second_value)
        assert point.second_bound <= within <= point.second_value
        assert point.first_bound <= fewest <= point.first_value
        assert point.proved == (point.at == (point.first_bound, point.second_bound))


def test_a_point_is_what_solve_finds_within_so_many_moves():
    group = lagging(random.Random(5), members=4, partitions=20)
    points = frontier(group, *PAIR, time_limit=5)
    proved = [point for point in points if point.proved]
    assert len(proved) >= 3
    for point in proved:
        within = solve(group, "peak_lag", at_most={"stickiness": point.first_value})
        assert within.terms[0].value == point.second_value


def test_a_large_group_says_what_is_open_when_its_time_is_up():
    rng = random.Random(9)
    lag = [int(rng.lognormvariate(8, 1)) for _ in range(400)]
    topics = {"t": {"partitions": 400, "lag": lag}}
    members = {f"m{i}": {"subscription": ["t"], "owned": {"t": []}} for i in range(40)}
    for p in range(400):
        members[f"m{int(rng.random() ** 2 * 40)}"]["owned"]["t"].append(p)
    group = Group.from_dict(
        {"format": "assay-group/1", "group": "g", "topics": topics, "members": members}
    )
    points = frontier(group, *PAIR, time_limit=2.0, points=12)
    assert 3 <= len(points) <= 12
    for one, other in pairwise(points):
        assert one.first_value < other.first_value
        assert one.second_value > other.second_value
    for point in points:
        assert point.assignment.is_valid
        assert values(point.assignment, PAIR) == point.at
        assert point.first_bound <= point.first_value
        assert point.second_bound <= point.second_value
        assert point.proved == (point.proof is not ProofKind.NONE)


def test_where_nothing_is_behind_there_is_one_point():
    group = Group.from_dict(
        {
            "format": "assay-group/1",
            "group": "g",
            "topics": {"t": {"partitions": 2, "lag": [0, 0]}},
            "members": {"a": {"subscription": ["t"], "owned": {"t": [0, 1]}}},
        }
    )
    (point,) = frontier(group, *PAIR)
    assert (point.at, point.proved, point.complete) == ((0, 0), True, True)
