"""Drawn and placed groups: within their limits, of every kind, the same for a seed."""

import hashlib
import json
from itertools import islice

import pytest

from compare.samples.drawn import drawn, ordinary, seeded
from compare.samples.families import Family, placed
from groups import Assignment, values
from optimal import solve


def digest(groups) -> str:
    text = json.dumps([group.to_dict() for group in groups], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


# What the findings were measured on: with other groups, their figures would be of nothing.
@pytest.mark.parametrize(
    ("groups", "expected"),
    [
        (lambda: [g for kind in seeded(300).values() for g in kind], "419e7637183b70ae"),
        (lambda: islice(ordinary(1), 200), "8e291f788bee5b0f"),
        (
            lambda: [Family(12, 7, 5, "random", "join-many", True).group(s) for s in range(9)],
            "8ab2061b49091bf7",
        ),
    ],
    ids=["kinds", "ordinary", "family"],
)
def test_the_groups_of_a_seed_stay_what_they_are(groups, expected):
    assert digest(groups()) == expected


def test_what_members_hold_at_first_is_an_optimum_of_each_group():
    groups = [Family(8, 5, 4, "random", "fresh").group(seed) for seed in range(5)]
    for group, owner in zip(groups, placed(groups), strict=True):
        held = Assignment(group, owner)
        assert held.is_valid
        assert values(held, ("balance",))[0] == solve(group, "balance").terms[0].value


def test_drawn_groups_are_within_their_limits_and_of_every_kind():
    groups = list(islice(drawn(3), 400))
    assert [g.to_dict() for g in islice(drawn(3), 20)] == [g.to_dict() for g in groups[:20]]
    assert {len(g.members) for g in groups} == set(range(2, 9))
    assert max(g.n_partitions for g in groups) <= 36
    rivals = [g for g in groups if len(g.claims.member) > len(set(
        zip(g.claims.topic.tolist(), g.claims.partition.tolist(), strict=True)))]  # fmt: skip
    assert rivals
    assert any(len(set(g.generation.tolist())) > 1 for g in groups)
    assert any((g.owner < 0).all() for g in groups)
    assert any((g.owner >= 0).all() for g in groups)
