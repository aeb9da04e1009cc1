"""Ordinary groups: what may happen to anybody on any day."""

from itertools import islice

import pytest

from compare.promises.promise import PROMISES, Trial
from compare.samples.drawn import is_ordinary, ordinary
from groups import Group
from heuristics import plan
from heuristics.assignor import Outcome
from tests.compare.conftest import holding
from tests.optimal.small_groups import document, group_of

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


def test_a_group_in_good_order_that_somebody_joins_is_ordinary():
    assert is_ordinary(group(SETTLED))
    assert is_ordinary(group(SETTLED | NEW))


def test_a_group_in_which_nobody_owns_anything_is_ordinary():
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
