import random
from collections import Counter
from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest

from benchmarks.lag_groups import alike, differing
from groups import TIERS, BadInput
from optimal import ProofKind, Status, Stopped, check, solve
from optimal.case import EVENS
from optimal.loads.load_problem import LoadProblem
from tests.optimal.loads.sweep import meet
from tests.optimal.small_groups import found, group_of


def test_no_assignment_of_a_small_group_is_better_and_no_bound_above_it():
    rng = random.Random("exchange")
    kinds = Counter(meet(rng).proof.kind for _ in range(200))
    assert kinds[ProofKind.CERTIFICATE] > 160
    assert kinds.keys() <= set(ProofKind) - {ProofKind.NONE}


@pytest.mark.parametrize("kind", ["uniform", "lognormal", "zipf"])
@pytest.mark.parametrize(("partitions", "members"), [(100, 10), (200, 20), (1000, 100)])
def test_lags_of_one_topic_are_proved_even_with_a_certificate(partitions, members, kind):
    solution = solve(alike(partitions, members, kind, 1), "balance > peak_lag", time_limit=120)
    assert (solution.status, solution.method) == (Status.OPTIMAL, "exchange")
    assert solution.proof.kind is ProofKind.CERTIFICATE


@pytest.mark.parametrize("topics", [4, 10])
def test_topics_that_stay_even_leave_room_to_even_out_lag(topics):
    group = alike(84 // topics, 5, "uniform", 2, topics=topics)
    solution = solve(group, "kip-169", time_limit=20)
    assert (solution.status, solution.proof.kind) == (Status.OPTIMAL, ProofKind.CERTIFICATE)
    assert solution.terms[0] == solve(group, "topic_balance").terms[0]


def test_members_that_read_different_topics_are_evened_out_within_their_levels():
    group = differing(20, 12, 300, 3)
    solution = solve(group, "balance > peak_lag", time_limit=3)
    assert solution.terms[0] == solve(group, "balance").terms[0]
    assert solution.terms[1].bound <= solution.terms[1].value <= 1.01 * solution.terms[1].bound


@pytest.mark.parametrize("kind", ["uniform", "lognormal", "zipf"])
@pytest.mark.parametrize("last", ["lag_balance", "lag_spread"])
def test_under_a_pinned_peak_all_others_are_evened_out_and_proved(kind, last):
    group = alike(100, 10, kind, 1)
    solution = solve(group, f"balance > peak_lag > {last}", time_limit=20)
    assert (solution.status, solution.method) == (Status.OPTIMAL, "exchange")
    assert solution.proof.kind is ProofKind.CERTIFICATE
    assert check(group, solution) == ()
    peak = solve(group, "balance > peak_lag", time_limit=20)
    assert solution.terms[:2] == peak.terms


def test_how_even_the_rest_is_has_a_true_bound_where_it_is_open():
    group = alike(7, 6, "lognormal", 1, topics=10)
    solution = solve(group, "topic_balance > peak_lag > lag_balance", time_limit=1)
    assert (solution.status, solution.stopped) == (Status.FEASIBLE, Stopped.TIME_LIMIT)
    assert [term.bound == term.value for term in solution.terms] == [True, True, False]
    assert 0 < solution.terms[2].bound < solution.terms[2].value


def test_where_the_peak_is_open_nothing_is_known_of_what_comes_after():
    group = alike(200, 50, "uniform", 1)
    solution = solve(group, "balance > peak_lag > lag_spread", time_limit=0.5)
    assert solution.terms[1].bound < solution.terms[1].value
    assert solution.terms[2].bound is None


def test_one_hot_partition_is_the_floor_with_the_lightest_that_its_member_has_to_hold():
    topics = {"t0": {"partitions": 7, "lag": [1000, 5, 4, 3, 2, 2, 1]}}
    group = group_of(topics, {"c0": ["t0"], "c1": ["t0"], "c2": ["t0"]})
    solution = solve(group, "balance > peak_lag", method="exchange")
    assert found(solution) == (2, 1001)
    assert solution.proof.floor.bound == "crowd"
    assert found(solve(group, "peak_lag", method="exchange")) == (1000,)


def test_a_member_that_alone_reads_a_topic_is_the_floor():
    lags = {"t0": [9, 8, 7, 6], "t1": [1] * 4}
    topics = {topic: {"partitions": 4, "lag": lag} for topic, lag in lags.items()}
    group = group_of(topics, {"c0": ["t0"], "c1": ["t1"], "c2": ["t1"]})
    solution = solve(group, "peak_lag", method="exchange")
    assert found(solution) == (30,)
    assert solution.proof.floor.members == (0,)


@pytest.mark.parametrize("objective", ["balance > peak_lag", "kip-169", "peak_lag"])
def test_the_same_group_gets_the_same_answer(objective):
    group = alike(20, 6, "uniform", 5, topics=3)
    one, other = (solve(group, objective, method="exchange", time_limit=20) for _ in range(2))
    assert one.status is Status.OPTIMAL
    assert one.assignment.owner.tolist() == other.assignment.owner.tolist()


def test_what_is_open_when_the_time_is_up_has_a_true_bound():
    group = alike(200, 50, "uniform", 1)
    solution = solve(group, "balance > peak_lag", time_limit=0.5)
    assert (solution.status, solution.stopped) == (Status.FEASIBLE, Stopped.TIME_LIMIT)
    assert solution.proof.kind is ProofKind.NONE
    assert solution.terms[0].bound == solution.terms[0].value
    assert solution.terms[1].bound < solution.terms[1].value < 1.05 * solution.terms[1].bound


def test_what_no_bound_closes_is_proved_by_the_word_of_the_solver():
    """Without balance a member may hold any number; with it, every deal is looked at."""
    topics = {"t0": {"partitions": 8, "lag": [10, 10, 10, 10, 8, 8, 8, 6]}}
    group = group_of(topics, {"c0": ["t0"], "c1": ["t0"]})
    for objective, kind in (
        ("peak_lag", ProofKind.SOLVER),
        ("balance > peak_lag", ProofKind.EXHAUSTION),
    ):
        solution = solve(group, objective, method="exchange")
        assert found(solution)[-1] == 36
        assert (solution.status, solution.proof.kind) == (Status.OPTIMAL, kind)


@pytest.mark.parametrize("greatest", [2**31, 2**40, 2**52])
def test_great_lags_are_not_rounded(greatest):
    lag = [greatest, greatest - 1, 3, 2, 1, 0]
    topics = {"t0": {"partitions": 6, "lag": lag}}
    group = group_of(topics, {"c0": ["t0"], "c1": ["t0"]})
    for objective in ("balance > peak_lag", "kip-169", "peak_lag", "stickiness > peak_lag"):
        expected = found(solve(group, objective, method="brute"))
        assert found(solve(group, objective, method="exchange")) == expected


@pytest.mark.parametrize("greatest", [2**56, 2**61])
def test_lags_that_could_leave_64_bits_are_refused(greatest):
    group = alike(30, 3, "zipf", 1)
    lag = group.lag_records.copy()
    lag[7] = greatest
    large = replace(group, lag_records=lag)
    message = rf"topics.t000.lag\[7\]: {greatest} lets peak_lag reach \d+, but method exchange"
    with pytest.raises(BadInput, match=message):
        solve(large, "balance > peak_lag", method="exchange")


def test_objectives_that_it_does_not_serve_are_refused():
    group = replace(alike(6, 2, "uniform", 1), weight=np.arange(6))
    for objective in (
        "peak_lag > balance",
        "lag_spread > stickiness",
        "peak_lag > lag_spread > stickiness",
        "peak_lag > peak_weight",
        "topic_balance > balance > peak_lag",
        "balance > peak_lag > weight_balance",
        "peak_lag > lag_spread > lag_balance",
    ):
        with pytest.raises(BadInput, match=r"method: exchange does not serve .*; use cp-sat"):
            solve(group, objective, method="exchange")


def test_it_serves_every_order_of_what_has_a_certificate_before_a_peak():
    counted = ("balance", "stickiness", "moved_weight", "racks")
    orders = [order for n in range(5) for order in permutations(counted, n)]
    assert all(LoadProblem.of((*order, "peak_lag"), {}) for order in orders)
    assert LoadProblem.of(("topic_balance", "peak_weight"), {})
    others = [tier for tier in TIERS if not tier.startswith("peak") and tier not in EVENS]
    assert not any(LoadProblem.of((tier,), {}) for tier in others)


def test_a_group_without_members_or_lag_has_no_peak():
    nobody = group_of({"t0": {"partitions": 2, "lag": [4, 5]}}, {})
    idle = group_of({"t0": {"partitions": 2, "lag": [0, 0]}}, {"c0": ["t0"], "c1": ["t0"]})
    for group in (nobody, idle):
        for objective in ("balance > peak_lag", "peak_lag", "kip-169"):
            solution = solve(group, objective, method="exchange")
            assert (solution.terms[-1].value, solution.status) == (0, Status.OPTIMAL)
            assert solution.proof.floor is None


def test_the_answer_does_not_depend_on_the_integer_type_of_the_lags():
    group = alike(12, 3, "uniform", 4)
    narrow = replace(group, lag_records=group.lag_records.astype(np.int32))
    assert found(solve(group, "peak_lag")) == found(solve(narrow, "peak_lag"))
