"""What is looked at one by one where there is little of it, and by columns elsewhere."""

import random

import numpy as np
import pytest

from optimal.flow import levels, pools
from optimal.flow.levels import components
from optimal.flow.pools import alike, pools_of
from optimal.flow.stages import Stages
from tests.optimal.random_groups import random_group

STAGES = Stages.of(("balance", "stickiness"))


def test_few_pools_and_classes_have_the_components_that_columns_find(monkeypatch):
    rng, several = random.Random("components"), 0
    for _ in range(200):
        group = random_group(rng, members=rng.randint(1, 8), partitions=rng.randint(1, 20))
        some = pools_of(group, STAGES)
        found = []
        for few in (0, 10_000):
            monkeypatch.setattr(levels, "FEW", few)
            found.append([part.tolist() for part in components(some)])
        assert found[0] == found[1]
        several += max(found[0][1], default=0) > 0
    assert several > 20


@pytest.mark.parametrize("columns", [0, 1, 2])
def test_few_rows_are_alike_where_columns_find_them_alike(monkeypatch, columns):
    rng = random.Random(columns)
    for _ in range(200):
        listed = [sorted(rng.sample(range(4), rng.randint(0, 2))) for _ in range(8)]
        indptr = np.cumsum([0, *map(len, listed)])
        entries = np.array([entry for row in listed for entry in row], np.int64)
        told_apart = [np.array([rng.randint(0, 1) for _ in listed]) for _ in range(columns)]
        found = []
        for few in (0, 10_000):
            monkeypatch.setattr(pools, "FEW", few)
            number, first = alike(indptr, entries, 4, told_apart)
            found.append((number.tolist(), first.tolist()))
        assert found[0] == found[1]
