"""Drawn groups: within their limits, of every kind, the same for a seed, or ordinary."""

import hashlib
import json
from itertools import islice

import numpy as np
import pytest

from compare.promises.promise import PROMISES, Trial
from compare.samples.drawn import (
    DIFFERING,
    EQUAL,
    RACKS,
    STATIC,
    drawn,
    is_ordinary,
    ordinary,
    seeded,
)
from compare.samples.families import Family, placed
from groups import Assignment, Group, values
from heuristics import plan
from heuristics.assignor import Outcome
from optimal import solve
from tests.compare.conftest import holding
from tests.optimal.small_groups import document, group_of


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


def test_the_kinds_of_groups_are_what_they_are_called():
    found = seeded(300)
    assert sum(map(len, found.values())) >= 300
    for kind, groups in found.items():
        assert len(groups) > 20
        for group in groups:
            equal = np.isin(group.readers, (0, len(group.members))).all()
            current = Assignment.current(group)
            if kind in (EQUAL, DIFFERING):
                assert equal == (kind == EQUAL)
                assert not current.strays
                assert (current.owner == group.owner).all()
            assert (group.racks is not None) == (kind == RACKS)
            static = any(said.instance_id for said in group.details)
            assert not static or kind == STATIC


SETTLED = {
    "a": {"subscription": ["t"], "owned": {"t": [0, 1]}, "generation": 3},
    "b": {"subscription": ["t", "u"], "owned": {"t": [2], "u": [0]}, "generation": 3},
}
NEW = {"c": {"subscription": ["u"]}}


def group(members: dict, topics=None) -> Group:
    return Group.from_dict(document(topics or {"t": 3, "u": 1}, members))


def changed(member: str, **said) -> Group:
    members = SETTLED | NEW
    return group(members | {member: members[member] | said})


def test_a_group_in_good_order_that_somebody_joins_or_nobody_owns_anything_of_is_ordinary():
    assert is_ordinary(group(SETTLED))
    assert is_ordinary(group(SETTLED | NEW))
    assert is_ordinary(group({"a": {"subscription": ["t"]}, **NEW}))


@pytest.mark.parametrize(
    "odd",
    [
        pytest.param(changed("a", owned={"t": [0, 1, 2]}), id="two claim one partition"),
        pytest.param(changed("a", owned={"t": [0]}), id="a partition that they read has nobody"),
        pytest.param(changed("a", generation=2), id="generations differ"),
        pytest.param(changed("a", owned={"t": [0, 1, 7]}), id="a claim on what does not exist"),
        pytest.param(changed("c", subscription=[]), id="somebody reads nothing"),
        pytest.param(
            group_of(
                {"t": 3, "u": 1},
                {"a": ["t"], "b": ["t", "u"]},
                {"a": {"t": [0, 1, 2]}, "b": {"u": [0]}},
            ),
            id="a single move would improve the balance",
        ),
        pytest.param(
            group_of({"t": 1, "u": 1}, {"a": ["t"]}, {"a": {"t": [0], "u": [0]}}),
            id="somebody owns what it does not read",
        ),
    ],
)
def test_a_group_in_any_disorder_is_not(odd):
    assert not is_ordinary(odd)


def test_those_drawn_are_ordinary():
    groups = list(islice(ordinary(5), 300))
    assert sum(map(is_ordinary, groups)) > 270  # the others have a member that reads nothing
    fresh = sum(len(g.claims.member) == 0 for g in groups)
    assert 20 < fresh < 150


def test_a_promise_on_ordinary_groups_is_not_put_to_the_test_by_others():
    def run(asked: Group) -> Outcome:
        return Outcome("planned", plan(asked, "range"), None, 0.0)

    asked = PROMISES["balanced"].on_ordinary_groups()
    lopsided = group_of({"t": 1, "u": 1}, {"a": ["t", "u"], "b": ["t"]})
    assert asked.judge(Trial(run, lopsided, None)).holds is False
    rival = Group.from_dict(holding(1, {"a": [0], "b": [0]}))
    assert asked.judge(Trial(run, rival, None)).holds is None
