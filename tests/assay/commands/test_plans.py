"""assay score --plan FILE: an assignment made elsewhere is judged like any other."""

import json
from pathlib import Path

import pytest

from assay import Group, solve
from tests.assay.calling import ALL_GROUPS, LOPSIDED, assay, document_of, good, one_line, write

BEST = {"c0": {"t0": [0, 1], "t1": [0]}, "c1": {"t1": [1, 2]}}
HALFWAY = {"c0": {"t0": [0, 1], "t1": [0, 1]}, "c1": {"t1": [2]}}
NOT_VALID = {"c0": {"t0": [0], "t1": [0, 7]}, "c1": {"t1": [0, 1], "t0": [1], "t5": [0]}}
READ = {m: {"subscription": said["subscription"]} for m, said in LOPSIDED["members"].items()}
LATER = {m: said | {"owned": BEST[m]} for m, said in READ.items()}
PLANS = {
    "orders": LOPSIDED,
    "fresh": LOPSIDED | {"members": READ},
    "later": LOPSIDED | {"members": LATER},
    "solved": solve(Group.from_dict(LOPSIDED)).to_dict(),
    "best": BEST,
    "halfway": HALFWAY,
    "wrong": NOT_VALID,
    "nothing": {},
}
GATE = ("--fail-above", "balance=1")


@pytest.fixture(scope="module")
def plans(tmp_path_factory) -> Path:
    files = {f"{name}.json": document for name, document in PLANS.items()}
    return write(tmp_path_factory.mktemp("plans"), files)


def test_a_plan_is_a_row_under_the_name_of_its_file_whatever_kind_of_file_it_is(plans):
    names = ("best", "halfway", "later", "solved")
    arguments = [word for name in names for word in ("--plan", f"{name}.json")]
    call = ("score", "orders.json", *arguments, "--assignor", "range", "--format", "json")
    rows = document_of(good(assay(*call, cwd=plans)))["scores"]
    assert [row["assignor"] for row in rows] == ["current", *names, "range"]
    best, halfway, later, solved = rows[1:5]
    assert best["terms"] == later["terms"] == solved["terms"] == [
        {"name": "balance", "value": 1, "excess": 0},
        {"name": "stickiness", "value": 2, "excess": 0},
    ]  # fmt: skip
    assert halfway["terms"][0] == {"name": "balance", "value": 3, "excess": 2}


def test_a_plan_is_no_assignor_that_could_make_the_moves(plans):
    said = good(assay("score", "orders.json", "--plan", "best.json", cwd=plans)).stdout
    assert "gets there" not in said
    assert "assay advise orders.json --group orders --lower peak_load says which one." in said


@pytest.mark.parametrize(
    ("plan", "told"),
    [
        ("best", "valid, and as good as can be in balance > moves."),
        ("halfway", "valid, but not as good as can be: balance 3 (+2)."),
        (
            "wrong",
            "not valid: t1-7 with c0: no-such-partition, t0-1 with c1: unsubscribed, t1-0 with "
            "c1: double, t1-2 with nobody: unassigned (and 1 more)",
        ),
    ],
)
def test_whether_a_plan_holds_is_said_once_below_the_verdict(plans, plan, told):
    lines = assay("score", "orders.json", "--plan", f"{plan}.json", cwd=plans).stdout.splitlines()
    assert lines[1] == f"{plan}: {told}"
    assert lines.count(lines[1]) == 1


@pytest.mark.parametrize(
    ("group", "plan", "more", "code"),
    [
        ("orders", "best", GATE, 0),
        ("orders", "halfway", GATE, 1),
        ("orders", "halfway", ("--fail-above", "balance=2"), 0),
        ("orders", "wrong", GATE, 1),
        ("orders", "nothing", GATE, 1),
        ("orders", "best", ("--assignor", "current", *GATE), 1),
        ("fresh", "best", GATE, 0),
        ("fresh", "halfway", GATE, 1),
    ],
)
def test_a_gate_judges_the_plans_that_are_named(plans, group, plan, more, code):
    ran = assay("score", f"{group}.json", "--plan", f"{plan}.json", *more, cwd=plans)
    assert ran.returncode == code
    if (group, plan, code) == ("orders", "halfway", 1):
        said = "assay: orders: halfway: balance exceeds the optimum by 2, more than 1\n"
        assert ran.stderr == said


def test_a_plan_is_judged_whoever_reads_what(tmp_path):
    """It is open whether aio-1 reads t0, and so if what aio-f holds is 0 or 2 above the best."""
    asked = ("score", ALL_GROUPS, "--group", "aio-f")
    better = assay("solve", *asked[1:], "--assume-equal", "--format", "json").stdout
    (tmp_path / "better.json").write_text(better, "utf-8")
    plans = ("--plan", ALL_GROUPS, "--plan", tmp_path / "better.json")
    member = next(m for m in json.loads(better)["assignment"] if m.startswith("aio-1"))
    lines = assay(*asked, *plans).stdout.splitlines()
    how = [line for line in lines if " --reads " in line and "--plan" in line]
    assert [line.split(":")[0] for line in how] == [
        "If yes, add the topic",
        "If no, name all that it reads, here what it holds",
    ]
    assert lines[4:6] == [
        "all-describe: valid; it is open whether it is as good as can be: balance 3 (+0 to 2).",
        f"better: valid only if {member} reads t0; pass --reads PATTERN=TOPICS, or --assume-equal",
    ]
    lines = assay(*asked, *plans, "--assume-equal").stdout.splitlines()
    given = "if all members read the same topics"
    assert lines[1:3] == [
        f"all-describe: valid, but not as good as can be: balance 3 (+2), {given}.",
        f"better: valid, and as good as can be in balance > moves, {given}.",
    ]


@pytest.mark.parametrize(
    ("gate", "code", "told"),
    [
        (("--fail-above", "balance=1"), 0,
         "Not judged for sure, so that only --strict fails it: aio-f (all-describe: balance +0 to "
         "2)."),
        (("--fail-above", "balance=1", "--strict"), 1,
         "aio-f (depends on who reads what: all-describe: balance +0 to 2) fails --fail-above "
         "balance=1 --strict."),
        (("--fail-above", "balance=2", "--strict"), 0,
         "aio-f is within --fail-above balance=2 --strict."),
        (("--fail-above-assumed", "balance=1"), 1,
         "aio-f (all-describe: balance +0 to 2) fails --fail-above-assumed balance=1."),
        (("--fail-above-assumed", "balance=2"), 0,
         "aio-f is within --fail-above-assumed balance=2."),
    ],
)  # fmt: skip
def test_a_gate_takes_a_plan_for_what_it_is_whoever_reads_what(gate, code, told):
    ran = assay("score", ALL_GROUPS, "--group", "aio-f", "--plan", ALL_GROUPS, *gate)
    assert (ran.returncode, ran.stdout.splitlines()[0]) == (code, told)


OTHERS = ", which has c0, c1"
KINDS = "; a plan is JSON {member: {topic: [partition]}}, a solution or a capture"
INTEGER = "expected an integer of 0 or more"


@pytest.mark.parametrize(
    ("plan", "said"),
    [
        ({"c9": {"t0": [0]}}, f"'c9' is no member of group orders{OTHERS}"),
        ({"c0": {"t0": [0, "1"]}}, f'c0.t0[1]: "1", {INTEGER}'),
        ({"c0": {"t0": [-1]}}, f"c0.t0[0]: -1, {INTEGER}"),
        ({"c0": {"t0": [1, 1]}}, "c0.t0: partition 1 appears twice"),
        ({"c0": [0]}, "c0: [0], expected an object"),
        ({"c0": {"t0": 1}}, "c0.t0: 1, expected a list"),
        (
            {"format": "assay-solution/1", "assignment": None},
            "assignment: null, so there is nothing to compare",
        ),
        (
            {"format": "assay-solution/1", "group": "bills", "assignment": {}},
            "no group orders in it, only bills",
        ),
        (LOPSIDED | {"group": "bills"}, "no group orders in it, only bills"),
        (LOPSIDED | {"members": {"c7": {}}}, f"'c7' is no member of group orders{OTHERS}"),
        (
            {"format": "assay-scenario/1"},
            f"format: 'assay-scenario/1', expected 'assay-group/1'{KINDS}",
        ),
    ],
)
def test_what_is_no_plan_of_the_group_is_refused_in_one_line(plans, plan, said):
    write(plans, {"file.json": plan})
    ran = assay("score", "orders.json", "--plan", "file.json", cwd=plans)
    assert one_line(ran, 2) == f"file.json: {said}"
    if said.endswith(INTEGER):
        # The plan may be the group, too.
        assert one_line(assay("score", "file.json", cwd=plans), 2) == f"file.json: {said}"


def test_a_plan_that_is_not_judged_passes_unless_strict_is_asked(tmp_path):
    """c0 is known to read t1 only, as far as it holds it; c1 reads both topics."""
    members = {"c0": {"owned": {"t1": [0]}}, "c1": READ["c0"] | {"owned": {"t0": [0, 1]}}}
    plan = {"c0": {"t0": [0], "t1": [0, 1]}, "c1": {"t0": [1], "t1": [2]}}
    write(tmp_path, {"group.json": LOPSIDED | {"members": members}, "plan.json": plan})
    call = ("score", "group.json", "--plan", "plan.json")
    assert assay(*call, cwd=tmp_path).returncode == 0
    refused = assay(*call, "--strict", cwd=tmp_path)
    assert refused.returncode == 1
    assert "orders: plan: valid only if c0 reads t0" in refused.stderr
