"""Members are in one class exactly where they read the same topics."""

import pickle
import random
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from groups import Group
from groups.fleet import Fleet
from groups.group import count_owners


def drawn(rng: random.Random, topics: int = 5) -> Group:
    """A group in which several members often read the same; some topics are empty."""
    rows = [sorted(rng.sample(range(topics), rng.randint(0, topics))) for _ in range(3)]
    reads = [rng.choice(rows) for _ in range(rng.randint(0, 7))]
    return Group.from_arrays(
        group="g",
        topics=[f"t{t}" for t in range(topics)],
        partitions=[rng.randint(0, 3) for _ in range(topics)],
        members=[f"c{m}" for m in range(len(reads))],
        subscription_indptr=np.cumsum([0, *map(len, reads)]),
        subscription_topics=np.array([t for row in reads for t in row], np.int64),
    )


def rows_of(group: Group) -> list[tuple[int, ...]]:
    ends, topics = group.subscription_indptr.tolist(), group.subscription_topics.tolist()
    return [tuple(topics[a:b]) for a, b in pairwise(ends)]


def class_rows(group: Group) -> list[tuple[int, ...]]:
    ends, topics = group.classes.indptr.tolist(), group.classes.topics.tolist()
    return [tuple(topics[a:b]) for a, b in pairwise(ends)]


def test_classes_are_the_distinct_subscriptions_by_their_first_members():
    rng = random.Random("classes")
    sizes = set()
    for _ in range(200):
        group = drawn(rng)
        rows = rows_of(group)
        assert class_rows(group) == list(dict.fromkeys(rows))
        assert [class_rows(group)[i] for i in group.classes.member] == rows
        assert group.classes.first.tolist() == [rows.index(row) for row in class_rows(group)]
        assert group.classes.size.tolist() == [rows.count(row) for row in class_rows(group)]
        sizes.add((len(group.members), len(group.classes)))
    assert {(7, 3), (1, 1), (0, 0)} <= sizes


def test_a_row_that_differs_far_behind_the_first_ones_is_a_class_of_its_own():
    topics, members = 50, 12_000
    rows = np.tile(np.arange(topics), (members, 1))
    rows[-2, -1] = topics
    group = Group.from_arrays(
        group="g",
        topics=[f"t{t}" for t in range(topics + 1)],
        partitions=[1] * (topics + 1),
        members=[f"c{m}" for m in range(members)],
        subscription_indptr=np.arange(members + 1) * topics,
        subscription_topics=rows.reshape(-1),
    )
    assert group.classes.size.tolist() == [members - 1, 1]
    assert group.classes.first.tolist() == [0, members - 2]


def test_readers_and_subscriptions_are_those_of_the_rows():
    rng = random.Random("readers")
    for _ in range(100):
        group = drawn(rng)
        rows, topics = rows_of(group), range(len(group.topics))
        assert group.readers.tolist() == [sum(t in row for row in rows) for t in topics]
        pairs = [(m, t) for m in range(len(rows)) for t in topics]
        for some in (pairs, pairs[-1:]):
            member, topic = np.array(some, np.int64).reshape(-1, 2).T
            expected = [t in rows[m] for m, t in some]
            assert group.subscribes(member, topic).tolist() == expected
        full = {t for t in topics if group.partitions[t]}
        assert group.everybody_reads_all is (bool(rows) and all(full <= set(r) for r in rows)
                                             and len(set(rows)) == 1)  # fmt: skip


def test_a_member_of_unknown_subscription_is_not_said_to_read_all():
    document = {
        "format": "assay-group/1",
        "group": "g",
        "topics": {"t": 2},
        "members": {"a": {"subscription": None}, "b": {"subscription": None}},
    }
    group = Group.from_dict(document)
    assert group.subscribes(np.array([0, 1]), np.array([0, 0])).tolist() == [True, True]
    assert not group.everybody_reads_all
    known = group.with_equal_subscriptions()
    assert class_rows(known) == [(0,)]
    assert known.everybody_reads_all


def test_a_copy_keeps_the_classes_until_its_subscriptions_change():
    group = drawn(random.Random("copy"))
    assert replace(group, name="other").classes is group.classes
    rows = np.zeros(len(group.members), np.int32)
    changed = replace(
        group, subscription_indptr=np.arange(len(rows) + 1), subscription_topics=rows
    )
    assert class_rows(changed) == [(0,)]
    read = pickle.loads(pickle.dumps(group))
    assert class_rows(read) == class_rows(group)
    assert replace(read, name="other").classes is read.classes


@pytest.mark.parametrize("count", [0, 1, 5])
def test_a_fleet_has_the_classes_of_its_groups_side_by_side(count):
    rng = random.Random(count)
    groups = [drawn(rng) for _ in range(count)]
    fleet = Fleet.of(groups).group
    rows = rows_of(fleet)
    assert [class_rows(fleet)[i] for i in fleet.classes.member] == rows
    assert len(fleet.classes) == sum(len(group.classes) for group in groups)
    assert fleet.classes.size.tolist() == [n for g in groups for n in g.classes.size.tolist()]
    assert [rows[i] for i in fleet.classes.first] == class_rows(fleet)
    assert fleet.classes.are_of(fleet.subscription_indptr, fleet.subscription_topics)


@pytest.mark.parametrize("owner", [[], [-1, -1], [0, 2, 2], [-1, 1, 1, -1]])
def test_owners_are_counted_with_and_without_partitions_of_nobody(owner):
    counted = count_owners(np.array(owner, np.int32), 3)
    assert counted.tolist() == [owner.count(m) for m in range(3)]
