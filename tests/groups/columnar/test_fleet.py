"""Fleets: some of their groups are a fleet again."""

import random
from dataclasses import fields

import numpy as np
import pytest

from groups import Group
from groups.fleet import Fleet
from tests.optimal.random_groups import random_group


@pytest.mark.parametrize("cut", ["side by side", "anywhere"])
def test_some_groups_of_a_fleet_are_the_fleet_of_these_groups(cut):
    rng = random.Random(cut)
    groups = [
        random_group(rng, members=rng.randint(0, 6), partitions=rng.randint(0, 20))
        for _ in range(40)
    ]
    whole = Fleet.of(groups)
    for _ in range(40):
        first, end = sorted(rng.sample(range(41), 2))
        inside = [first <= at < end for at in range(40)]
        chosen = inside if cut == "side by side" else [rng.random() < 0.5 for _ in groups]
        some, alone = whole.only(np.array(chosen)), [groups[at] for at in np.flatnonzero(chosen)]
        expected = Fleet.of(alone)
        for name in ("member_start", "topic_start", "partition_start", "other_claims"):
            assert getattr(some, name).tolist() == getattr(expected, name).tolist()
        assert [some.alone(at) for at in range(len(some))] == alone
        for column in fields(Group):
            mine, other = (getattr(one.group, column.name) for one in (some, expected))
            if isinstance(mine, np.ndarray) and other is not None:
                assert (mine.tolist(), mine.dtype) == (other.tolist(), other.dtype)
                assert not mine.flags.writeable
