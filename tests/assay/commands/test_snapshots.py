import json
import os
import re
from pathlib import Path

import pytest

from groups import Group
from groups.files import read_groups
from optimal import solve
from tests.assay.calling import (
    EVEN,
    LOPSIDED,
    assay,
    document_of,
    good,
    one_after_the_other,
    one_line,
    side_by_side,
)

CAPTURES = Path(__file__).parents[2] / "groups" / "captures"


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


def test_validate_notes_members_that_read_only_topics_that_do_not_exist(folder):
    lost = {"c0": {"subscription": ["gone"]}, "c1": {"subscription": ["t0"]}}
    (folder / "lost.json").write_text(json.dumps(LOPSIDED | {"members": lost}))
    run = assay("validate", "lost.json", cwd=folder)
    assert (run.returncode, run.stdout.count("\n")) == (0, 1)
    line = "1 member reads only topics that do not exist: c0 (gone)"
    assert run.stderr == f"lost.json: {line}\n"
    for command in ("solve", "score"):
        assert f"{line}\n" == assay(command, folder / "lost.json").stderr


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


def test_import_says_when_it_was_captured_as_told_or_as_its_file_has_it(tmp_path):
    text = tmp_path / "a.txt"
    text.write_bytes((CAPTURES / "4.3.1/coop-a-describe.txt").read_bytes())
    os.utime(text, (1_000_000_000, 1_000_000_000))
    calls = {
        "file": ("import", text),
        "told": ("import", text, "--captured-at", "2026-11-20T11:00:00+01:00"),
        "none": ("import", text, "--captured-at", "yesterday"),
        "no zone": ("import", text, "--captured-at", "2026-11-20T10:00:00"),
    }
    runs = one_after_the_other(calls, tmp_path)
    found = {name: json.loads(runs[name].stdout) for name in ("file", "told")}
    assert found["file"]["captured_at"] == "2001-09-09T01:46:40Z"
    assert "assumed: coop-a: captured_at: the time of the file" in runs["file"].stderr
    assert found["told"]["captured_at"] == "2026-11-20T10:00:00Z"
    assert not any("captured_at" in line for line in found["told"]["assumed"])
    assert one_line(runs["none"], 2) == (
        "--captured-at 'yesterday', expected a time as in 2026-11-20T10:00:00Z"
    )
    assert "has no time zone: add Z" in one_line(runs["no zone"], 2)


def test_the_reset_that_is_told_is_kept_and_no_longer_assumed(tmp_path):
    texts = [CAPTURES / "4.3.1" / f"coop-a-{v}.txt" for v in ("describe", "members-verbose")]
    at = ("--captured-at", "2026-11-20T10:00:00Z")
    calls = {
        "told": ("import", *texts, *at, "--reset", "earliest"),
        "assumed": ("import", *texts, *at),
        "neither": ("import", *texts, "--reset", "none"),
    }
    runs = one_after_the_other(calls, tmp_path)
    told, assumed = json.loads(runs["told"].stdout), json.loads(runs["assumed"].stdout)
    line = "auto.offset.reset: latest, so 2 partitions without a commit have lag 0"
    assert (told["auto_offset_reset"], line in told["assumed"]) == ("earliest", False)
    assert ("auto_offset_reset" in assumed, line in assumed["assumed"]) == (False, True)
    assert f"assumed: coop-a: {line}" in runs["assumed"].stderr.splitlines()
    assert "'none' is not one of 'latest', 'earliest'" in one_line(runs["neither"], 2)


def test_what_is_assumed_of_several_groups_alike_is_said_once():
    run = assay("import", CAPTURES / "3.9.2" / "all-describe.txt")
    lines = run.stderr.splitlines()
    assert "assumed: 11 groups: captured_at: the time of the file" in lines
    assert len(lines) == len(set(lines)) < 20


def test_import_of_several_groups_is_json_lines_in_a_file(folder):
    out = folder / "imported.jsonl"
    run = assay("import", CAPTURES / "4.3.1" / "two-groups-describe.txt", "--out", out)
    assert (run.returncode, run.stdout) == (0, "")
    groups = [json.loads(line) for line in out.read_text().splitlines()]
    assert len(groups) == 2
    assert all(group["format"] == "assay-group/1" for group in groups)


@pytest.mark.parametrize(("name", "lines"), [("one.jsonl", 1), ("one.json", None)])
def test_import_of_one_group_is_a_line_where_the_name_says_lines(folder, name, lines):
    """And one document over several lines is read as such, whatever the name says."""
    out, indented = folder / name, folder / f"indented-{name.removesuffix('l')}l"
    run = assay("import", CAPTURES / "4.3.1" / "idle-h-members-verbose.txt", "--out", out)
    assert run.returncode == 0
    assert lines is None or out.read_text().count("\n") == lines
    indented.write_text(json.dumps(json.loads(out.read_text()), indent=1))
    for file in (out, indented):
        found = read_groups(file)
        assert (len(found), found.failures) == (1, ())


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
