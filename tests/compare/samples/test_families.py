from functools import partial
from itertools import pairwise, product
from typing import get_args

import numpy as np
import pytest

from compare.samples.families import Family, LastEvent, Subscriptions, differing, grid
from compare.scores import score_current
from groups import Assignment, BadInput, Group
from optimal import solve

KINDS = get_args(Subscriptions)
EVENTS = get_args(LastEvent)
POINTS = [
    Family(members, 4, 7, kind, event, skewed)
    for members, kind, event, skewed in product((1, 23), KINDS, EVENTS, (False, True))
]


def subscriptions(group: Group) -> list[frozenset[str]]:
    return [frozenset(m["subscription"]) for m in group.to_dict()["members"].values()]


def test_sizes_are_as_asked_whatever_happened_before():
    for family in POINTS:
        group = family.group(3)
        assert len(group.members) == family.members
        assert len(group.topics) == family.topics
        assert group.n_partitions == family.members * family.per_member


def test_every_point_has_a_name_of_its_own_and_every_group_its_seed():
    points = [*grid((10, 100), 10_000), *differing((10,)), *POINTS]
    names = {point.name for point in points}
    assert len(names) == len(set(points))
    assert Family(10, 5, 10).group(7).name == "10x5-10-topics-equal-fresh-7"


def test_equal_nested_and_bucketed_subscriptions_are_what_they_say():
    equal = subscriptions(Family(12, 5, 6, "equal").group(1))
    assert len(set(equal)) == 1
    nested = subscriptions(Family(12, 5, 6, "nested").group(1))
    assert all(a <= b for a, b in pairwise(nested))
    assert len(set(nested)) == 6
    buckets = set(subscriptions(Family(12, 5, 11, "buckets").group(1)))
    assert len(buckets) == 5
    assert sum(map(len, buckets)) == len(frozenset().union(*buckets)) == 11


def test_random_subscriptions_hold_about_half_of_the_topics_and_one_at_least():
    read = [len(s) for s in subscriptions(Family(200, 1, 50, "random").group(1))]
    assert 23 < np.mean(read) < 28
    assert all(subscriptions(Family(200, 1, 3, "random").group(1)))


def test_skewed_topics_shrink_as_one_over_their_rank():
    counts = Family(100, 10, 10, skewed=True).group(1).partitions
    share = 1 / np.arange(1, 11)
    assert counts.sum() == 1000
    assert (np.abs(counts - 1000 * share / share.sum()) <= 1).all()
    even = Family(100, 10, 10).group(1).partitions
    assert even.tolist() == [100] * 10


def test_of_the_partitions_added_nobody_owns_any_and_the_others_are_where_they_were():
    family = Family(10, 10, 4, "random", "partitions-added", skewed=True)
    group = family.group(3)
    added = np.maximum(group.partitions // 10, 1)
    assert np.bincount(group.topic[group.owner < 0], minlength=4).tolist() == added.tolist()
    last = group.number >= (group.partitions - added)[group.topic]
    assert ((group.owner < 0) == last).all()
    assert Assignment.current(group).balanced()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("event", "newcomers"), [("fresh", 23), ("stable", 0), ("join-one", 1), ("join-many", 2)]
)
def test_newcomers_own_nothing_and_the_others_own_the_optimum_without_them(kind, event, newcomers):
    group = Family(23, 4, 7, kind, event).group(2)
    stayed = np.arange(23 - newcomers)
    assert set(group.owner.tolist()) <= {-1, *stayed.tolist()}
    if newcomers < 23:
        before = group.only(stayed)
        row = score_current(before, solve(before))
        assert row.is_optimal
        assert row.terms[1].value == 0
        assert (group.owner >= 0).any()


@pytest.mark.parametrize(("event", "leavers"), [("leave-one", 1), ("leave-many", 2)])
def test_what_leavers_held_has_nobody_and_the_others_keep_theirs(event, leavers):
    group = Family(23, 4, 7, "equal", event).group(2)
    held = np.bincount(group.owner[group.owner >= 0], minlength=23)
    least, rest = divmod(23 * 4, 23 + leavers)
    assert set(held.tolist()) <= {least, least + 1}
    left = int((group.owner == -1).sum())
    assert leavers * least <= left <= leavers * least + min(rest, leavers)
    solution = solve(group)
    assert solution.terms[1].value == 0


def test_many_is_a_tenth_and_at_least_one():
    for members, many in ((1, 1), (9, 1), (20, 2), (100, 10)):
        group = Family(members, 10, 10, "equal", "join-many").group(1)
        idle = members - len(set(group.owner[group.owner >= 0].tolist()))
        assert idle == many


def test_the_grid_stays_within_its_limit_and_every_topic_has_a_partition():
    points = list(grid((10, 100, 1000), 10_000))
    assert points
    for point in points:
        assert point.topics <= point.members * point.per_member <= 10_000
    assert [p.members for p in points] == sorted(p.members for p in points)
    assert {p.event for p in points} == {"fresh", "join-one"}
    assert {p.subscriptions for p in points} == {"equal", "buckets"}
    assert list(grid((10,), 49)) == []


def test_the_differing_points_have_every_event_skewed_and_not():
    points = list(differing((10, 20)))
    expected = product((10, 20), ("nested", "random"), (False, True), EVENTS)
    assert [(p.members, p.subscriptions, p.skewed, p.event) for p in points] == list(expected)


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        *(
            (partial(Family, **{"members": 3} | {what: wrong}), f"{what}: {wrong}, expected a who")
            for what, wrong in product(("members", "per_member", "topics"), (0, 3.5))
        ),
        (lambda: Family(6, event="joinone"), "event: 'joinone', expected one of fresh, join-one"),
        (lambda: Family(6, subscriptions="Random"), "subscriptions: 'Random', expected one of eq"),
        (lambda: Family(3).group(-1), "seed: -1, expected a whole number of 0 or more"),
        (lambda: Family(3).group(1.5), r"seed: 1.5, expected a whole number of 0 or more"),
        (lambda: Family(3).group(10**400), "seed: an integer of 1329 bits leaves 64 bits"),
        (lambda: list(grid((10,), -1)), "most_partitions: -1, expected a whole number of 0 or mo"),
        (lambda: list(differing((0,))), "members: 0, expected a whole number of 1 or more"),
    ],
)
def test_what_is_no_point_and_no_seed_is_refused(ask, message):
    with pytest.raises(BadInput, match=f"^{message}"):
        ask()
