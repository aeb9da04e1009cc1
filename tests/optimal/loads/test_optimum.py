from dataclasses import replace
from itertools import permutations, product

import numpy as np
import pytest

from benchmarks.instances import alike, differing
from groups import TIERS, BadInput, values
from optimal import ProofKind, Solution, Status, Stopped, check, solve
from optimal.case import EVENS
from optimal.loads.load_problem import LoadProblem
from tests.optimal.small_groups import found, lagging, one_topic

KINDS, SIZES = ("uniform", "lognormal", "zipf"), ((100, 10), (1000, 100))


@pytest.mark.parametrize(
    ("objective", "at_most", "kinds", "sizes"),
    [
        ("balance > peak_lag", {}, KINDS, (*SIZES, (200, 20))),
        ("kip-169", {}, KINDS[:1], ((21, 5),)),
        ("balance > peak_lag > lag_balance", {}, KINDS, SIZES[:1]),
        ("balance > peak_lag > lag_spread", {}, KINDS, SIZES[:1]),
        ("balance > lag_spread", {}, KINDS, SIZES[:1]),
        ("lag_balance", {}, KINDS, SIZES[:1]),
        ("lag_spread", {}, KINDS, SIZES[:1]),
        ("peak_time", {}, KINDS, SIZES),
        ("balance > peak_time", {}, KINDS, SIZES),
        ("peak_time", {"stickiness": 50}, KINDS[:1], SIZES[1:]),
        ("peak_lag", {"stickiness": 20}, KINDS[:1], SIZES[1:]),
        ("peak_lag", {"load_spread": 3}, ("uniform", "zipf"), SIZES[1:]),
    ],
    ids=str,
)
def test_groups_of_the_sizes_that_people_run_are_proved_with_a_certificate(
    objective, at_most, kinds, sizes
):
    for kind, (partitions, members) in product(kinds, sizes):
        topics = 4 if objective == "kip-169" else 1
        group = lagging(partitions, members, kind, topics=topics)
        solution = solve(group, objective, at_most=at_most, time_limit=120)
        assert (solution.status, solution.method) == (Status.OPTIMAL, "exchange"), kind
        assert solution.proof.kind is ProofKind.CERTIFICATE
        assert check(group, Solution.from_dict(group, solution.to_dict())) == ()
        for tier, most in at_most.items():
            assert values(solution.assignment, (tier,))[0] <= most
        if len(solution.terms) > 1:
            assert solution.terms[0] == solve(group, solution.objective[:1]).terms[0]


def test_members_that_read_different_topics_are_evened_out_within_their_levels():
    group = differing(20, 12, 300, 3)
    solution = solve(group, "balance > peak_lag", time_limit=3)
    assert solution.terms[0] == solve(group, "balance").terms[0]
    assert solution.terms[1].bound <= solution.terms[1].value <= 1.01 * solution.terms[1].bound


def test_how_even_the_rest_is_has_a_true_bound_where_it_is_open():
    group = alike(7, 6, "lognormal", 1, topics=10)
    solution = solve(group, "topic_balance > peak_lag > lag_balance", time_limit=1)
    assert (solution.status, solution.stopped) == (Status.FEASIBLE, Stopped.TIME_LIMIT)
    assert [term.bound == term.value for term in solution.terms] == [True, True, False]
    assert 0 < solution.terms[2].bound < solution.terms[2].value


def test_what_is_open_when_the_time_is_up_has_a_true_bound_and_none_after_it():
    group = alike(200, 50, "uniform", 1)
    solution = solve(group, "balance > peak_lag > lag_spread", time_limit=0.5)
    assert (solution.status, solution.stopped) == (Status.FEASIBLE, Stopped.TIME_LIMIT)
    assert solution.proof.kind is ProofKind.NONE
    assert solution.terms[2].bound is None
    assert solution.terms[0].bound == solution.terms[0].value
    assert solution.terms[1].bound < solution.terms[1].value < 1.05 * solution.terms[1].bound


def test_what_no_bound_closes_is_proved_by_the_word_of_the_solver():
    """Without balance a member may hold any number; with it, every deal is looked at."""
    group = one_topic([10, 10, 10, 10, 8, 8, 8, 6], 2)
    for objective, kind in (
        ("peak_lag", ProofKind.SOLVER),
        ("balance > peak_lag", ProofKind.EXHAUSTION),
    ):
        solution = solve(group, objective, method="exchange")
        assert found(solution)[-1] == 36
        assert (solution.status, solution.proof.kind) == (Status.OPTIMAL, kind)


@pytest.mark.parametrize("greatest", [2**31, 2**40, 2**52])
def test_great_lags_are_not_rounded(greatest):
    group = one_topic([greatest, greatest - 1, 3, 2, 1, 0], 2)
    for objective in ("balance > peak_lag", "kip-169", "peak_lag", "stickiness > peak_lag"):
        expected = found(solve(group, objective, method="brute"))
        assert found(solve(group, objective, method="exchange")) == expected


@pytest.mark.parametrize("greatest", [2**56, 2**61])
def test_lags_that_could_leave_64_bits_are_refused(greatest):
    group = alike(30, 3, "zipf", 1)
    lag = group.lag_records.copy()
    lag[7] = greatest
    large = replace(group, lag_records=lag)
    message = rf"topics.t000000.lag\[7\]: {greatest} lets peak_lag reach \d+, but method exchange"
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
        with pytest.raises(BadInput, match=r"method: exchange does not serve .*; auto takes"):
            solve(group, objective, method="exchange")


def test_it_serves_every_order_of_what_has_a_certificate_before_a_peak():
    counted = ("balance", "stickiness", "moved_weight", "racks")
    orders = [order for n in range(5) for order in permutations(counted, n)]
    assert all(LoadProblem.of((*order, "peak_lag"), {}) for order in orders)
    assert LoadProblem.of(("topic_balance", "peak_weight"), {})
    others = [tier for tier in TIERS if not tier.startswith("peak") and tier not in EVENS]
    assert not any(LoadProblem.of((tier,), {}) for tier in others)


def test_a_group_without_members_or_lag_has_no_peak():
    for group in (one_topic([4, 5], 0), one_topic([0, 0], 2)):
        for objective in ("balance > peak_lag", "peak_lag", "kip-169"):
            solution = solve(group, objective, method="exchange")
            assert (solution.terms[-1].value, solution.status) == (0, Status.OPTIMAL)
            assert solution.proof.floor is None


def test_the_answer_does_not_depend_on_the_integer_type_of_the_lags():
    group = alike(12, 3, "uniform", 4)
    narrow = replace(group, lag_records=group.lag_records.astype(np.int32))
    assert found(solve(group, "peak_lag")) == found(solve(narrow, "peak_lag"))
