"""assert_optimal and assert_within: what they let through, and what they say."""

import doctest
import json
import re

import pytest

from assay import testing
from assay.testing import assert_optimal, assert_within
from groups import Assignment, BadInput, Group
from optimal import solve
from tests.assay.calling import LOPSIDED, UNKNOWN
from tests.compare.conftest import holding
from tests.groups.importers.imported import OFFSETS

BEST = {"c0": {"t0": [0, 1], "t1": [0]}, "c1": {"t1": [1, 2]}}
ALL_TO_ONE = {"c0": {"t0": [0, 1], "t1": [0, 1, 2]}, "c1": {}}
OTHER = {"c0": {"t0": [0, 1]}, "c1": {"t1": [0, 1, 2]}}
HEAVY = holding(
    [3**i % 99_991 for i in range(200)], {f"m{i}": [] for i in range(63)}, group="heavy"
)


def refused(call, *arguments, **more) -> list[str]:
    with pytest.raises(AssertionError) as caught:
        call(*arguments, **more)
    return str(caught.value).split("\n")


def test_a_group_and_an_assignment_may_come_in_any_shape(tmp_path):
    group = Group.from_dict(LOPSIDED)
    snapshot, plan = tmp_path / "orders.json", tmp_path / "plan.json"
    snapshot.write_text(json.dumps(LOPSIDED))
    plan.write_text(json.dumps(BEST))
    for one in (group, LOPSIDED, json.dumps(LOPSIDED), snapshot, str(snapshot)):
        assert_optimal(one, BEST)
    solution = solve(group).to_dict()
    for made in (Assignment.from_dict(group, BEST), json.dumps(BEST), plan, str(plan), solution):
        assert_optimal(group, made)


def test_what_is_not_optimal_is_said_with_what_is_better_and_by_how_much_and_the_proof():
    assert refused(assert_optimal, LOPSIDED, ALL_TO_ONE) == [
        "orders: balance 5, the best is 1",
        "loads: c0 5, c1 0; of the best: c0 3, c1 2",
        'a best one: {"c0": {"t0": [0, 1], "t1": [0]}, "c1": {"t1": [1, 2]}}',
        "the best: balance 1, moves 2: a certificate proves it, which assay check recomputes",
    ]
    first = refused(assert_optimal, LOPSIDED, OTHER)[0]
    assert first == "orders: moves 3, the best is 2"


def test_within_so_much_of_the_best():
    assert_within(LOPSIDED, ALL_TO_ONE, {"balance": 4})
    assert_within(LOPSIDED, OTHER, {"balance": 0, "moves": 1})
    assert_within(LOPSIDED, OTHER, {})
    line = refused(assert_within, LOPSIDED, ALL_TO_ONE, {"balance": 3})[0]
    assert line == "orders: balance 5, the best is 1, more than 3 above it"


@pytest.mark.parametrize(
    ("assignment", "line"),
    [
        ({"c0": {"t0": [0, 1]}}, "orders: not valid: t1-0 with nobody: unassigned, t1-1 .*"),
        (BEST | {"c1": {"t0": [0], "t1": [1, 2]}}, "orders: not valid: t0-0 with c1: double.*"),
        ({"c0": {"t0": [0, 1, 9]}}, "orders: not valid: t0-9 with c0: no-such-partition, .*"),
        ({"c9": {"t0": [0]}}, "orders: not valid: assignment: 'c9' is not a member of the group"),
    ],
)
def test_what_is_not_valid_is_never_near_enough(assignment, line):
    for call in (assert_optimal, lambda *both: assert_within(*both, {})):
        assert re.fullmatch(line, refused(call, LOPSIDED, assignment)[0])


def test_what_could_not_be_proved_in_time_is_no_success():
    group = Group.from_dict(HEAVY)
    held = {f"m{i}": {"t": [*range(i, 200, 63)]} for i in range(63)}
    said = refused(assert_optimal, group, held, "peak_lag", time_limit=1e-9)
    assert said == ["heavy: nothing was found in 1e-09 s to compare it with"]
    said = refused(assert_optimal, group, held, "balance > peak_lag", time_limit=1e-9)
    assert re.fullmatch(
        r"heavy: peak_lag \d+; the best was not proved in 1e-09 s: it is at least \d+, "
        r"and \d+ was found",
        said[0],
    )
    assert re.fullmatch(r"the best found: .*peak_lag \d+: not proved", said[-1])


def test_unknown_subscriptions_are_an_error_unless_taken_as_equal():
    with pytest.raises(BadInput, match=r"c0\.subscription: unknown"):
        assert_optimal(UNKNOWN, ALL_TO_ONE)
    line = refused(assert_optimal, UNKNOWN, {"c0": {}}, assume_equal=True)[0]
    assert line.startswith("orders: not valid: ")


def test_a_group_may_be_what_a_console_tool_printed(tmp_path):
    rows = [f"orders t0 {p} 5 9 4 c{p % 2} /h c{p % 2}\n" for p in range(4)]
    text = tmp_path / "describe.txt"
    text.write_text(OFFSETS + "".join(rows))
    plan = {"c0": {"t0": [0, 2]}, "c1": {"t0": [1, 3]}}
    assert_optimal(text, plan, assume_equal=True)
    text.write_text(OFFSETS + "".join(rows) + rows[0].replace("orders", "invoices"))
    with pytest.raises(BadInput, match=r"describe\.txt: 2 groups, expected one$"):
        assert_optimal(text, plan, assume_equal=True)


def test_a_tier_that_is_not_in_the_objective_is_an_error():
    with pytest.raises(BadInput, match="at_most: 'racks' is no tier of the objective balance > "):
        assert_within(LOPSIDED, BEST, {"racks": 1})
    with pytest.raises(BadInput, match=r"^assignment: line 1 column 2: not JSON"):
        assert_optimal(LOPSIDED, "{")


@pytest.mark.parametrize("name", testing.__all__)
def test_the_examples_run(name):
    (found,) = doctest.DocTestFinder(recurse=False).find(getattr(testing, name), name, globs={})
    said: list[str] = []
    assert not doctest.DocTestRunner().run(found, out=said.append).failed, "".join(said)
