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
        r"members\.c0\.owned\.t0\[0\]: true, expected an integer",
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
    for name, run in side_by_side(calls).items():
        said = (
            BAD_SNAPSHOTS[name][1] if name != "empty" else "empty, expected the output of a tool"
        )
        expected = f"standard input: {said}"
        assert re.fullmatch(expected, one_line(run, 2))


@pytest.mark.parametrize("command", ["check", "score", "anonymise", "import"])
def test_every_command_refuses_what_is_not_json_in_one_line(folder, command):
    (folder / "oops.json").write_text("{oops")
    more = [folder / "oops.json"] if command == "check" else []
    line = one_line(assay(command, folder / "oops.json", *more), 2)
    assert line.startswith(f"{folder / 'oops.json'}: ")


@pytest.mark.parametrize(
    ("family", "option"),
    [
        ("grid", ("--event", "stable")),
        ("grid", ("--per-member", "10")),
        ("grid", ("--topics", "10")),
        ("grid", ("--skewed",)),
        ("differing", ("--topics", "10")),
        ("differing", ("--most-partitions", "10000")),
        ("random", ("--most-partitions", "10000")),
    ],
)
def test_an_option_that_the_family_does_not_take_is_refused(family, option):
    line = one_line(assay("generate", family, *option), 2)
    assert line == f"{option[0]}: family {family} does not take it"
