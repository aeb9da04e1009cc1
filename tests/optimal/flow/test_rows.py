"""Members and topics that are alike are put together; what is connected is one component."""

import random
from collections import Counter

import numpy as np
import pytest

from optimal.flow.flows import Stages
from optimal.flow.levels import components
from optimal.flow.pools import pools_of
from tests.optimal.random_groups import random_group


def numbered(keys) -> list[int]:
    """Return a number for each key; equal keys have one number, in order of first appearance."""
    seen: dict[object, int] = {}
    return [seen.setdefault(key, len(seen)) for key in keys]


@pytest.mark.parametrize(
    "objective", [("balance", "stickiness"), ("racks", "balance", "moved_weight")]
)
def test_members_and_topics_are_put_together_where_nothing_tells_them_apart(objective):
    rng, several = random.Random("alike"), 0
    stages = Stages.of(objective)
    for _ in range(200):
        group = random_group(rng, members=rng.randint(1, 8), partitions=rng.randint(1, 20))
        some = pools_of(group, stages)
        kept = [int((some.kept & (group.owner == m)).sum()) for m in range(len(group.members))]
        racks = group.racks.member.tolist() if "racks" in objective else kept
        there = {*np.flatnonzero(group.partitions).tolist()}
        reads = [there & {*group.subscription(m).tolist()} for m in range(len(group.members))]
        keys = [*zip(map(frozenset, reads), kept, racks, strict=True)]
        assert some.member_class.tolist() == numbered(keys)
        assert some.class_size.tolist() == [*Counter(keys).values()]
        if "racks" not in objective:
            readers = [
                frozenset(m for m, r in enumerate(reads) if t in r)
                for t in range(len(group.topics))
            ]
            used = [t for t, r in enumerate(readers) if r]
            of_topic = dict(zip(used, numbered(readers[t] for t in used), strict=True))
            assert some.pool.tolist() == [of_topic.get(t, -1) for t in group.topic.tolist()]
        several += 1 < len(some.class_size) < len(group.members)
    assert several > 50


def test_components_are_what_reads_lead_to_from_one_pool_or_class():
    rng, several = random.Random("components"), 0
    for _ in range(200):
        group = random_group(rng, members=rng.randint(1, 8), partitions=rng.randint(1, 20))
        some = pools_of(group, Stages.of(("balance", "stickiness")))
        of_pool, of_class = (part.tolist() for part in components(some))
        together = [{("pool", p)} for p in range(len(of_pool))]
        together += [{("class", c)} for c in range(len(of_class))]
        for p, c in zip(some.read_pool.tolist(), some.read_by.tolist(), strict=True):
            one, *other = (part for part in together if part & {("pool", p), ("class", c)})
            together = [part for part in together if part not in other]
            one.update(*other)
        number = {"pool": of_pool, "class": of_class}
        assert all(len({number[kind][at] for kind, at in part}) == 1 for part in together)
        assert len({*of_pool, *of_class}) == len(together)
        several += len(together) > 1
    assert several > 20
