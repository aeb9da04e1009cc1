import json
import re

import pytest

from tests.assay.calling import LOPSIDED, assay, document_of, good, one_line, side_by_side

ASSUMED = "subscription of 1 member unknown, taken as the 1 topic that somebody holds"


def test_solve_prints_the_proved_optimum_and_the_moves(folder):
    run = good(assay("solve", folder / "orders.json"))
    lines = run.stdout.splitlines()
    assert re.fullmatch(
        r"group orders: optimal for balance > stickiness "
        r"\(proof: certificate, method: flow, \d+\.\d{4} s\)",
        lines[0],
    )
    assert [line.split() for line in lines[1:4]] == [
        ["tier", "value", "bound"],
        ["balance", "1", "1"],
        ["stickiness", "2", "2"],
    ]
    assert lines[5].split() == ["c0", "5", "3", "t0:0-1", "t1:0"]
    assert lines[-1] == "moves 2 from c0 to c1"


def test_solve_as_json_is_one_solution_document_with_the_keys_of_the_format(folder):
    document = document_of(good(assay("solve", folder / "orders.json", "--format", "json")))
    assert list(document) == [
        "format", "group", "objective", "status", "stopped", "method", "seconds", "terms",
        "assignment", "unassigned", "proof", "assumed",
    ]  # fmt: skip
    assert document["format"] == "assay-solution/1"
    assert (document["group"], document["status"], document["stopped"]) == (
        "orders", "optimal", "proof",
    )  # fmt: skip
    assert document["terms"] == [
        {"name": "balance", "value": 1, "bound": 1},
        {"name": "stickiness", "value": 2, "bound": 2},
    ]
    assert list(document["proof"]) == ["kind", "level", "price"]
    assert document["proof"]["kind"] == "certificate"
    assert document["unassigned"] == {}
    assert document["assumed"] == []


@pytest.mark.parametrize("method", ["flow", "cp-sat", "brute"])
def test_solve_with_a_method_says_that_it_ran(folder, method):
    arguments = ("--objective", "stickiness > balance", "--method", method, "--time-limit", "60")
    run = good(assay("solve", folder / "orders.json", *arguments, "--format", "json"))
    document = document_of(run)
    assert (document["method"], document["status"]) == (method, "optimal")
    assert [(term["name"], term["value"]) for term in document["terms"]] == [
        ("stickiness", 0),
        ("balance", 5),
    ]


def test_a_dash_is_standard_input(folder):
    text = (folder / "orders.json").read_text()
    from_file = document_of(good(assay("solve", folder / "orders.json", "--format", "json")))
    from_stdin = document_of(good(assay("solve", "-", "--format", "json", stdin=text)))
    assert from_stdin | {"seconds": 0} == from_file | {"seconds": 0}


def test_the_same_call_prints_the_same(folder):
    shuffled = {key: LOPSIDED[key] for key in reversed(LOPSIDED)}
    shuffled["members"] = dict(reversed(LOPSIDED["members"].items()))
    runs = side_by_side(
        {
            name: (("solve", "-", "--format", "json"), {"stdin": json.dumps(document)})
            for name, document in {"given": LOPSIDED, "shuffled": shuffled}.items()
        }
    )
    given, other = (document_of(good(run)) | {"seconds": 0} for run in runs.values())
    assert given == other


def test_what_was_assumed_is_said_beside_the_verdict(folder, solution):
    runs = side_by_side(
        {
            command: ((command, folder / "unknown.json", "--assume-equal", "--format", "json"), {})
            for command in ("solve", "score")
        }
    )
    for run in runs.values():
        assert (run.returncode, run.stderr) == (0, f"assumed: {ASSUMED}\n")
    solved = document_of(runs["solve"])
    assert solved["assumed"] == [ASSUMED]
    path = folder / "unknown.json"
    run = assay("check", path, "-", "--assume-equal", stdin=json.dumps(solved))
    assert (run.returncode, run.stderr) == (0, f"assumed: {ASSUMED}\n")


def test_an_unknown_subscription_is_refused_unless_it_may_be_assumed(folder):
    line = one_line(assay("solve", folder / "unknown.json"), 2)
    assert line.startswith("members.c0.subscription: unknown; pass --reads")
