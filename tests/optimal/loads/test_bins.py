"""Peaks where members may hold any number: what packing under a capacity proves."""

import numpy as np

from benchmarks.makespan import group_of, uniform
from optimal import ProofKind, check, solve
from optimal.loads import exchange


def test_the_least_peak_is_that_of_cp_sat_and_its_bound_a_solvers_word(monkeypatch):
    monkeypatch.setattr(exchange, "SMALL", 0)
    closed = 0
    for seed in range(8):
        group = group_of(uniform(50, 100)(9, np.random.default_rng(seed)), 4)
        solution = solve(group, "peak_lag", time_limit=20)
        assert solution.status == "optimal"
        assert solution.terms == solve(group, "peak_lag", method="cp-sat").terms
        by_word = solution.proof.kind is ProofKind.SOLVER
        (*said,) = check(group, solution)
        assert [one.partition(":")[0] for one in said] == ["proof of kind solver"] * by_word
        closed += by_word
    assert closed


def test_packing_closes_what_exchanges_and_cp_sat_leave_open(monkeypatch):
    times = uniform(50, 100)(33, np.random.default_rng(2))
    group = group_of(times, 12)
    assert solve(group, "peak_lag", time_limit=20).status == "optimal"
    monkeypatch.setattr(exchange, "MOST_PACKED", 0)
    assert solve(group, "peak_lag", time_limit=0.5).status == "feasible"


def test_counts_that_are_fixed_are_kept():
    times = uniform(20, 40)(27, np.random.default_rng(1))
    loads = solve(group_of(times, 10), "balance > peak_lag", time_limit=2).assignment.loads
    assert sorted(loads.tolist()) == [2] * 3 + [3] * 7
