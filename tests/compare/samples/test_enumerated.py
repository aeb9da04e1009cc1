"""Enumerated groups: as many as the formulas say, each once."""

from math import comb

from compare.samples.enumerated import equal, fresh, owned, ownership_counts
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
