"""assay check: what it verifies of a solution, what it leaves unchecked, and what it refuses."""

import json
import re
from copy import deepcopy

import pytest

from groups import Group
from optimal import solve
from tests.assay.calling import ALL_GROUPS, AS_JSON, assay, good, one_line, write

COSTS = "the assignment is valid and costs what it says: balance 1 (bound 1), moves 2 (bound 2)"
QUESTION = "the question: balance > moves"
HOW = "not checked: how it was found: method, seconds, why it stopped"
COUNTED = "all assignments were counted again, and"


@pytest.fixture(scope="module")
def checked(folder):
    """Check a solution of orders.json, or of another file."""

    def check(solution: object, *options: str, file: str = "orders.json"):
        return assay("check", file, "-", *options, stdin=json.dumps(solution), cwd=folder)

    return check


def test_the_question_is_shown_and_can_be_required(folder, solution, checked):
    """Who writes a solution also writes its question: at most 0 moves is easily the fewest."""
    easier = solve(Group.read(folder / "orders.json"), "balance", at_most={"stickiness": 0})
    easier = easier.to_dict()
    budget = ("--objective", "balance", "--at-most", "stickiness=0")
    question = ("--objective", "balance > stickiness")
    for options in ((), question):
        said = good(checked(solution, *options)).stdout.splitlines()
        assert said == [QUESTION, COSTS, "status optimal: the certificate proves it", HOW]
    for options in ((), budget, budget[2:]):
        first = good(checked(easier, *options)).stdout.splitlines()[0]
        assert first == "the question: balance with moves at most 0"
    assert one_line(checked(easier, *question), 1) == (
        "standard input: "
        "it answers balance with moves at most 0, but the question is balance > moves"
    )
    assert one_line(checked(solution, *budget[2:]), 1) == (
        "standard input: "
        "it answers balance > moves, but the question is balance > moves with moves at most 0"
    )


def test_a_value_that_follows_from_the_capture_may_be_of_another_one(folder, solution, checked):
    later = json.loads((folder / "orders.json").read_text())
    later["members"]["c1"]["owned"] = {"t1": [later["members"]["c0"]["owned"]["t1"].pop()]}
    write(folder, {"later-orders.json": later})
    assert one_line(checked(solution, file="later-orders.json"), 1) == (
        "standard input: not a valid solution: "
        "terms.stickiness: 2, but the value is 1; that follows from what members own: is the "
        "solution of another capture of the group?"
    )


@pytest.fixture(scope="module")
def large(folder) -> dict:
    """The document of a solution of a group with 3^14 assignments."""
    members = {m: {"subscription": ["t"]} for m in "abc"}
    document = {"format": "assay-group/1", "group": "large", "topics": {"t": 14}}
    write(folder, {"large.json": document | {"members": members}})
    return solve(Group.read(folder / "large.json"), "balance").to_dict()


@pytest.mark.parametrize(("kind", "who"), [("solver", "solver"), ("exhaustion", "search")])
def test_without_a_certificate_small_groups_are_counted_again_and_others_not_vouched_for(
    large, solution, checked, kind, who
):
    proof = {"proof": {"kind": kind}}
    run = checked(large | proof, file="large.json")
    unchecked = f"not checked: proof of kind {kind}: the bounds are its word and were not checked"
    word = f"status optimal by the word of the {who}: not checked"
    assert good(run).stdout.splitlines()[2:] == [word, unchecked, HOW]
    run = checked(large | proof, "--strict", file="large.json")
    assert (run.returncode, run.stderr) == (1, "")
    assert word in run.stdout
    good(checked(large, "--strict", file="large.json"))
    said = good(checked(solution | proof, "--strict")).stdout.splitlines()
    assert said == [QUESTION, COSTS, f"status optimal: {COUNTED} none is better", HOW]


def test_the_check_names_the_status_and_the_bounds_that_it_judged(solution, checked):
    bounds = zip(solution["terms"], (0, None), strict=True)
    terms = [term | {"bound": bound} for term, bound in bounds]
    open_ = solution | {"status": "feasible", "terms": terms, "proof": {"kind": "none"}}
    assert good(checked(open_)).stdout.splitlines() == [
        QUESTION,
        COSTS.replace("(bound 1)", "(bound 0)").replace("(bound 2)", "(bound unknown)"),
        f"status feasible: {COUNTED} the bounds hold",
        HOW,
    ]
    unknown = open_ | {"status": "unknown", "terms": [], "assignment": None, "unassigned": {}}
    none = "not checked: there is no assignment to check"
    assert good(checked(unknown)).stdout.splitlines() == [QUESTION, "status unknown", none, HOW]


def test_a_proof_that_holds_whoever_reads_what_says_so(checked):
    solved = assay("solve", ALL_GROUPS, "--group", "kpr-c", *AS_JSON)
    # The text holds eleven groups; the check is of the one that the solution names.
    run = checked(json.loads(solved.stdout), file=str(ALL_GROUPS))
    assert run.stdout.splitlines()[2] == (
        "status optimal: the certificate proves it, whoever reads what"
    )


def test_what_a_solution_assumed_is_not_assumed_for_it(folder, checked):
    solved = assay("solve", folder / "unknown.json", "--assume-equal", *AS_JSON)
    document = json.loads(solved.stdout)
    line = one_line(checked(document, file="unknown.json"), 1)
    assert "it depends on who reads what: " in line
    assert line.endswith("; pass --reads PATTERN=TOPICS, or --assume-equal")
    nothing = {key: part for key, part in document.items() if key != "assumed"}
    other = "not checked: what the solution says was assumed, which is not what was assumed here: "
    (line,) = document["assumed"]
    for said, differing in (
        (document, None),
        (document | {"assumed": ["x"]}, f"the solution alone: x; here alone: {line}"),
        (nothing, f"here alone: {line}"),
    ):
        run = checked(said, "--assume-equal", file="unknown.json")
        assert run.returncode == 0
        found = [one.removeprefix(other) for one in run.stdout.splitlines() if other in one]
        assert found == ([] if differing is None else [differing])


def test_a_tampered_solution_is_rejected_at_its_place(solution, checked):
    """The places themselves are in tests/optimal/test_certificate.py."""
    priced = deepcopy(solution)
    priced["proof"]["price"]["c1"] += 1
    said = r"standard input: not proved: price: the prices bound stickiness by -?\d+, not by 2"
    assert re.fullmatch(said, one_line(checked(priced), 1))


def test_a_plan_or_a_solution_of_another_form_is_bad_input(solution, checked):
    cases = {
        "key 'proof' is missing": {k: v for k, v in solution.items() if k != "proof"},
        "[], expected an object": [],
        "assumed: 5, expected a list": solution | {"assumed": 5},
        "no format, expected 'assay-solution/1'; a plan is judged by assay score orders.json "
        "--plan -": {"c0": {"t0": [0, 1]}},
    }
    for line, document in cases.items():
        assert one_line(checked(document), 2) == f"standard input: {line}"
