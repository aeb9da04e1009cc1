import json
import re
import subprocess
import sys
from copy import deepcopy
from pathlib import Path

import pytest

from groups import Group
from optimal import solve
from tests.assay.calling import assay, good, one_line, side_by_side

ROOT = Path(__file__).parents[3]
COSTS = (
    "the assignment is valid and costs what it says: balance 1 (bound 1), stickiness 2 (bound 2)"
)
QUESTION = "the question: balance > stickiness"
HOW = "not checked: how it was found: method, seconds, why it stopped"


def test_a_solution_passes_its_check(folder, solution):
    run = good(assay("check", folder / "orders.json", "-", stdin=json.dumps(solution)))
    assert run.stdout.splitlines() == [
        QUESTION,
        COSTS,
        "status optimal: the certificate proves it",
        HOW,
    ]


def test_the_question_is_shown_and_can_be_required(folder, solution):
    """Who writes a solution also writes its question: at most 0 moves is easily the fewest."""
    easier = solve(Group.read(folder / "orders.json"), "balance", at_most={"stickiness": 0})
    easier = json.dumps(easier.to_dict())
    asked = "the question: balance, with stickiness at most 0"
    genuine = json.dumps(solution)
    question = ("--objective", "balance > stickiness")
    budget = ("--objective", "balance", "--at-most", "stickiness=0")
    runs = side_by_side(
        {
            (name, options): (("check", folder / "orders.json", "-", *options), {"stdin": answer})
            for name, answer in (("genuine", genuine), ("easier", easier))
            for options in ((), question, budget, budget[2:])
        }
    )
    for name, options in (
        ("genuine", ()),
        ("genuine", question),
        ("easier", ()),
        ("easier", budget),
        ("easier", budget[2:]),
    ):
        said = QUESTION if name == "genuine" else asked
        assert good(runs[name, options]).stdout.splitlines()[0] == said
    assert one_line(runs["easier", question], 1) == (
        "-: it answers balance, with stickiness at most 0, but the question is balance > "
        "stickiness"
    )
    assert one_line(runs["genuine", budget[2:]], 1) == (
        "-: it answers balance > stickiness, but the question is balance > stickiness, with "
        "stickiness at most 0"
    )


def test_a_value_that_follows_from_the_capture_may_be_of_another_one(folder, solution):
    later = json.loads((folder / "orders.json").read_text())
    later["members"]["c1"]["owned"] = {"t1": [later["members"]["c0"]["owned"]["t1"].pop()]}
    (folder / "later-orders.json").write_text(json.dumps(later))
    run = assay("check", folder / "later-orders.json", "-", stdin=json.dumps(solution))
    assert one_line(run, 1) == (
        "-: terms.stickiness: 2, but the value is 1; that follows from what members own: is the "
        "solution of another capture of the group?"
    )
    solution = deepcopy(solution)
    solution["terms"][0]["value"] = 0
    run = assay("check", folder / "orders.json", "-", stdin=json.dumps(solution))
    assert one_line(run, 1) == "-: terms.balance: 0, but the value is 1"


@pytest.fixture(scope="module")
def large(folder) -> dict:
    """An optimum of 3^14 assignments, its proof left out."""
    members = {m: {"subscription": ["t"]} for m in "abc"}
    document = {"format": "assay-group/1", "group": "large", "topics": {"t": 14}}
    (folder / "large.json").write_text(json.dumps(document | {"members": members}))
    return solve(Group.read(folder / "large.json"), "balance").to_dict()


@pytest.mark.parametrize(("kind", "who"), [("solver", "solver"), ("exhaustion", "search")])
def test_the_check_does_not_repeat_a_status_that_it_could_not_check(folder, large, kind, who):
    answer = json.dumps(large | {"proof": {"kind": kind}})
    run = good(assay("check", folder / "large.json", "-", stdin=answer))
    unchecked = f"not checked: proof of kind {kind}: the bounds are its word and were not checked"
    said = f"status optimal by the word of the {who}: not checked"
    assert run.stdout.splitlines()[2:] == [said, unchecked, HOW]


def test_a_strict_check_fails_where_the_status_was_not_checked(folder, large, solution):
    word = json.dumps(large | {"proof": {"kind": "solver"}})
    run = assay("check", folder / "large.json", "-", "--strict", stdin=word)
    assert (run.returncode, run.stderr) == (1, "")
    assert "status optimal by the word of the solver: not checked" in run.stdout
    good(assay("check", folder / "large.json", "-", "--strict", stdin=json.dumps(large)))
    counted = json.dumps(solution | {"proof": {"kind": "solver"}})
    good(assay("check", folder / "orders.json", "-", "--strict", stdin=counted))


@pytest.mark.parametrize("kind", ["solver", "exhaustion"])
def test_a_small_group_is_counted_again_where_there_is_no_certificate(folder, solution, kind):
    answer = json.dumps(solution | {"proof": {"kind": kind}})
    run = good(assay("check", folder / "orders.json", "-", stdin=answer))
    said = "status optimal: all assignments were counted again, and none is better"
    assert run.stdout.splitlines() == [QUESTION, COSTS, said, HOW]


@pytest.mark.parametrize("kind", ["solver", "exhaustion"])
def test_a_forged_optimum_of_a_captured_group_is_refused(kind):
    """What kpr-c holds now, loads of 9 and 5, called the best there is."""
    capture = ROOT / "corpus/captures/3.9.2/all-describe.txt"
    one = ("--group", "kpr-c", "--assume-equal")
    solved = assay("solve", capture, *one, "--objective", "balance", "--format", "json")
    forged = json.loads(solved.stdout)
    forged["assignment"] = {
        "kpr-0-9e9480e3-fb86-495b-a540-9a7c10bdb384": {"t0": [0, 1, 2, 3, 4, 5], "t1": [0, 1, 2]},
        "kpr-1-3de62e6c-0a77-44e8-9e87-737fc6f7b234": {"t1": [3, 4], "t2": [0, 1, 2]},
    }
    forged["terms"] = [{"name": "balance", "value": 4, "bound": 4}]
    forged["proof"] = {"kind": kind}
    run = assay("check", capture, "-", *one, stdin=json.dumps(forged))
    line = "-: terms.balance: the bound 4 is wrong: an assignment has 0"
    assert one_line(run, 1) == line


def test_the_check_names_the_status_and_the_bounds_that_it_judged(folder, solution):
    terms = [
        term | {"bound": bound} for term, bound in zip(solution["terms"], (0, None), strict=True)
    ]
    open_ = solution | {"status": "feasible", "terms": terms, "proof": {"kind": "none"}}
    unknown = open_ | {"status": "unknown", "terms": [], "assignment": None, "unassigned": {}}
    said = {
        "feasible": [
            COSTS.replace("(bound 1)", "(bound 0)").replace("(bound 2)", "(bound unknown)"),
            "status feasible: all assignments were counted again, and the bounds hold",
            HOW,
        ],
        "unknown": ["status unknown", "not checked: there is no assignment to check", HOW],
    }
    for document in (open_, unknown):
        run = good(assay("check", folder / "orders.json", "-", stdin=json.dumps(document)))
        assert run.stdout.splitlines() == [QUESTION, *said[document["status"]]]


def test_what_a_solution_assumed_is_not_assumed_for_it(folder):
    solve = assay("solve", folder / "unknown.json", "--assume-equal", "--format", "json")
    document = json.loads(solve.stdout)
    line = one_line(assay("check", folder / "unknown.json", "-", stdin=solve.stdout), 1)
    assert "it depends on who reads what: " in line
    calls = {
        "as here": document,
        "otherwise": document | {"assumed": ["the best"]},
        "nothing": {key: part for key, part in document.items() if key != "assumed"},
    }
    runs = side_by_side(
        {
            name: (
                ("check", folder / "unknown.json", "-", "--assume-equal"),
                {"stdin": json.dumps(said)},
            )
            for name, said in calls.items()
        }
    )
    other = "not checked: what the solution says was assumed, which is not what was assumed here"
    for name, run in runs.items():
        assert run.returncode == 0
        assert (other in run.stdout.splitlines()) is (name != "as here")


def test_the_check_loads_no_solver(folder, solution):
    (folder / "solution.json").write_text(json.dumps(solution))
    program = (
        "import sys; sys.argv = ['assay', 'check', 'orders.json', 'solution.json']\n"
        "from assay.cli import main\n"
        "try: main()\n"
        "finally: print(sorted({'ortools', 'pulp', 'optimal.flow'} & sys.modules.keys()))"
    )
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, cwd=folder, check=True
    )
    assert run.stdout.endswith(f"{HOW}\n[]\n")


TAMPERED = {
    "a price": (
        lambda s: s["proof"]["price"].update(c1=s["proof"]["price"]["c1"] + 1),
        r"price: the prices bound stickiness by -?\d+, not by 2",
    ),
    "a level": (
        lambda s: s["proof"]["level"].update(c1=s["proof"]["level"]["c1"] - 1),
        r"t1-0: with c0 of level 2, but its least level is 1",
    ),
    "a partition moved": (
        lambda s: s.update(assignment={"c0": {"t0": [0, 1], "t1": [0, 1]}, "c1": {"t1": [2]}}),
        r"terms\.balance: 1, but the value is 3",
    ),
    "a partition with a member that does not read it": (
        lambda s: s["assignment"].update(c0={"t0": [0], "t1": [0]}, c1={"t0": [1], "t1": [1, 2]}),
        r"t0-1 with c1: unsubscribed",
    ),
    "a partition with nobody": (
        lambda s: s["assignment"].update(c1={"t1": [1]}),
        r"t1-2 with nobody: unassigned",
    ),
    "no proof": (
        lambda s: s.update(proof={"kind": "none"}),
        r"status: optimal, but the bounds or the kind of proof do not say so",
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def checked(folder, solution) -> dict:
    calls = {}
    for name, (tamper, _) in TAMPERED.items():
        tampered = deepcopy(solution)
        tamper(tampered)
        calls[name] = (("check", folder / "orders.json", "-"), {"stdin": json.dumps(tampered)})
    return side_by_side(calls)


@pytest.mark.parametrize("name", TAMPERED)
def test_a_tampered_solution_is_rejected_at_its_place(checked, name):
    assert re.fullmatch(f"-: {TAMPERED[name][1]}", one_line(checked[name], 1))


def test_a_solution_of_another_form_is_bad_input(folder, solution):
    cases = {
        "group: 'other', but the group is 'orders'": solution | {"group": "other"},
        "format: \"assay-solution/9\", expected 'assay-solution/1'": solution
        | {"format": "assay-solution/9"},
        "key 'proof' is missing": {k: v for k, v in solution.items() if k != "proof"},
        "[], expected an object": [],
        "assumed: 5, expected a list": solution | {"assumed": 5},
    }
    calls = {
        line: (("check", folder / "orders.json", "-"), {"stdin": json.dumps(document)})
        for line, document in cases.items()
    }
    for line, run in side_by_side(calls).items():
        assert one_line(run, 2) == f"-: {line}"
