"""A function of yours, passed to what compares assignors."""

import pytest

from compare.promises.hunt import hunt
from compare.scenarios.journey import play
from compare.scenarios.scenario import Scenario
from compare.scores import score_assignors
from groups import Group
from optimal import solve
from tests.assay.calling import LOPSIDED
from tests.heuristics.assignors import mine

NAME = "tests.heuristics.assignors.mine:deal"


@pytest.fixture(scope="module")
def group() -> Group:
    return Group.from_dict(LOPSIDED)


def test_score_assignors_takes_names_and_functions_in_one_list(group, limit):
    asked = ["current", mine.nothing, NAME, mine.by_name, "optimum"]
    rows = score_assignors(group, solve(group), asked, limit)
    names = [row.assignor for row in rows]
    assert names == ["current", NAME.replace("deal", "nothing"), NAME, rows[3].assignor, "optimum"]
    assert [row.status for row in rows] == ["scored", "failed", *["scored"] * 3]
    assert rows[1].reason == "it returned None, expected an Assignment"
    assert [row.seconds > 0 for row in rows] == [False, *[True] * 4]


def test_hunt_finds_the_smallest_group_on_which_a_function_breaks_a_promise():
    found = hunt(mine.deal, "balanced", groups=60, exhaustive=False)
    assert (len(found.quarry.group.members), found.quarry.measured["loads"]) == (2, [2, 0])


def test_play_takes_a_function_through_a_scenario(limit):
    document = {"format": "assay-scenario/1", "name": "s", "group": LOPSIDED}
    scenario = Scenario.from_dict(document | {"events": [{"leave": ["c1"]}]})
    best, own = play(scenario, [mine.deal], limit)
    assert (best.assignor, own.assignor) == ("optimum", NAME)
    assert own.total["without_plan"] == 0
    assert own.steps[0].row.terms[0].excess == 4
