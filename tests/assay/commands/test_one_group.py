import json
import re
from pathlib import Path

import pytest

from tests.assay.calling import (
    EVEN,
    LOPSIDED,
    assay,
    document_of,
    good,
    one_after_the_other,
    side_by_side,
)

ASSUMED = "subscription of 1 member unknown, taken as all 2 topics of the group"
ALL_GROUPS = Path(__file__).parents[3] / "corpus" / "captures" / "3.9.2" / "all-describe.txt"
RESETS = ("latest", "earliest")


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


def test_a_group_is_solved_and_checked_where_its_optimum_does_not_depend_on_who_reads_what():
    solved = assay("solve", ALL_GROUPS, "--group", "kpr-c", "--format", "json")
    checked = assay("check", ALL_GROUPS, "-", "--group", "kpr-c", stdin=solved.stdout)
    assert (solved.returncode, checked.returncode) == (0, 0)
    assert "status optimal: the certificate proves it" in checked.stdout


def test_the_reset_that_is_told_decides_the_lag_and_check_takes_it_too(folder):
    offsets = {"partitions": 2, "offsets": [{"beginning": 0, "end": 9}] * 2}
    document = EVEN | {"topics": {"t": offsets}}
    (folder / "lag.json").write_text(json.dumps(document))
    solve_lag = ("solve", "lag.json", "--objective", "peak_lag", "--format", "json")
    calls = {"assumed": solve_lag, **{r: (*solve_lag, "--reset", r) for r in RESETS}}
    runs = one_after_the_other(calls, folder)
    found = {name: document_of(run) for name, run in runs.items()}
    values = {name: answer["terms"][0]["value"] for name, answer in found.items()}
    assert values == {"assumed": 0, "latest": 0, "earliest": 9}
    line = "auto.offset.reset: latest, so 2 partitions without a commit have lag 0"
    assert [found[name]["assumed"] for name in found] == [[line], [], []]
    assert runs["assumed"].stderr == f"assumed: {line}\n"
    (folder / "earliest.json").write_text(runs["earliest"].stdout)
    checks = {
        "told": ("check", "lag.json", "earliest.json", "--reset", "earliest"),
        "not told": ("check", "lag.json", "earliest.json"),
    }
    checked = one_after_the_other(checks, folder)
    assert (checked["told"].returncode, checked["not told"].returncode) == (0, 1)


def test_what_a_console_tool_printed_of_one_group_needs_no_name_in_any_command(folder):
    lines = ALL_GROUPS.read_text().splitlines()
    head = next(line for line in lines if line.startswith("GROUP "))
    rows = [line for line in lines if line.startswith("kpr-c ")]
    text = folder / "one.txt"
    text.write_text("\n".join([head, *rows]) + "\n")
    solved = assay("solve", text, "--assume-equal", "--format", "json")
    (folder / "one-solution.json").write_text(solved.stdout)
    calls = {
        "check": ("check", text, folder / "one-solution.json", "--assume-equal"),
        "frontier": ("frontier", text, "balance", "stickiness", "--assume-equal"),
        "size": ("size", text, "--members", "1-3", "--assume-equal"),
        "export": ("export", text, "--proto", "--assume-equal"),
        "explain": ("explain", text),
    }
    for run in side_by_side({name: (call, {}) for name, call in calls.items()}).values():
        assert run.returncode == 0, run.stderr
        assert run.stdout


def test_beside_a_line_that_is_damaged_the_group_has_to_be_named(folder):
    file = folder / "half.jsonl"
    file.write_text(f"{json.dumps(LOPSIDED)}\n{{oops\n")
    run = assay("solve", file)
    assert (run.returncode, run.stdout) == (2, "")
    assert run.stderr.splitlines()[-1] == (
        f"assay: {file}: more than group orders is in it; add --group NAME"
    )
    named = assay("solve", file, "--group", "orders")
    assert (named.returncode, named.stdout[:13]) == (0, "group orders:")
