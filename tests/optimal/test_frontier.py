import random
import re
from collections import Counter
from dataclasses import replace
from itertools import combinations, pairwise, permutations

import numpy as np
import pytest

from benchmarks.instances import differing
from compare.samples.families import Family
from groups import TIERS, Assignment, BadInput, Group, values
from groups.tiers import called
from optimal import Point, ProofKind, frontier, solve
from optimal.cpsat import least_within
from optimal.frontier import knee
from tests.optimal.random_groups import crowded
from tests.optimal.small_groups import every_assignment, group_of, lopsided, one_topic
from tests.seeds import for_each

MOVES = list(TIERS).index("stickiness")
# Only hosts are tried of hosts, racks, state and squares, which the same code serves.
FLOW = [
    tier
    for tier in TIERS
    if TIERS[tier].is_flow
    and tier not in ("load_squares", "rack_balance", "stateful_balance", "restores")
]
SORTED = [
    ("balance", "stickiness"),
    ("stickiness", "racks"),
    ("racks", "stickiness"),
    ("moved_weight", "racks"),
    ("racks", "moved_weight"),
]


def efficient(scores: set[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the Pareto-optimal scores."""
    found: list[tuple[int, int]] = []
    for one, other in sorted(scores):
        if not found or other < found[-1][1]:
            found.append((one, other))
    return found


def pairs_of(points: tuple[Point, ...]) -> list[tuple[int, int]]:
    return [(point.first_value, point.second_value) for point in points]


def assert_consistent(group: Group, objective: tuple[str, str], points: tuple[Point, ...]) -> None:
    """Require what holds for all points, proved or not."""
    for one, other in pairwise(points):
        assert one.first_value < other.first_value
        assert one.second_value > other.second_value
    for point in points:
        assert point.assignment.is_valid
        at = (point.first_value, point.second_value)
        assert tuple(point[called(tier)] for tier in objective) == at
        assert values(point.assignment, objective) == at
        for bound, value in zip((point.first_bound, point.second_bound), at, strict=True):
            assert bound is None or bound <= value
        assert point.proved == (point.proof is not ProofKind.NONE)
        if point.proved:
            assert (point.first_bound, point.second_bound) == at


@pytest.mark.exhaustive
@for_each(range(8))
def test_the_points_of_all_pairs_of_tiers_are_those_that_exhaustion_finds(seed):
    rng = random.Random(f"every pair {seed}")
    alike = seed % 2 == 0
    scored: list[tuple[int, ...]] = []
    # One with a trade-off of balance and moves.
    while len(efficient({(score[0], score[MOVES]) for score in scored})) < 2:
        group = crowded(rng, members=3, partitions=6 if seed < 4 else 7, alike=alike)
        scored = [values(one, tuple(TIERS)) for one in every_assignment(group)]
    tiers = list(TIERS) if seed < 4 else [*FLOW, "peak_lag"]
    for objective in permutations(tiers, 2) if seed >= 4 else combinations(tiers, 2):
        if seed < 4 and rng.random() < 0.5:
            objective = objective[::-1]
        first, second = (list(TIERS).index(tier) for tier in objective)
        points = frontier(group, *objective)
        expected = efficient({(score[first], score[second]) for score in scored})
        assert pairs_of(points) == expected, (objective, group.to_dict())
        assert all(point.proved and point.complete for point in points)
        assert points.left_out is None
        assert_consistent(group, objective, points)


def test_of_the_assignments_of_a_lag_and_so_many_moves_a_small_group_gets_the_most_even_one():
    rng, choices = random.Random("even points"), 0
    for _ in range(6):
        group = crowded(rng, members=3, partitions=7, alike=True)
        balances: dict[tuple[int, int], set[int]] = {}
        for one in every_assignment(group):
            *at, balance = values(one, ("stickiness", "peak_lag", "balance"))
            balances.setdefault((at[0], at[1]), set()).add(balance)
        for point in frontier(group, "stickiness", "peak_lag"):
            choices += len(balances[point.at]) > 1
            assert values(point.assignment, ("balance",)) == (min(balances[point.at]),)
    assert choices


@pytest.mark.parametrize("objective", SORTED)
def test_what_sorting_finds_cp_sat_cannot_better(objective):
    rng = random.Random(f"sorted {objective}")
    longest = 0
    for _ in range(6):
        group = crowded(rng, members=6, partitions=40, alike=True)
        points = frontier(group, *objective)
        longest = max(longest, len(points))
        for point in points[:: max(1, len(points) // 3)]:
            limits = dict(zip(objective, ((0, point.first_value), (0, point.second_value)),
                              strict=True))  # fmt: skip
            for tier, value in zip(objective, pairs_of((point,))[0], strict=True):
                start = group.owner
                _, least = least_within(group, tier, limits, start=start, seconds=None)
                assert least == value
    assert longest >= 5


@pytest.mark.parametrize("objective", [*SORTED, ("topic_balance", "racks"), ("balance", "racks")])
def test_the_ends_are_what_solve_proves_and_turned_round_all_come_in_reverse(
    objective,
):
    rng = random.Random(f"ends {objective}")
    for _ in range(3):
        group = crowded(rng, members=6, partitions=30)
        points = frontier(group, *objective)
        assert_consistent(group, objective, points)
        for point, order in ((points[0], objective), (points[-1], objective[::-1])):
            end = solve(group, order)
            assert values(point.assignment, order) == tuple(term.value for term in end.terms)
            assert point.proof is end.proof.kind
        back = frontier(group, *objective[::-1])
        assert pairs_of(points) == [at[::-1] for at in reversed(pairs_of(back))]


BOTH = {"a": ["t"], "b": ["t"]}
FAR = group_of({"t": {"partitions": 4, "racks": [["x"]] * 4}}, BOTH, racks=("x", "y"))
MORE = group_of({"both": 4, "only-a": 2}, {"a": ["both", "only-a"], "b": ["both"]})
CAUGHT_UP = one_topic([0, 0], 1, owned=[0, 1])


@pytest.mark.parametrize(
    ("group", "objective", "expected"),
    [
        # Each move to the new member lowers balance by two.
        (lopsided(2, 6), ("balance", "stickiness"), [(0, 3), (2, 2), (4, 1), (6, 0)]),
        # A member in another rack costs a miss for each partition that evens them out.
        (FAR, ("balance", "racks"), [(0, 2), (2, 1), (4, 0)]),
        # A second topic that only a reads: b makes up for it with three of the first, or has two.
        (MORE, ("balance", "topic_balance"), [(0, 14), (2, 12)]),
        (CAUGHT_UP, ("stickiness", "peak_lag"), [(0, 0)]),
        (group_of({"t": 2}, BOTH), ("balance", "stickiness"), [(0, 0)]),
        (group_of({"t": 2}, {}), ("topic_balance", "balance"), [(0, 0)]),
        (group_of({"t": 2}, {"a": []}), ("stickiness", "topic_balance"), [(0, 0)]),
    ],
    ids=["newcomer", "far", "more", "caught up", "no conflict", "nobody", "nothing read"],
)
def test_the_trade_offs_of_examples_are_those_counted_by_hand(group, objective, expected):
    points = frontier(group, *objective)
    assert pairs_of(points) == expected
    assert all(point.proved and point.complete for point in points)
    assert all(point.assignment.group is group for point in points)


def test_balance_and_moves_have_certificates_where_least_majorised_loads_do():
    rng, kinds = random.Random("certified"), Counter()
    for _ in range(10):
        group = crowded(rng, members=4, partitions=12)
        for point in frontier(group, "balance", "stickiness"):
            at_most = {"stickiness": point.second_value}
            solution = solve(group, at_most=at_most, method="auto")
            assert (solution.terms[0].value, solution.terms[1].value) == point.at
            kinds[point.proof] += 1
    assert kinds[ProofKind.CERTIFICATE] > 0.7 * kinds.total()
    points = frontier(lopsided(3, 20), "stickiness", "balance")
    assert {point.proof for point in points} == {ProofKind.CERTIFICATE}


def points_at(*values: tuple[int, int]) -> tuple[Point, ...]:
    assignment = Assignment.current(lopsided(2, 2))
    return tuple(Point(*at, *at, assignment, ProofKind.SOLVER) for at in values)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([], None),
        ([(0, 1)], None),
        ([(0, 9), (9, 0)], None),
        ([(0, 2), (5, 1), (10, 0)], None),
        ([(0, 2), (9, 1), (10, 0)], None),
        ([(0, 2), (4, 1), (10, 0)], 1),
        ([(0, 9), (1, 2), (2, 1), (9, 0)], 1),
        ([(0, 9), (1, 3), (2, 1), (9, 0)], 2),
        ([(10**30, 9 * 10**30), (10**30 + 1, 3), (2 * 10**30, 0)], 1),
    ],
)
def test_the_knee_is_furthest_below_the_line_between_the_ends(values, expected):
    assert knee(points_at(*values)) == expected


def test_the_knee_is_the_same_whichever_tier_comes_first():
    rng, found = random.Random("knee"), 0
    for _ in range(200):
        size = rng.randint(3, 8)
        first, second = (sorted(rng.sample(range(50), size)) for _ in range(2))
        values = list(zip(first, second[::-1], strict=True))
        there = knee(points_at(*values))
        back = knee(points_at(*[at[::-1] for at in reversed(values)]))
        if there is None or back is None:
            assert there == back
            continue
        found += 1
        ends = values[0], values[-1]

        def below(at, ends=ends):
            (a, b), (c, d) = ends
            return (at[0] - a) / (c - a) + (at[1] - d) / (b - d)

        assert below(values[there]) == pytest.approx(below(values[size - 1 - back]))
        assert below(values[there]) == pytest.approx(min(map(below, values)))
    assert found > 100


def test_a_group_of_any_size_gets_as_many_points_as_asked_for():
    group = lopsided(100, 100_000)
    points = frontier(group, "balance", "stickiness", points=5)
    assert [point.second_value for point in points] == [99_000, 74_250, 49_500, 24_750, 0]
    assert all(point.proved for point in points)
    assert [point.complete for point in points] == [False] * 4 + [True]
    assert_consistent(group, ("balance", "stickiness"), points)


HURRIED = (
    ("balance", "stickiness"), ("lag_balance", "balance"), ("stickiness", "lag_balance"),
    ("stickiness", "peak_lag"),
)  # fmt: skip


@pytest.mark.parametrize("objective", HURRIED)
def test_points_that_the_time_limit_left_open_are_not_better_than_the_truth(objective):
    rng = random.Random(f"left open {objective}")
    large = crowded(rng, members=9, partitions=60)
    for seconds in (0, 0.01, 0.3):
        some = frontier(large, *objective, time_limit=seconds)
        assert_consistent(large, objective, some)
        assert some.left_out is None or seconds or some.left_out.startswith("the time was up")
    for _ in range(4):
        group = crowded(rng, members=4, partitions=12)
        every = frontier(group, *objective)
        assert all(point.proved and point.complete for point in every)
        truth = pairs_of(every)
        for more in ({"time_limit": 0.02}, {"time_limit": 0.1, "points": 3}):
            some = frontier(group, *objective, **more)
            assert_consistent(group, objective, some)
            for point in some:
                first, second = point.at
                # Where nothing is known there is no bound, not one of 0.
                assert point.first_bound != 0 or first == 0
                assert (point.first_bound or 0) <= min(a for a, b in truth if b <= second) <= first
                assert (
                    (point.second_bound or 0) <= min(b for a, b in truth if a <= first) <= second
                )
            if some.left_out is None:
                assert pairs_of(some) == truth


def test_of_a_group_too_large_to_search_not_all_points_are_complete():
    group = differing(60, 40, 2000, 1)
    first = [group.subscribers(topic)[0] for topic in group.topic]
    group = replace(group, owner=np.array(first, np.int32))
    points = frontier(group, "balance", "stickiness", points=5)
    assert len(points) == 5
    assert [point.proof for point in points[:: len(points) - 1]] == [ProofKind.CERTIFICATE] * 2
    assert [point.complete for point in points] == [False] * 4 + [True]
    assert_consistent(group, ("balance", "stickiness"), points)
    assert all(point.first_bound for point in points[1:])


def test_a_group_too_large_to_search_gets_its_ends_and_says_in_words_what_is_left_out():
    group = Family(100, 10, 10, "random", "join-one").group(1)
    found = frontier(group, "topic_balance", "stickiness", time_limit=60)
    assert [point.complete for point in found] == [False, True]
    assert re.fullmatch(
        r"only the ends: the readers of all partitions add up to 54,600, and no more than "
        r"20,000 are searched for what is between",
        found.left_out,
    )


def test_of_a_large_group_the_lowest_peaks_within_few_moves_are_found_first():
    rng = random.Random(9)
    lag = [int(rng.lognormvariate(8, 1)) for _ in range(400)]
    owner = np.array([int(rng.random() ** 2 * 40) for _ in lag], np.int32)
    group = replace(one_topic(lag, 40), owner=owner)
    points = frontier(group, "stickiness", "peak_lag", time_limit=4.0, points=12)
    assert 3 <= len(points) <= 12
    assert_consistent(group, ("stickiness", "peak_lag"), points)
    for point in points[:3]:
        within = solve(group, "peak_lag", at_most={"stickiness": point.first_value}, time_limit=2)
        assert within.terms[0].bound <= point.second_value
        assert not point.proved or within.terms[0].value >= point.second_value


@pytest.mark.parametrize(
    ("first", "second", "more", "message"),
    [
        ("kip-54", "racks", {}, "objective: unknown tier 'kip-54'"),
        ("balance", "racks", {}, "topics.t0.racks: unknown, but tier racks needs it"),
        ("peak_lag", "balance", {}, r"topics.t0.lag\[0\]: unknown, but tier peak_lag needs it"),
        ("balance", "stickiness", {"points": 1}, "points: 1, expected 2 or more"),
    ],
)
def test_bad_input_is_refused_in_one_line(first, second, more, message):
    with pytest.raises(BadInput, match=message) as error:
        frontier(lopsided(2, 6), first, second, **more)
    assert "\n" not in str(error.value)
