"""The rule that ends, beside the one that people run, on the same algorithm."""

from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from compare.promises.findings import read_findings
from compare.samples.drawn import ordinary
from compare.samples.enumerated import equal
from groups import values
from heuristics import assign
from heuristics.written.kip54 import hand_out
from heuristics.written.sticky_that_ends import from_its_holder, from_where_it_started, steps
from optimal.solve import solve_many
from tests.heuristics.conftest import every_small_group
from tests.optimal.small_groups import group_of

ROOT = Path(__file__).parents[3]
SIX = {
    "m0": (["t0", "t2"], {"t0": [0], "t2": [0, 1, 2, 3, 4, 5, 6]}),
    "m1": (["t3"], {"t3": [0, 1, 2, 3, 4]}),
    "m2": (["t3"], {"t3": [5, 6, 7, 8]}),
    "m3": (["t0"], {"t0": [1, 2, 3, 4, 5, 6, 7, 8, 9]}),
    "m4": (["t0", "t1"], {"t0": [10], "t1": [0, 1, 2, 3, 4, 5, 6]}),
    "m5": (["t0", "t3"], {}),
}
NEVER_RETURNS = group_of(
    {"t0": 11, "t1": 7, "t2": 7, "t3": 9},
    {m: reads for m, (reads, _) in SIX.items()},
    {m: owned for m, (_, owned) in SIX.items()},
)
FINDINGS = read_findings(ROOT / "corpus/findings.jsonl")
ENDLESS = {f.id: f.group for f in FINDINGS if f.promise == "terminates"}
MANY = 2000


def squares(group, owner):
    return int((np.bincount(owner[owner >= 0], minlength=len(group.members)) ** 2).sum())


def played(group, rule):
    """Yield up to `MANY` steps, each with the owners after it."""
    owner = hand_out(group, group.owner)
    for step in islice(steps(group, owner, rule), MANY):
        yield step, owner


def every_step_lowers_the_squares(group):
    before, taken = squares(group, hand_out(group, group.owner)), 0
    for step, owner in played(group, from_its_holder):
        now = squares(group, owner)
        assert now <= before - 2
        assert step.leaves == step.holder
        before, taken = now, taken + 1
    assert taken < MANY
    return taken


def test_each_step_lowers_the_sum_of_the_squared_loads_by_two_or_more():
    taken = [every_step_lowers_the_squares(group) for group in every_small_group(2, 3, 4)]
    assert max(taken) >= 2
    assert sum(map(bool, taken)) > 100


@pytest.mark.parametrize("name", ENDLESS)
def test_it_ends_balanced_on_every_finding_on_which_a_client_does_not(name):
    group = ENDLESS[name]
    assert every_step_lowers_the_squares(group) > 0
    made = assign(group, "sticky-that-ends")
    assert made.is_valid
    assert made.balanced()


def test_it_is_valid_and_balanced_on_every_small_group():
    for group in every_small_group(2, 3, 4):
        made = assign(group, "sticky-that-ends")
        assert made.is_valid
        assert made.balanced()


def test_on_ordinary_groups_it_moves_no_more_than_the_rule_that_people_run_and_ends_as_balanced():
    fewer = 0
    for group in islice(ordinary(5), 300):
        run = list(played(group, from_where_it_started))
        if len(run) == MANY:
            continue
        other = run[-1][1] if run else hand_out(group, group.owner)
        made = assign(group, "sticky-that-ends")
        theirs = int(((other != group.owner) & (group.owner >= 0)).sum())
        (moves,) = values(made, ("stickiness",))
        loads = np.bincount(other[other >= 0], minlength=len(group.members))
        assert sorted(loads.tolist()) == sorted(made.loads.tolist())
        assert moves <= theirs
        fewer += moves < theirs
    assert fewer > 0


@pytest.mark.exhaustive
def test_where_all_read_the_same_neither_loads_nor_moves_could_be_better():
    groups = [small.group() for small in islice(equal(5, 12), 0, None, 25)]
    for group, optimum in zip(groups, solve_many(groups, "kip-54"), strict=True):
        made = assign(group, "sticky-that-ends")
        assert values(made, ("balance", "stickiness")) == tuple(t.value for t in optimum.terms)


def test_where_all_read_the_same_who_has_most_gives_and_first_what_it_did_not_own():
    owned = {"a": {"t": [0, 1]}, "b": {"t": [2, 3, 4]}}
    group = group_of({"t": 6}, {"a": ["t"], "b": ["t"], "c": ["t"]}, owned)
    assert assign(group, "sticky-that-ends").to_dict() == {
        "a": {"t": [0, 1]},
        "b": {"t": [2, 3]},
        "c": {"t": [4, 5]},
    }


def test_a_partition_that_came_from_the_member_that_should_have_one_goes_back_to_it():
    taken = [
        step for step, _ in played(NEVER_RETURNS, from_its_holder) if step.moved != step.partition
    ]
    assert len(taken) == 1
    assert NEVER_RETURNS.owner[taken[0].moved] == taken[0].to
    assert NEVER_RETURNS.topic[taken[0].moved] == NEVER_RETURNS.topic[taken[0].partition]
