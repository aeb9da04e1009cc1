"""A snapshot without its names keeps its optimum."""

import random

import pytest

from groups import Group
from groups.documents.pseudonyms import anonymise
from optimal import solve
from tests.optimal.random_groups import random_group


@pytest.mark.parametrize("objective", ["kip-54", "kip-54-fairest", "kip-881", "topic_balance"])
def test_pseudonyms_change_neither_the_optimum_nor_who_gets_what(objective):
    rng = random.Random(f"anonymous {objective}")
    for _ in range(60):
        group = random_group(rng, members=5, partitions=12)
        hidden = Group.from_dict(anonymise(group.to_dict()))
        assert set(hidden.members).isdisjoint(group.members) or not group.members
        before, after = solve(group, objective), solve(hidden, objective)
        assert after.terms == before.terms
        assert after.assignment.owner.tolist() == before.assignment.owner.tolist()
