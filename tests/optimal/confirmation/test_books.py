"""Books: what the audit counts of an assignment."""

import numpy as np
import pytest

from groups import Group
from optimal.confirmation.books import AT_ONCE, Books


@pytest.mark.parametrize("partitions", [0, 1, 50, AT_ONCE, 3 * AT_ONCE + 1])
@pytest.mark.parametrize("order", ["nobody", "runs", "random", "runs, then random"])
def test_holders_are_counted_in_whatever_order_they_come(partitions, order):
    members, rng = 7, np.random.default_rng(partitions)
    group = Group.from_arrays(
        group="g",
        topics=["t"],
        partitions=[partitions],
        members=[f"c{m}" for m in range(members)],
        subscription_indptr=np.arange(members + 1),
        subscription_topics=np.zeros(members, np.int32),
    )
    held = rng.integers(-1, members, partitions)
    if order == "nobody":
        held[:] = -1
    ordered = {"random": 0, "runs, then random": 2 * partitions // 3}.get(order, partitions)
    held[:ordered].sort()
    counted = Books.of(group, held.astype(np.int32)).counted(held.astype(np.int32))
    assert counted.tolist() == [np.count_nonzero(held == m) for m in range(-1, members)]
