import random
import re

import numpy as np
import pytest

from compare.gains import early_gain, what_moves_buy
from compare.judged import Judged, judge
from groups import Group
from optimal import solve
from tests.optimal.random_groups import crowded
from tests.optimal.small_groups import group_of


def judged(group: Group) -> Judged:
    [one] = judge([group])
    return one


@pytest.mark.exhaustive
def test_what_is_said_can_be_had_and_is_most_of_the_gain():
    rng, said = random.Random("early"), 0
    for _ in range(240):
        group = crowded(rng, members=4, partitions=rng.randint(6, 20))
        one = judged(group)
        line = early_gain(one)
        if line is None:
            continue
        said += 1
        found = re.fullmatch(r"(\d+) moves? gives? (\d+)% of what (\d+) would\.", line)
        few, share, every = map(int, found.groups())
        assert 0 < few < every == one.verdict.moves
        assert 80 <= share < 100
        reached = solve(group, "balance", at_most={"stickiness": few}).terms[0].value
        now, best = one.now.loads, one.best.terms[0].value
        worst = int(np.abs(now[:, None] - now).sum()) // 2
        # Rounded to the nearest.
        assert 200 * (worst - reached) >= (2 * share - 1) * (worst - best)
    assert said > 20


def test_of_members_that_read_alike_no_fewer_moves_bring_as_much():
    group = group_of(
        {"t": 40},
        {c: ["t"] for c in ("c0", "c1", "c2", "c3")},
        {"c0": {"t": list(range(20))}, "c1": {"t": list(range(20, 40))}},
    )
    assert early_gain(judged(group)) == "16 moves give 80% of what 20 would."
    now, best, reached, less = (
        solve(group, "balance", at_most={"stickiness": k}).terms[0].value for k in (0, 20, 16, 15)
    )
    assert 100 * (now - reached) >= 80 * (now - best) > 100 * (now - less)


@pytest.mark.parametrize(
    ("few", "line"), [(1, "1 move gives 80% of what 12 would"), (3, "3 moves give 80% of what 12")]
)
def test_one_is_singular(few, line):
    assert what_moves_buy(few, 8, 12, 10).startswith(line)


def test_nothing_is_said_of_what_is_not_sure_or_needs_every_move():
    even = group_of({"t": 2}, {"a": ["t"], "b": ["t"]}, {"a": {"t": [0]}, "b": {"t": [1]}})
    assert early_gain(judged(even)) is None
    two = group_of({"t": 4}, {"a": ["t"], "b": ["t"]}, {"a": {"t": [0, 1, 2, 3]}})
    assert judged(two).verdict.moves == 2
    assert early_gain(judged(two)) is None
    held = {"a": {"t": [*range(20)]}, "b": {"u": [0]}}
    unknown = group_of({"t": 20, "u": 1}, {"a": None, "b": None}, held)
    assert not judged(unknown).verdict.sure
    assert early_gain(judged(unknown)) is None


def test_nothing_is_said_of_a_group_too_large_to_look_at_in_passing():
    rng = np.random.default_rng(1)
    rows = [np.sort(rng.choice(20, 12, replace=False)) for _ in range(50)]
    group = Group.from_arrays(
        group="large",
        topics=[f"t{t:02}" for t in range(20)],
        partitions=np.full(20, 50),
        members=[f"c{m:02}" for m in range(50)],
        subscription_indptr=np.arange(51) * 12,
        subscription_topics=np.concatenate(rows),
        owner=np.repeat([next(m for m in range(50) if t in rows[m]) for t in range(20)], 50),
    )
    assert judged(group).verdict.says == "improvable"
    assert early_gain(judged(group)) is None
