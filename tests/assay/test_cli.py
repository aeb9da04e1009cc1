import base64
import json
import random
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from pathlib import Path

import pytest

from groups import Group
from heuristics import ASSIGNORS, available
from optimal import solve

ASSAY = Path(sys.executable).with_name("assay")
CAPTURES = Path(__file__).parents[1] / "groups" / "captures"

# c0 holds all five and could give two of t1 away: the optimum is balance 1, stickiness 2.
LOPSIDED = {
    "format": "assay-group/1",
    "group": "orders",
    "topics": {"t0": 2, "t1": 3},
    "members": {
        "c0": {"subscription": ["t0", "t1"], "owned": {"t0": [0, 1], "t1": [0, 1, 2]}},
        "c1": {"subscription": ["t1"]},
    },
}
EVEN = LOPSIDED | {
    "group": "even",
    "topics": {"t": 2},
    "members": {m: {"subscription": ["t"], "owned": {"t": [i]}} for i, m in enumerate("ab")},
}
UNKNOWN = LOPSIDED | {"members": {"c0": {"owned": {"t0": [0]}}, "c1": {"subscription": ["t1"]}}}
ASSUMED = "subscription of 1 member unknown, taken as all 2 topics of the group"


def assay(*arguments, stdin: str = "", cwd: Path | None = None):
    command = [str(ASSAY), *map(str, arguments)]
    # encoding, not text: universal newlines would hide a carriage return.
    return subprocess.run(
        command, input=stdin, encoding="utf-8", capture_output=True, timeout=120, cwd=cwd,
        check=False,
    )  # fmt: skip


def side_by_side(calls: dict) -> dict:
    with ThreadPoolExecutor(2) as pool:
        running = {name: pool.submit(assay, *args, **more) for name, (args, more) in calls.items()}
        return {name: future.result() for name, future in running.items()}


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    made = tmp_path_factory.mktemp("cli")
    for name, document in {"orders": LOPSIDED, "even": EVEN, "unknown": UNKNOWN}.items():
        (made / f"{name}.json").write_text(json.dumps(document))
    (made / "two.jsonl").write_text(f"{json.dumps(LOPSIDED)}\n{json.dumps(EVEN)}\n")
    return made


@pytest.fixture(scope="module")
def solution(folder) -> dict:
    return solve(Group.read(folder / "orders.json")).to_dict()


def document_of(run) -> dict:
    """The one JSON document that is all of standard output."""
    assert run.stdout.count("\n") == 1, run.stdout
    return json.loads(run.stdout)


def good(run):
    assert (run.returncode, run.stderr) == (0, "")
    return run


def one_line(run, code: int) -> str:
    assert run.returncode == code, run.stderr
    assert run.stdout == ""
    assert re.fullmatch(r"assay: [^\r\n]+\n", run.stderr), run.stderr
    assert "Traceback" not in run.stderr
    return run.stderr[len("assay: ") : -1]


# What it prints


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


def test_a_solution_passes_its_check(folder, solution):
    run = good(assay("check", folder / "orders.json", "-", stdin=json.dumps(solution)))
    assert run.stdout == (
        "the assignment is valid and costs what it says: balance 1, stickiness 2; "
        "the certificate proves it optimal\n"
    )


def test_the_check_says_what_it_could_not_check(folder, solution):
    answer = json.dumps(solution | {"proof": {"kind": "solver"}})
    run = good(assay("check", folder / "orders.json", "-", stdin=answer))
    unchecked, checked = run.stdout.splitlines()
    assert unchecked.startswith("not checked: proof of kind solver: ")
    assert checked == "the assignment is valid and costs what it says: balance 1, stickiness 2"


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
    assert run.stdout.endswith("the certificate proves it optimal\n[]\n")


def test_validate_names_every_good_snapshot_and_every_bad_one(folder):
    (folder / "mixed.jsonl").write_text(f'{json.dumps(EVEN)}\n{{"format":\n[]\n')
    run = assay("validate", "two.jsonl", "mixed.jsonl", "missing.json", cwd=folder)
    assert run.returncode == 2
    assert run.stdout.splitlines() == [
        "two.jsonl:1: good: group orders, 2 members, 5 partitions",
        "two.jsonl:2: good: group even, 2 members, 2 partitions",
        "mixed.jsonl:1: good: group even, 2 members, 2 partitions",
    ]
    assert run.stderr.splitlines() == [
        "assay: mixed.jsonl:2: line 1 column 11: not JSON: Expecting value",
        "assay: mixed.jsonl:3: [], expected an object",
        "assay: missing.json: cannot be read: No such file or directory",
    ]
    good(assay("validate", folder / "two.jsonl", folder / "unknown.json"))


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


def test_assignors_lists_what_score_takes_with_the_keys_of_the_format():
    runs = side_by_side(
        {"json": (("assignors", "--format", "json"), {}), "table": (("assignors",), {})}
    )
    document = document_of(good(runs["json"]))
    assert list(document) == ["format", "assignors"]
    assert document["format"] == "assay-assignors/1"
    assert [row["name"] for row in document["assignors"]] == list(ASSIGNORS)
    for row in document["assignors"]:
        assert list(row) == ["name", "kind", "source", "version", "available", "reason"]
        assert row["kind"] in ("written", "shipped")
        assert row["available"] == (row["reason"] is None)
        assert row["available"] or row["kind"] == "shipped"
    lines = good(runs["table"]).stdout.splitlines()
    assert lines[0].split() == ["name", "kind", "source", "version", "available"]
    assert [line.split()[0] for line in lines[1:]] == list(ASSIGNORS)


def test_import_merges_views_of_a_group_and_solve_takes_what_it_prints(folder):
    views = [CAPTURES / "4.3.1" / f"coop-a-{v}.txt" for v in ("describe", "members-verbose")]
    run = assay("import", *views)
    assert run.returncode == 0
    document = json.loads(run.stdout)
    assert (document["format"], document["group"]) == ("assay-group/1", "coop-a")
    assert document["assumed"]
    assert run.stderr.splitlines() == [f"assumed: coop-a: {line}" for line in document["assumed"]]
    solved = assay("solve", "-", "--assume-equal", "--format", "json", stdin=run.stdout)
    assert document_of(solved)["status"] == "optimal"


def test_import_of_several_groups_is_json_lines_in_a_file(folder):
    out = folder / "imported.jsonl"
    run = assay("import", CAPTURES / "4.3.1" / "two-groups-describe.txt", "--out", out)
    assert (run.returncode, run.stdout) == (0, "")
    groups = [json.loads(line) for line in out.read_text().splitlines()]
    assert len(groups) == 2
    assert all(group["format"] == "assay-group/1" for group in groups)


def test_an_anonymised_snapshot_holds_no_name_and_has_the_same_optimum(folder):
    text = good(assay("anonymise", folder / "orders.json")).stdout
    assert not re.search(r'"(orders|t0|t1|c0|c1)"', text)
    found = solve(Group.from_dict(json.loads(text)))
    assert [term.value for term in found.terms] == [1, 2]


def test_generate_prints_a_group_a_line_and_the_same_for_a_seed(folder):
    arguments = ("generate", "random", "--members", "4", "--members", "6", "--event", "join-one")
    runs = side_by_side(
        {
            "all": ((*arguments, "--count", "2", "--seed", "5"), {}),
            "later": ((*arguments, "--seed", "6", "-o", folder / "generated.jsonl"), {}),
        }
    )
    lines = good(runs["all"]).stdout.splitlines()
    names = [Group.from_dict(json.loads(line)).name for line in lines]
    assert [re.sub(r"-.*-", " ", name) for name in names] == [
        "4x10 5",
        "4x10 6",
        "6x10 5",
        "6x10 6",
    ]
    assert good(runs["later"]).stdout == ""
    assert (folder / "generated.jsonl").read_text().splitlines() == [lines[1], lines[3]]


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


# What was assumed


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
    run = assay("check", folder / "unknown.json", "-", stdin=json.dumps(solved))
    assert (run.returncode, run.stderr) == (0, f"assumed: {ASSUMED}\n")


@pytest.mark.parametrize("command", ["solve", "score"])
def test_an_unknown_subscription_is_refused_unless_it_may_be_assumed(folder, command):
    line = one_line(assay(command, folder / "unknown.json"), 2)
    assert line.startswith("members.c0.subscription: unknown; pass --assume-equal")


# Exit code 1


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
    "a partition with a stranger": (
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


# Exit code 2


def snapshot(**changed) -> str:
    return json.dumps(LOPSIDED | changed)


def member(**said) -> str:
    return snapshot(members={"c0": {"subscription": ["t0"], **said}})


BAD_SNAPSHOTS = {
    "not JSON": ("{oops", r"line 1 column 2: not JSON: Expecting .*"),
    "a truncated document": (snapshot()[:-20], r"line 1 column \d+: not JSON: .*"),
    "something after the document": (
        json.dumps(LOPSIDED, indent=1) + "\n}",
        r"line \d+ column 1: not JSON: Extra data.*",
    ),
    "a list": ("[]", r"\[\], expected an object"),
    "a number": ("7", r"7, expected an object"),
    "no number": (snapshot(topics={"t": float("nan")}), r"not JSON: NaN is no number.*"),
    "nested too deeply": ("[" * 100_000, r"not a snapshot: nested too deeply"),
    "a number that is too long": ("9" * 10_000, r"not JSON: .*"),
    "empty": ("", r"empty, expected a snapshot"),
    "only spaces": (" \n \n", r"empty, expected a snapshot"),
    "wrong version": (
        snapshot(format="assay-group/2"),
        r"format: 'assay-group/2', expected 'assay-group/1'",
    ),
    "without a version": ('{"group": "g"}', r"key 'format' is missing"),
    "without topics": ('{"format": "assay-group/1", "group": "g"}', r"key 'topics' is missing"),
    "unknown key": (snapshot(note=1), r"unknown key 'note'"),
    "unknown key of a member": (member(lag=1), r"members\.c0: unknown key 'lag'"),
    "duplicate key": (snapshot()[:-1] + ', "group": "x"}', r"key 'group' appears twice"),
    "duplicate member": (
        '{"format": "assay-group/1", "group": "g", "topics": {}, "members": {"c": {}, "c": {}}}',
        r"members: key 'c' appears twice",
    ),
    "negative count": (snapshot(topics={"t": -1}), r"topics\.t: -1, expected .* 0 or more"),
    "a count that is no integer": (snapshot(topics={"t": 1.5}), r"topics\.t: 1\.5, expected .*"),
    "a count beyond reason": (snapshot(topics={"t": 10**18}), r"topics\.t: 10+ partitions, .*"),
    "a count beyond 64 bits": (snapshot(topics={"t": 10**30}), r"topics\.t: 10+ leaves 64 bits"),
    "negative partition": (
        member(owned={"t0": [-1]}),
        r"members\.c0\.owned\.t0\[0\]: -1, expected an integer of 0 or more",
    ),
    "partition that is no integer": (
        member(owned={"t0": [True]}),
        r"members\.c0\.owned\.t0\[0\]: true, expected an integer of 0 or more",
    ),
    "lag of another length": (
        snapshot(topics={"t1": {"partitions": 3, "lag": [1, 2]}}),
        r"topics\.t1\.lag: 2 values, but t1 has 3 partitions",
    ),
    "negative lag": (
        snapshot(topics={"t1": {"partitions": 1, "lag": [-2]}}),
        r"topics\.t1\.lag\[0\]: -2, expected an integer of 0 or more",
    ),
    "lag and offsets": (
        snapshot(topics={"t1": {"partitions": 1, "lag": [1], "offsets": [{}]}}),
        r"topics\.t1: both lag and offsets, expected one of them",
    ),
    "empty name": (snapshot(group=""), r'group: "", expected a non-empty string'),
    "half a character": (snapshot(group="\ud800"), r"group: '\\ud800' is not valid Unicode"),
    "a name of two lines": (snapshot(topics={"a\nb": -1}), r"topics\.a\\nb: -1, expected .*"),
}  # fmt: skip


@pytest.fixture(scope="module")
def validated(tmp_path_factory) -> dict[str, str]:
    """What validate says of each bad snapshot, a line for each."""
    folder = tmp_path_factory.mktemp("bad")
    files = {name: f"{number}.json" for number, name in enumerate(BAD_SNAPSHOTS)}
    for name, file in files.items():
        (folder / file).write_text(BAD_SNAPSHOTS[name][0])
    run = assay("validate", *files.values(), cwd=folder)
    assert (run.returncode, run.stdout) == (2, "")
    lines = run.stderr.split("\n")
    assert lines.pop() == ""
    return dict(zip(files, lines, strict=True))


@pytest.mark.parametrize("name", BAD_SNAPSHOTS)
def test_a_bad_snapshot_is_refused_in_one_line_that_names_the_place(validated, name):
    number = list(BAD_SNAPSHOTS).index(name)
    assert re.fullmatch(f"assay: {number}\\.json: {BAD_SNAPSHOTS[name][1]}", validated[name])


def test_solve_refuses_a_bad_snapshot_in_one_line_and_prints_nothing():
    names = ("not JSON", "empty", "wrong version", "negative partition", "lag of another length")
    calls = {
        name: (("solve", "-", "--format", "json"), {"stdin": BAD_SNAPSHOTS[name][0]})
        for name in (*names, "a name of two lines")
    }
    hint = "; other tools' texts become snapshots with: assay import FILE"
    for name, run in side_by_side(calls).items():
        expected = f"standard input: {BAD_SNAPSHOTS[name][1]}"
        line = one_line(run, 2)
        assert line.endswith(hint) == (name == "not JSON")
        assert re.fullmatch(expected, line.removesuffix(hint))


@pytest.mark.parametrize("command", ["check", "score", "anonymise", "import"])
def test_every_command_refuses_what_is_not_json_in_one_line(folder, command):
    (folder / "oops.json").write_text("{oops")
    more = [folder / "oops.json"] if command == "check" else []
    line = one_line(assay(command, folder / "oops.json", *more), 2)
    assert line.startswith(f"{folder / 'oops.json'}: ")


def test_several_groups_are_refused_with_a_hint_at_run(folder):
    calls = {
        "solve": (("solve", folder / "two.jsonl"), {}),
        "score": (("score", folder / "two.jsonl"), {}),
        "check": (("check", folder / "two.jsonl", folder / "two.jsonl"), {}),
        "stdin": (("solve", "-"), {"stdin": (folder / "two.jsonl").read_text()}),
    }
    for name, run in side_by_side(calls).items():
        place = "standard input" if name == "stdin" else folder / "two.jsonl"
        assert one_line(run, 2) == f"{place}: several groups, expected one; use assay run for many"


USAGE = {
    "unknown tier": (
        ("solve", "orders.json", "--objective", "balance > fun"),
        r"objective: unknown tier 'fun', expected one of kip-54, .*stickiness.*",
    ),
    "a tier twice": (
        ("solve", "orders.json", "--objective", "balance > balance"),
        r"objective: tier 'balance' appears twice",
    ),
    "a tier over unknown lag": (
        ("solve", "orders.json", "--objective", "peak_lag"),
        r"topics\.t0\.lag\[0\]: unknown, but tier peak_lag needs it \(and 4 more\)",
    ),
    "unknown assignor": (
        ("score", "orders.json", "--assignor", "rnage"),
        r"assignor: unknown name 'rnage', expected one of .*range, .*",
    ),
    "unknown method": (
        ("solve", "orders.json", "--method", "magic"),
        r".*--method.*'magic' is not one of 'auto', 'flow', 'cp-sat', 'ilp', 'brute'.*",
    ),
    "a method that does not serve the tier": (
        ("solve", "orders.json", "--method", "flow", "--objective", "peak_weight"),
        r".+",
    ),
    "unknown format": (("solve", "orders.json", "--format", "xml"), r".*--format.*xml.*"),
    "unknown option": (("solve", "orders.json", "--frob"), r"No such option: --frob.*"),
    "unknown command": (("frobnicate",), r"No such command 'frobnicate'\..*"),
    "no file named": (("solve",), r"Missing argument.*"),
    "no time": (("solve", "orders.json", "--time-limit", "0"), r".*--time-limit.*"),
    "no time at all": (("solve", "orders.json", "--time-limit", "nan"), r".*--time-limit.*"),
    "a limit without a number": (
        ("score", "orders.json", "--fail-above", "balance"),
        r"--fail-above balance: expected TIER=N, with N of 0 or more",
    ),
    "a limit of an unknown tier": (
        ("score", "orders.json", "--fail-above", "fun=1"),
        r"--fail-above fun=1: expected TIER=N, with N of 0 or more",
    ),
    "a negative limit": (
        ("score", "orders.json", "--fail-above", "balance=-1"),
        r"--fail-above balance=-1: expected TIER=N, with N of 0 or more",
    ),
    "a negative seed": (("generate", "grid", "--seed", "-1"), r".*--seed.*"),
    "unknown family": (("generate", "crowd"), r".*'crowd' is not one of.*"),
    "missing file": (
        ("solve", "missing.json"),
        r"missing\.json: cannot be read: No such file or directory",
    ),
    "missing solution": (
        ("check", "orders.json", "missing.json"),
        r"missing\.json: cannot be read: No such file or directory",
    ),
    "a directory as file": (("solve", "."), r"\.: cannot be read: Is a directory"),
    "a file in no folder": (
        ("anonymise", "orders.json", "-o", "no/where.json"),
        r"no/where\.json: cannot be written: No such file or directory",
    ),
    "unknown dialect": (
        ("import", "orders.json", "--from", "magic"),
        r"dialect: 'magic', expected one of auto, console, .*",
    ),
    "a run without input": (
        ("run", "missing", "--out", "out"),
        r"missing: cannot be read: No such file or directory",
    ),
    "a report without a run": (("report", "."), r"\.: no run in it; fill it with: assay run .*"),
}  # fmt: skip


@pytest.fixture(scope="module")
def misuses(folder) -> dict:
    return side_by_side({name: (args, {"cwd": folder}) for name, (args, _) in USAGE.items()})


@pytest.mark.parametrize("name", USAGE)
def test_bad_usage_is_refused_in_one_line(misuses, name):
    assert re.fullmatch(USAGE[name][1], one_line(misuses[name], 2))


def test_binary_input_is_refused_at_its_first_bad_byte(folder):
    (folder / "binary.json").write_bytes(b"{\x00\xff\xfe")
    line = one_line(assay("solve", folder / "binary.json"), 2)
    assert line == f"{folder / 'binary.json'}: byte 2: not UTF-8 text"


NOISE = {
    "bytes": lambda: random.Random(54).randbytes(100_000_000),
    "text": lambda: base64.b64encode(random.Random(54).randbytes(75_000_000)),
    "lines": lambda: b"7\n" * 50_000_000,
}


@pytest.mark.parametrize("kind", NOISE)
def test_a_hundred_megabytes_of_noise_are_refused_within_seconds(folder, kind):
    file = folder / "noise.json"
    file.write_bytes(NOISE[kind]())
    assert file.stat().st_size == 100_000_000
    for command in ("solve", "import"):
        started = time.monotonic()
        line = one_line(assay(command, file), 2)
        assert time.monotonic() - started < 10
        assert line.startswith(f"{file}: ")
        assert len(line) < 1000
    file.unlink()


def test_help_and_version_leave_with_0():
    calls = {command: ((command, "--help"), {}) for command in ("solve", "score", "run")}
    calls_for_all = {"all": (("--help",), {}), "bare": ((), {}), "version": (("--version",), {})}
    runs = side_by_side(calls | calls_for_all)
    for command in calls:
        assert f"assay {command}" in good(runs[command]).stdout
    listed = good(runs["all"]).stdout
    assert good(runs["bare"]).stdout == listed
    for command in (
        "solve", "check", "validate", "score", "assignors", "import", "anonymise", "generate",
        "run", "report",
    ):  # fmt: skip
        assert re.search(rf"^  {command} +\w", listed, re.MULTILINE)
    assert re.fullmatch(r"assay \d+\.\d+\.\d+\n", good(runs["version"]).stdout)


def test_a_reader_that_goes_away_gets_no_traceback(folder):
    command = f"'{ASSAY}' generate grid --members 100 | head -c 10"
    run = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert (len(run.stdout), run.stderr) == (10, "")
