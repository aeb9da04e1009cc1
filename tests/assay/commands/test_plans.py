import json
from pathlib import Path

import pytest

from assay import Assignment, Group, score, solve
from groups.named_assignment import NamedAssignment
from tests.assay.calling import LOPSIDED, assay, document_of, good, one_after_the_other, one_line

CAPTURES = Path(__file__).parents[3] / "corpus" / "captures"
BEST = {"c0": {"t0": [0, 1], "t1": [0]}, "c1": {"t1": [1, 2]}}
HALFWAY = {"c0": {"t0": [0, 1], "t1": [0, 1]}, "c1": {"t1": [2]}}
NOT_VALID = {"c0": {"t0": [0], "t1": [0, 7]}, "c1": {"t1": [0, 1], "t0": [1], "t5": [0]}}
REFUSED = {
    "a member that is not there": (
        {"c9": {"t0": [0]}},
        "file.json: 'c9' is no member of group orders, which has c0, c1",
    ),
    "a partition that is no number": (
        {"c0": {"t0": [0, "1"]}},
        'file.json: c0.t0[1]: "1", expected an integer of 0 or more',
    ),
    "a number below 0": (
        {"c0": {"t0": [-1]}},
        "file.json: c0.t0[0]: -1, expected an integer of 0 or more",
    ),
    "a partition twice": ({"c0": {"t0": [1, 1]}}, "file.json: c0.t0: partition 1 appears twice"),
    "no object": ({"c0": [0]}, "file.json: c0: [0], expected an object"),
    "no list": ({"c0": {"t0": 1}}, "file.json: c0.t0: 1, expected a list"),
    "a solution without assignment": (
        {"format": "assay-solution/1", "assignment": None},
        "file.json: assignment: null, so there is nothing to compare",
    ),
    "a solution of another group": (
        {"format": "assay-solution/1", "group": "bills", "assignment": {}},
        "file.json: no group orders in it, only bills",
    ),
    "a snapshot of another group": (
        LOPSIDED | {"group": "bills"},
        "file.json: no group orders in it, only bills",
    ),
    "a snapshot with a member that has left": (
        LOPSIDED | {"members": {"c7": {}}},
        "file.json: 'c7' is no member of group orders, which has c0, c1",
    ),
    "another format": (
        {"format": "assay-scenario/1"},
        "file.json: format: 'assay-scenario/1', expected 'assay-group/1'; a plan is JSON "
        "{member: {topic: [partition]}}, a solution or a capture",
    ),
}


@pytest.fixture(scope="module")
def plans(folder) -> Path:
    made = folder / "plans"
    made.mkdir()
    (made / "orders.json").write_text(json.dumps(LOPSIDED))
    (made / "fresh.json").write_text(json.dumps(LOPSIDED | {"members": {
        "c0": {"subscription": ["t0", "t1"]}, "c1": {"subscription": ["t1"]}}}))  # fmt: skip
    snapshot = json.loads(json.dumps(LOPSIDED))
    for member, held in BEST.items():
        snapshot["members"][member]["owned"] = held
    solution = solve(Group.from_dict(LOPSIDED)).to_dict()
    others = {"best": BEST, "halfway": HALFWAY, "wrong": NOT_VALID, "range": BEST,
              "later": snapshot, "solved": solution, "nothing": {}}  # fmt: skip
    for name, document in others.items():
        (made / f"{name}.json").write_text(json.dumps(document))
    for name, (document, _) in REFUSED.items():
        (made / name).mkdir()
        (made / name / "file.json").write_text(json.dumps(document))
    return made


def test_a_plan_is_a_row_under_the_name_of_its_file_whatever_kind_of_file_it_is(plans):
    names = ("best", "halfway", "later", "solved")
    arguments = [word for name in names for word in ("--plan", f"{name}.json")]
    call = ("score", "orders.json", *arguments, "--assignor", "range", "--format", "json")
    rows = document_of(good(one_after_the_other({"": call}, plans)[""]))["scores"]
    assert [row["assignor"] for row in rows] == ["current", *names, "range"]
    best, halfway, later, solved = rows[1:5]
    assert best["terms"] == later["terms"] == solved["terms"] == [
        {"name": "balance", "value": 1, "excess": 0},
        {"name": "stickiness", "value": 2, "excess": 0},
    ]  # fmt: skip
    assert halfway["terms"][0] == {"name": "balance", "value": 3, "excess": 2}


def test_a_plan_that_is_not_valid_says_every_reason(plans):
    call = ("score", "orders.json", "--plan", "wrong.json", "--format", "json")
    ran = one_after_the_other({"": call}, plans)[""]
    assert ran.returncode == 1
    assert ran.stderr == "assay: orders: wrong: the assignment is not valid\n"
    row = document_of(ran)["scores"][1]
    assert (row["status"], row["valid"]) == ("scored", False)
    found = {(v["kind"], v["member"], v["topic"], v["partition"]) for v in row["violations"]}
    assert found == {
        ("double", "c1", "t1", 0),
        ("unsubscribed", "c1", "t0", 1),
        ("unassigned", None, "t1", 2),
        ("no-such-partition", "c0", "t1", 7),
        ("no-such-partition", "c1", "t5", 0),
    }


def test_a_bad_number_of_a_plan_is_named_where_the_plan_is_the_group_too(plans):
    for name in ("a partition that is no number", "a number below 0"):
        run = assay("score", "file.json", cwd=plans / name)
        assert one_line(run, 2) == REFUSED[name][1]


def test_a_plan_is_no_assignor_that_could_make_the_moves(plans):
    call = ("score", "orders.json", "--plan", "best.json")
    said = good(one_after_the_other({"": call}, plans)[""]).stdout
    assert "Of those tried" not in said
    assert "assay advise --lower peak_load says which one." in said


def test_a_gate_judges_the_plans_that_are_named(plans):
    gate = ("--fail-above", "balance=1")
    calls = {
        "best": ("score", "orders.json", "--plan", "best.json", *gate),
        "halfway": ("score", "orders.json", "--plan", "halfway.json", *gate),
        "allowed": ("score", "orders.json", "--plan", "halfway.json", "--fail-above", "balance=2"),
        "wrong": ("score", "orders.json", "--plan", "wrong.json", *gate),
        "nothing": ("score", "orders.json", "--plan", "nothing.json", *gate),
        "and current": ("score", "orders.json", "--plan", "best.json", "--assignor", "current",
                        *gate),
        "fresh": ("score", "fresh.json", "--plan", "best.json", *gate),
        "fresh and halfway": ("score", "fresh.json", "--plan", "halfway.json", *gate),
    }  # fmt: skip
    runs = one_after_the_other(calls, plans)
    assert {name: run.returncode for name, run in runs.items()} == {
        "best": 0, "halfway": 1, "allowed": 0, "wrong": 1, "nothing": 1, "and current": 1,
        "fresh": 0, "fresh and halfway": 1,
    }  # fmt: skip
    assert runs["halfway"].stderr == (
        "assay: orders: halfway: balance exceeds the optimum by 2, more than 1\n"
    )
    assert runs["wrong"].stderr == "assay: orders: wrong: the assignment is not valid\n"


def test_a_plan_needs_the_subscriptions(plans):
    text = CAPTURES / "4.3.1" / "coop-a-describe.txt"
    bare = ("score", text, "--plan", text, "--assignor", "range")
    runs = one_after_the_other({"bare": bare, "equal": (*bare, "--assume-equal")}, plans)
    row = next(line for line in runs["bare"].stdout.splitlines() if "coop-a-desc" in line)
    assert "refused" in row
    said = "coop-a-describe, range: subscriptions are not known; pass --reads PATTERN=TOPICS, or"
    assert said in runs["bare"].stdout
    row = next(line for line in runs["equal"].stdout.splitlines() if "coop-a-desc" in line)
    assert row.split()[1:6] == ["3-4", "yes", "yes", "4", "0"]


@pytest.fixture(scope="module")
def refused(plans) -> dict:
    calls = {
        name: ("score", "orders.json", "--plan", Path(name) / "file.json") for name in REFUSED
    }
    calls |= {
        "taken": ("score", "orders.json", "--plan", "range.json"),
        "twice": ("score", "orders.json", "--plan", "best.json", "--plan", "best.json"),
        "several": ("score", CAPTURES / "3.9.2" / "all-describe.txt", "--plan", "best.json"),
        "missing": ("score", "orders.json", "--plan", "no.json"),
        "of many": ("score", "orders.json", "--plan", CAPTURES / "3.9.2" / "all-describe.txt"),
    }
    return one_after_the_other(calls, plans)


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_plan_of_the_group_is_refused_in_one_line(refused, name):
    assert one_line(refused[name], 2) == f"{name}/{REFUSED[name][1]}"


def test_in_python_a_plan_is_an_assignment_like_any_other():
    group = Group.from_dict(LOPSIDED)
    row = score(group, Assignment.from_dict(group, HALFWAY), solve(group), assignor="mine")
    assert (row.assignor, row.terms[0].excess) == ("mine", 2)
    named = NamedAssignment.from_dict(NOT_VALID, "mine").of(group)
    assert named.violations == Assignment.from_dict(group, NOT_VALID).violations
