"""Enumerated groups: as many as the formulas say, each once, and every ordinary one of a size."""

from itertools import combinations, groupby, product
from math import comb

import pytest

from compare.samples.drawn import is_ordinary
from compare.samples.enumerated import (
    Small,
    equal,
    fresh,
    joined,
    joins,
    owned,
    ownership_counts,
)
from groups import Group


def test_equal_groups_are_counted_as_the_formula_says():
    """One topic, or as many as partitions: of P partitions N members own C(P + N, N) ways."""
    for members, partitions in ((1, 3), (3, 4), (4, 6)):
        ways = sum(
            comb(p + n, n) * (1 if p == 1 else 2)
            for n in range(1, members + 1)
            for p in range(1, partitions + 1)
        )
        found = list(equal(members, partitions))
        assert len(found) == len(set(found)) == ways
    assert sum(1 for _ in ownership_counts(3, 4)) == comb(7, 3)


def test_fresh_groups_are_every_choice_of_sizes_and_subscriptions():
    sizes = {1: 3, 2: 3, 3: 1}  # ways to give 1, 2 or 3 topics at most 3 partitions
    ways = sum(sizes[t] * ((2**t - 1) + (2**t - 1) ** 2) for t in sizes)
    found = list(fresh(3, 2, 3))
    assert len(found) == len(set(found)) == ways
    assert all(max(small.owner) < 0 for small in found)


def test_owned_groups_have_an_owner_who_reads_what_it_owns():
    found = list(owned(2, 2, 3))
    assert len(found) == len(set(found))
    for small in found:
        group = small.group()
        assert (group.owner >= 0).any()
        assert group.to_dict() == Group.from_dict(group.to_dict()).to_dict()


def by_hand(members: int, counts: tuple[int, ...]):
    """Yield every group with these topics, whether it is wanted or not."""
    topics = range(len(counts))
    choices = [row for size in range(1, len(counts) + 1) for row in combinations(topics, size)]
    for rows in product(choices, repeat=members):
        if {t for row in rows for t in row} == set(topics):
            for owner in product(range(-1, members), repeat=sum(counts)):
                yield Small(counts, rows, owner)


def is_wanted(small: Small) -> bool:
    """Whether a member owns nothing, and all owners read what they own."""
    of = [t for t, count in enumerate(small.counts) for _ in range(count)]
    strays = any(m >= 0 and t not in small.rows[m] for m, t in zip(small.owner, of, strict=True))
    return not strays and len({*small.owner} - {-1}) < len(small.rows)


@pytest.mark.parametrize(
    ("members", "counts"), [(1, (2,)), (2, (2,)), (3, (3,)), (2, (1, 2)), (3, (2, 1))]
)
def test_the_joins_of_a_size_are_all_ordinary_groups_that_there_are(members, counts):
    expected = {s for s in by_hand(members, counts) if is_wanted(s) and is_ordinary(joined(s))}
    found = [s for s in joins(members, len(counts), sum(counts)) if s.counts == counts]
    assert set(found) == expected
    assert len(found) == len(expected) > 0


def test_joins_of_one_new_member_are_those_in_which_one_owns_nothing():
    every = list(joins(3, 2, 3))
    one = {s for s in every if len({*s.owner} - {-1}) == 2}
    assert {*joins(3, 2, 3, new=1)} == one
    assert 0 < len(one) < len(every)


def test_adjoining_joins_are_those_in_which_nobody_owns_two_runs_of_a_topic():
    def adjoin(small: Small) -> bool:
        at = iter(small.owner)
        topics = [[m for m, _ in groupby([next(at) for _ in range(c)])] for c in small.counts]
        return all(len(runs) == len(set(runs)) for runs in topics)

    every = list(joins(3, 2, 5))
    few = list(joins(3, 2, 5, adjoining=True))
    assert set(few) == {s for s in every if adjoin(s)}
    assert 0 < len(few) < len(every)


def test_a_joined_group_has_one_generation_and_members_without_any():
    (small,) = (s for s in joins(2, 1, 1) if s.owner == (1,))
    members = joined(small).to_dict()["members"]
    assert members == {
        "m0": {"subscription": ["t0"], "owned": {}},
        "m1": {"subscription": ["t0"], "owned": {"t0": [0]}, "generation": 1},
    }
