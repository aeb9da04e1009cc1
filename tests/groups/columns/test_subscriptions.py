"""Each distinct topic list is kept once; whether equal ones are changes no answer."""

import random
from itertools import pairwise

import numpy as np
import pytest

from groups import BadInput, Group
from groups.arrays import count_owners
from optimal import solve
from tests.optimal.random_groups import with_a_row_each


def drawn(rng: random.Random, topics: int = 5) -> tuple[Group, list[list[int]]]:
    """Return a group with many equal subscriptions, and the topics that each member reads.

    Some topics are empty.
    """
    rows = [sorted(rng.sample(range(topics), rng.randint(0, topics))) for _ in range(3)]
    reads = [rng.choice(rows) for _ in range(rng.randint(0, 7))]
    group = Group.from_arrays(
        group="g",
        topics=[f"t{t}" for t in range(topics)],
        partitions=[rng.randint(0, 3) for _ in range(topics)],
        members=[f"c{m}" for m in range(len(reads))],
        subscription_indptr=np.cumsum([0, *map(len, reads)]),
        subscription_topics=np.array([t for row in reads for t in row], np.int64),
    )
    return group, reads


def listed_in(group: Group) -> list[tuple[int, ...]]:
    """Return the subscription rows of a group."""
    ends, topics = group.subscription_indptr.tolist(), group.subscription_topics.tolist()
    return [tuple(topics[a:b]) for a, b in pairwise(ends)]


def test_rows_keep_their_order_equal_ones_are_put_together_and_unread_ones_left_out():
    columns = {
        "group": "g",
        "topics": ["t0", "t1"],
        "partitions": [1, 1],
        "members": ["c0", "c1", "c2"],
        "subscription_indptr": [0, 1, 3, 5, 5, 6],
        "subscription_topics": [1, 0, 1, 0, 1, 0],
        "subscription_row": [2, 4, 1],
    }
    group = Group.from_arrays(**columns)
    assert listed_in(group) == [(0, 1), (0,)]
    assert group.subscription_row.tolist() == [0, 1, 0]
    with pytest.raises(BadInput, match=r"subscription_row\[1\]: 5, but there are 5 rows"):
        Group.from_arrays(**columns | {"subscription_row": [0, 5, 0]})
    with pytest.raises(BadInput, match=r"subscription_row: 2 values, expected 3"):
        Group.from_arrays(**columns | {"subscription_row": [0, 1]})
    with pytest.raises(BadInput, match="subscription_indptr: expected to rise from 0"):
        Group.from_arrays(**columns | {"subscription_indptr": []})
    with pytest.raises(BadInput, match="subscription_indptr: 6 values, expected 4"):
        Group.from_arrays(**columns | {"subscription_row": None})


def test_a_row_that_differs_far_behind_the_first_ones_is_kept():
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
    assert group.subscriptions.size.tolist() == [members - 1, 1]
    assert group.subscriptions.first.tolist() == [0, members - 2]


def test_ten_thousand_members_of_a_thousand_topics_are_eleven_thousand_integers():
    members, topics = 10_000, 1000
    group = Group.from_arrays(
        group="g",
        topics=[f"t{t}" for t in range(topics)],
        partitions=[1] * topics,
        members=[f"c{m}" for m in range(members)],
        subscription_indptr=[0, topics],
        subscription_topics=np.arange(topics),
        subscription_row=np.zeros(members, int),
    )
    assert solve(group).terms[0].value == topics * (members - topics)
    held = [vars(group)[name] for name in vars(group) if name != "subscription_pairs"]
    assert len(group.subscription_topics) + len(group.subscription_row) == 11_000
    assert max(value.size for value in held if isinstance(value, np.ndarray)) == members
    assert "subscription_pairs" not in vars(group)


def test_readers_and_subscriptions_are_those_of_the_rows():
    rng = random.Random("readers")
    for _ in range(100):
        group, rows = drawn(rng)
        topics = range(len(group.topics))
        order = rng.sample(range(len(rows)), len(rows))
        for made in (group, with_a_row_each(group, order)):
            assert made.readers.tolist() == [sum(t in row for row in rows) for t in topics]
            assert made.reads.tolist() == list(map(len, rows))
            assert [made.subscription(m).tolist() for m in range(len(rows))] == rows
            assert [made.subscribers(t).tolist() for t in topics] == [
                [m for m, row in enumerate(rows) if t in row] for t in topics
            ]
            read = [(m, t) for m, row in enumerate(rows) for t in row]
            assert list(zip(*map(list, made.subscription_pairs), strict=True)) == read
            pairs = [(m, t) for m in range(len(rows)) for t in topics]
            for some in (pairs, pairs[-1:]):
                member, topic = np.array(some, np.int64).reshape(-1, 2).T
                expected = [t in rows[m] for m, t in some]
                assert made.subscribes(member, topic).tolist() == expected
        full = {t for t in topics if group.partitions[t]}
        assert group.everybody_reads_all is (bool(rows) and all(full <= set(r) for r in rows)
                                             and len(set(map(tuple, rows))) == 1)  # fmt: skip


@pytest.mark.parametrize(
    "owner",
    [
        [], [-1, -1], [0, 2, 2], [-1, 1, 1, -1], [0] * 40 + [-1] * 40 + [2] * 40,
        [1] * 2**16 + [0, -1, 2] * 2**16, [0, 1, 2] * 50_000,
    ],
    ids=lambda owner: f"{len(owner)} owners",
)  # fmt: skip
def test_owners_are_counted_with_and_without_partitions_of_nobody(owner):
    counted = count_owners(np.array(owner, np.int32), 3)
    assert counted.tolist() == [owner.count(m) for m in range(3)]
