from dataclasses import replace
from itertools import permutations, product

import numpy as np
import pytest

from benchmarks.instances import alike, differing
from groups import TIERS, BadInput, Group, ProofError, values
from optimal import ProofKind, Solution, Status, Stopped, check, solve
from optimal.case import EVENS
from optimal.loads.load_problem import LoadProblem
from optimal.proof import Floor
from tests.optimal.judging import changed
from tests.optimal.small_groups import found, group_of, lagging, one_topic

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


METHODS = ("brute", "cp-sat", "ilp", "exchange")


def timed(lags, capacities) -> Group:
    """Return a group of one topic that all read; capacities are records a second."""
    return one_topic(lags, len(capacities), capacities=capacities)


@pytest.mark.parametrize("method", METHODS)
def test_of_equal_rates_the_time_is_the_peak_divided(method):
    lags = [90, 71, 33, 20, 6]
    for rate in (1, 7, 1000):
        group = timed(lags, [rate] * 3)
        (peak,) = found(solve(group, "peak_lag", method=method))
        assert found(solve(group, "peak_time", method=method)) == (-(-peak // rate),)


def test_a_member_without_a_capacity_is_named_unless_it_reads_nothing():
    group = timed([5, 4], [2, None])
    with pytest.raises(BadInput, match=r"members.c1.capacity: unknown, but tier peak_time needs"):
        solve(group, "peak_time")
    assert found(solve(group.with_rate(1), "peak_time")) == (4,)
    topics = {"t0": {"partitions": 1, "lag": [5]}}
    idle = group_of(topics, {"c0": ["t0"], "c1": []}, capacities=[2])
    for method in METHODS:
        assert found(solve(idle, "peak_time", method=method)) == (3,)


@pytest.mark.parametrize("method", METHODS)
def test_the_greatest_capacities_do_not_wrap(method):
    group = timed([9, 8, 2**20], [2**63 - 1, 1, 2**62])
    solution = solve(group, "peak_time", method=method)
    assert found(solution) == (1,)
    assert solution.assignment.loads[1] == 0


def test_lags_near_2_to_the_62_are_right_or_refused():
    lags = [2**60, 2**60 + 1, 2**59]
    group = timed(lags, [1, 2**40])
    (time,) = found(solve(group, "peak_time", method="brute"))
    assert time == -(-sum(lags) // 2**40)
    for method in ("exchange", "cp-sat", "ilp"):
        with pytest.raises(BadInput, match=r"lets peak_time reach \d+, but method"):
            solve(group, "peak_time", method=method)
    with pytest.raises(BadInput, match=r"brings the total lag to \d+, but tier peak_time needs"):
        solve(timed([2**61, 2**61], [1, 2]), "peak_time")


@pytest.mark.parametrize("bits", [30, 40, 52])
def test_large_lags_and_rates_lose_no_unit(bits):
    rng = np.random.default_rng(bits)
    for _ in range(4):
        lags = (2**bits // 8 - rng.integers(0, 4, 7)).tolist()
        group = timed(lags, [1, 3, 2 ** (bits - 1)])
        truth = solve(group, "peak_time > load_spread", method="brute")
        assert found(solve(group, "peak_time > load_spread", method="cp-sat")) == found(truth)
        assert found(solve(group, "peak_time", method="exchange")) == found(truth)[:1]


def test_a_floor_that_shows_less_than_the_time_is_refused():
    group = timed([90, 80, 1], [2, 3])
    solution = solve(group, "peak_time", method="exchange")
    assert found(solution) == (40,)
    assert solution.proof.floor == Floor("crowd", (0, 1), 80)
    for floor, message in (
        (Floor("average", (0, 1)), "the average bounds peak_time by 35, not by 40"),
        (Floor("crowd", (0, 1), 90), "the crowd bounds peak_time by 39, not by 40"),
        (Floor("crowd", (0, 1), 91), "the crowd bounds peak_time by 39, not by 40"),
    ):
        with pytest.raises(ProofError, match=message):
            check(group, changed(solution, floor=floor))


def test_a_slower_member_makes_the_certificate_wrong():
    group = timed([90, 80, 1], [2, 3])
    solution = solve(group, "peak_time", method="exchange")
    with pytest.raises(Exception, match="peak_time"):
        check(timed([90, 80, 1], [1, 1]), solution)
