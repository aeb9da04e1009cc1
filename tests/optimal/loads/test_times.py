import numpy as np
import pytest

from groups import BadInput, Group, ProofError
from optimal import check, solve
from optimal.proof import Floor
from tests.optimal.judging import changed
from tests.optimal.small_groups import found, group_of, one_topic

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
