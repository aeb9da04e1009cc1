"""assay solve of whatever file; docs/how-to/plan-with-lag.md shows its tables."""

import json

from tests.assay.calling import (
    ALL_GROUPS,
    ALONE,
    AS_JSON,
    EVEN,
    LOPSIDED,
    assay,
    document_of,
    good,
    one_after_the_other,
    one_line,
    write,
)

ASSUMED = "subscription of 1 member unknown, taken as all 2 topics of the group"


def test_what_was_assumed_is_said_beside_the_answer(folder):
    path = folder / "unknown.json"
    for command in (("score", *ALONE), ("solve",)):
        run = assay(*command, path, "--assume-equal", *AS_JSON)
        assert (run.returncode, run.stderr) == (0, f"assumed: {ASSUMED}\n")
        assert ASSUMED in document_of(run)["assumed"]
    run = assay("check", path, "-", "--assume-equal", stdin=run.stdout)
    assert (run.returncode, run.stderr) == (0, f"assumed: {ASSUMED}\n")


def test_the_reset_that_is_told_decides_the_lag_and_check_takes_it_too(folder):
    offsets = {"partitions": 2, "offsets": [{"beginning": 0, "end": 9}] * 2}
    write(folder, {"lag.json": EVEN | {"topics": {"t": offsets}}})
    asked = ("solve", "lag.json", "--objective", "peak_lag", *AS_JSON)
    resets = ("latest", "earliest")
    calls = {"assumed": asked, **{reset: (*asked, "--reset", reset) for reset in resets}}
    runs = one_after_the_other(calls, folder)
    found = {name: document_of(run) for name, run in runs.items()}
    values = {name: answer["terms"][0]["value"] for name, answer in found.items()}
    assert values == {"assumed": 0, "latest": 0, "earliest": 9}
    line = "auto.offset.reset: latest, so 2 partitions without a commit have lag 0"
    assert [found[name]["assumed"] for name in found] == [[line], [], []]
    assert runs["assumed"].stderr == f"assumed: {line}\n"
    check = ("check", folder / "lag.json", "-")
    for told, code in ((("--reset", "earliest"), 0), ((), 1)):
        assert assay(*check, *told, stdin=runs["earliest"].stdout).returncode == code


def test_what_a_console_tool_printed_of_one_group_needs_no_name_in_any_command(folder):
    lines = ALL_GROUPS.read_text().splitlines()
    rows = [line for line in lines if line.startswith(("GROUP ", "kpr-c "))]
    text = write(folder, {"one.txt": "\n".join([rows[0], *rows[-14:], ""])}) / "one.txt"
    solved = assay("solve", text, "--assume-equal", *AS_JSON)
    write(folder, {"one-solution.json": solved.stdout})
    for command, *more in (
        ("check", folder / "one-solution.json", "--assume-equal"),
        ("frontier", "balance", "stickiness", "--assume-equal"),
        ("size", "--members", "1-3", "--assume-equal"),
        ("export", "--proto", "--assume-equal"),
        ("explain",),
    ):
        run = assay(command, text, *more)
        assert run.returncode == 0, run.stderr
        assert run.stdout


def test_beside_a_line_that_is_damaged_the_group_has_to_be_named(folder):
    file = write(folder, {"half.jsonl": f"{json.dumps(LOPSIDED)}\n{{oops\n"}) / "half.jsonl"
    run = assay("solve", file)
    assert (run.returncode, run.stdout) == (2, "")
    said = f"assay: {file}: group orders is in it, but not all could be read; add --group NAME"
    assert run.stderr.splitlines()[-1] == said
    named = assay("solve", file, "--group", "orders")
    assert (named.returncode, named.stdout[:13]) == (0, "group orders:")


def test_within_a_budget_it_says_so_and_what_proves_it_and_check_follows_that(folder):
    asked = ("solve", folder / "orders.json", "--at-most", "stickiness=1")
    lines = good(assay(*asked)).stdout.splitlines()
    assert lines[0].startswith(
        "group orders: optimal for balance > moves with moves at most 1 "
        "(proof: certificate, method: flow, "
    )
    assert lines[-2:] == ["moves:", "  1 from c0 to c1: t1: 2"]
    document = document_of(good(assay(*asked, *AS_JSON)))
    check = ("check", folder / "orders.json", "-")
    run = good(assay(*check, stdin=json.dumps(document)))
    assert "status optimal: the certificate proves it" in run.stdout.splitlines()
    document["at_most"] = {"stickiness": 0}
    line = one_line(assay(*check, stdin=json.dumps(document)), 1)
    assert (
        line == "standard input: not a valid solution: at_most.stickiness: 0, but the value is 1"
    )
