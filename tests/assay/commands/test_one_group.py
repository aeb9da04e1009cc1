import json
import re

import pytest

from heuristics import available
from tests.assay.calling import LOPSIDED, assay, document_of, good, one_line, side_by_side

ASSUMED = "subscription of 1 member unknown, taken as all 2 topics of the group"


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


def test_score_prints_the_optimum_then_current_then_every_assignor(folder):
    lines = good(assay("score", folder / "orders.json")).stdout.splitlines()
    assert lines[1].split() == [
        "assignor", "valid", "balanced", "balance", "stickiness", "seconds",
    ]  # fmt: skip
    assert [line.split()[0] for line in lines[2:]] == ["optimum", "current", *available()]
    optimum, current = lines[2].split(), lines[3].split()
    assert (optimum[1:5], optimum[-1]) == (["yes", "yes", "1", "2"], "optimal")
    assert current[:-1] == ["current", "yes", "no", "5", "(+4)", "0"]
    assert any(re.search(r"refused .*subscriptions differ", line) for line in lines)


def test_score_as_json_is_one_scores_document_with_the_keys_of_the_format(folder):
    arguments = ("--assignor", "range", "--assignor", "kip-169-lag", "--format", "json")
    document = document_of(good(assay("score", folder / "orders.json", *arguments)))
    assert list(document) == ["format", "group", "objective", "optimum", "scores"]
    assert document["format"] == "assay-scores/1"
    assert document["objective"] == ["balance", "stickiness"]
    assert document["optimum"] == {
        "status": "optimal",
        "terms": [
            {"name": "balance", "value": 1, "bound": 1},
            {"name": "stickiness", "value": 2, "bound": 2},
        ],
    }
    current, in_ranges, refused = document["scores"]
    for row in document["scores"]:
        assert list(row) == [
            "assignor", "status", "reason", "valid", "violations", "terms", "rounds", "revoked",
            "seconds",
        ]  # fmt: skip
    assert current == {
        "assignor": "current", "status": "scored", "reason": None, "valid": True,
        "violations": [], "rounds": 1, "revoked": 0, "seconds": 0.0,
        "terms": [
            {"name": "balance", "value": 5, "excess": 4},
            {"name": "stickiness", "value": 0, "excess": None},
        ],
    }  # fmt: skip
    assert in_ranges["terms"][0] == {"name": "balance", "value": 3, "excess": 2}
    assert (refused["status"], refused["valid"], refused["terms"]) == ("refused", None, None)
    assert refused["reason"].startswith("the lag of t0-0 is unknown")


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


@pytest.mark.parametrize("command", ["solve", "score"])
def test_an_unknown_subscription_is_refused_unless_it_may_be_assumed(folder, command):
    line = one_line(assay(command, folder / "unknown.json"), 2)
    assert line.startswith("members.c0.subscription: unknown; pass --assume-equal")


def test_fail_above_leaves_with_1_only_above_the_limit(folder):
    def score(*arguments, file="orders.json"):
        return ("score", folder / file, *arguments), {}

    runs = side_by_side(
        {
            "current": score("--fail-above", "balance=3"),
            "enough": score("--fail-above", "balance=4", "--fail-above", "stickiness=0"),
            "named": score("--assignor", "range", "--fail-above", "balance=1"),
            "named enough": score("--assignor", "range", "--fail-above", "balance=2"),
            "even": score("--assignor", "current", "--fail-above", "balance=0", file="even.json"),
            "refused": score("--assignor", "kip-169-lag", "--fail-above", "balance=9"),
        }
    )
    assert {name: run.returncode for name, run in runs.items()} == {
        "current": 1, "enough": 0, "named": 1, "named enough": 0, "even": 0, "refused": 1,
    }  # fmt: skip
    assert runs["current"].stderr == (
        "assay: current: balance exceeds the optimum by 4, more than 3\n"
    )
    assert runs["named"].stderr == "assay: range: balance exceeds the optimum by 2, more than 1\n"
    assert runs["refused"].stderr.startswith("assay: kip-169-lag: the lag of t0-0 is unknown")
    assert runs["current"].stdout.splitlines()[3].split()[0] == "current"
