"""Balanced differencing, the published heuristic that the benchmark sets beside the search."""

from __future__ import annotations

import random

import numpy as np

from benchmarks.differencing import balanced_differencing
from groups import values
from heuristics import assign
from tests.optimal.small_groups import group_of


def test_three_each_are_off_by_no_more_than_the_ratio_that_michiels_et_al_prove():
    """No more than 4/3 of the best for three partitions each (STACS 2003); here of the average."""
    rng = random.Random(1)
    for members in (2, 3, 8):
        for _ in range(20):
            size = np.array([rng.randint(50, 100) for _ in range(3 * members)], np.int64)
            holder = balanced_differencing(size, members)
            carried = np.bincount(holder, size, members)
            assert (np.bincount(holder, minlength=members) == 3).all()
            assert carried.max() <= 4 / 3 * max(size.sum() / members, size.max())


def test_counts_differ_by_one_at_most_and_nothing_is_left_out():
    for count in range(12):
        holder = balanced_differencing(np.arange(count, dtype=np.int64) ** 2, 4)
        held = np.bincount(holder, minlength=4)
        assert held.sum() == count
        assert held.max() - held.min() <= 1


def test_two_members_share_8_7_6_5_4_as_the_method_says():
    """Rows (8, 7), (6, 5), (4, -): the last differs most; 8 and 0, 7 and 4; then 5 and 6."""
    holder = balanced_differencing(np.array([8, 7, 6, 5, 4]), 2)
    assert sorted(np.bincount(holder, [8, 7, 6, 5, 4]).tolist()) == [14, 16]


def test_the_published_lag_based_assignor_s_own_example_comes_out():
    """The example in LagBasedPartitionAssignor: 100,000 for one, 50,000 and 60,000 the other."""
    topics = {"t0": {"partitions": 3, "lag": [100_000, 50_000, 60_000]}}
    group = group_of(topics, {"C0": ["t0"], "C1": ["t0"]})
    assignment = assign(group, "kip-169-lag")
    assert assignment.owner.tolist() == [0, 1, 1]
    assert values(assignment, ("peak_lag",)) == (110_000,)
