"""assay validate, import, anonymise and generate: snapshots, as JSON and as Parquet."""

import json
import re
import subprocess
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from groups import Group
from groups.files import read_groups
from groups.table.layout import LAYOUT
from groups.table.rows import batch_of
from tests.assay.calling import EVEN, LOPSIDED, assay, document_of, good, one_line, write
from tests.groups.importers.imported import CAPTURES, OFFSETS
from tests.processes import in_python

ROOT = Path(__file__).parents[3]
VIEWS = [CAPTURES / "4.3.1" / f"coop-a-{v}.txt" for v in ("describe", "members-verbose")]


def test_validate_names_every_good_snapshot_and_every_bad_one(folder):
    write(folder, {"mixed.jsonl": f'{json.dumps(EVEN)}\n{{"format":\n[]\n'})
    run = assay("validate", "two.jsonl", "mixed.jsonl", "missing.json", cwd=folder)
    assert run.returncode == 2
    assert run.stdout.splitlines() == [
        "two.jsonl:1: well-formed: group orders, 2 members, 5 partitions",
        "two.jsonl:2: well-formed: group even, 2 members, 2 partitions",
        "mixed.jsonl:1: well-formed: group even, 2 members, 2 partitions",
    ]
    assert run.stderr.splitlines() == [
        "assay: mixed.jsonl:2: line 1 column 11: not JSON: Expecting value",
        "assay: mixed.jsonl:3: [], expected an object",
        "assay: missing.json: cannot be read: No such file or directory",
    ]
    good(assay("validate", folder / "two.jsonl", folder / "unknown.json"))


def test_what_a_tool_prints_is_anonymised_as_its_snapshot_is(folder):
    text = VIEWS[0]
    assert assay("import", text, "-o", "shown.json", cwd=folder).returncode == 0
    hidden = good(assay("anonymise", text)).stdout
    assert hidden == good(assay("anonymise", folder / "shown.json")).stdout
    assert "coop" not in hidden
    run = assay("anonymise", ROOT / "docs/how-to/streams-shop.json")
    assert run.returncode == 2
    assert "a Kafka Streams group, no pseudonyms are made of it" in run.stderr


def test_members_that_read_only_topics_that_do_not_exist_are_noted(folder):
    lost = {"c0": {"subscription": ["gone"]}, "c1": {"subscription": ["t0"]}}
    write(folder, {"lost.json": LOPSIDED | {"members": lost}})
    line = "1 member reads only topics that do not exist: c0 (gone)\n"
    score = ("score", "--assignor", "current")
    for command, place in ((("validate",), "lost.json: "), (("solve",), ""), (score, "")):
        run = assay(*command, "lost.json", cwd=folder)
        assert (run.returncode, run.stderr) == (0, f"{place}{line}")


def test_validate_checks_the_form_and_notes_a_partition_that_two_members_own(folder):
    twice = {m: {"subscription": ["t0"], "owned": {"t0": [0]}} for m in ("c0", "c1")}
    write(folder, {"twice.json": LOPSIDED | {"topics": {"t0": 1}, "members": twice}})
    run = assay("validate", "twice.json", cwd=folder)
    assert run.returncode == 0
    assert run.stdout.startswith("twice.json: well-formed: ")
    assert run.stderr.startswith("twice.json: what its members hold is not valid: t0-0 ")


def test_validate_says_of_what_a_tool_prints_to_import_it_first(folder):
    rows = f"{OFFSETS}g t 0 1 2 1 m /h c\n"
    quoted = "".join(f"> {row}\n" for row in rows.splitlines())
    write(folder, {"a.txt": rows, "b.txt": quoted, "c.txt": "hello\n"})
    told = "what a tool prints, not a snapshot: first assay import {0} -o group.json"
    for name in ("a.txt", "b.txt"):
        line = one_line(assay("validate", name, cwd=folder), 2)
        assert line == f"{name}: {told.format(name)}"
    assert "not JSON" in one_line(assay("validate", "c.txt", cwd=folder), 2)
    assert assay("import", "a.txt", "-o", "group.json", cwd=folder).returncode == 0
    good(assay("validate", "group.json", cwd=folder))


def test_import_merges_views_of_a_group_and_solve_takes_what_it_prints():
    run = assay("import", *VIEWS)
    assert run.returncode == 0
    document = json.loads(run.stdout)
    assert (document["format"], document["group"]) == ("assay-group/1", "coop-a")
    assert document["assumed"]
    assert run.stderr.splitlines() == [f"assumed: coop-a: {line}" for line in document["assumed"]]
    solved = assay("solve", "-", "--assume-equal", "--format", "json", stdin=run.stdout)
    assert document_of(solved)["status"] == "optimal"


def test_import_takes_what_the_console_does_not_tell_of_a_streams_group():
    views = CAPTURES / "streams-4.4.0"
    text = views / "shop-members-verbose.txt"
    told = json.loads(assay("import", text, "--stateful", "1", "--standbys", "1").stdout)
    stateful = {name: one["stateful"] for name, one in told["subtopologies"].items()}
    assert (stateful, told["standby_replicas"]) == ({"0": False, "1": True}, 1)
    said = one_line(assay("import", text, "--stateful", "1,7"), 2)
    assert said == "shop: no subtopology '7', it has 0 and 1"
    said = one_line(assay("import", VIEWS[0], "--standbys", "1"), 2)
    assert said == "--standbys: coop-a is no Kafka Streams group"


def test_the_time_and_the_reset_that_are_told_are_kept_and_not_assumed():
    asked = ("import", *VIEWS, "--captured-at", "2026-11-20T11:00:00+01:00")
    told = json.loads(assay(*asked, "--reset", "earliest").stdout)
    run = assay(*asked)
    assumed = json.loads(run.stdout)
    assert told["captured_at"] == "2026-11-20T10:00:00Z"
    assert not any("captured_at" in line for line in told["assumed"])
    line = "auto.offset.reset: latest, so 2 partitions without a commit have lag 0"
    assert (told["auto_offset_reset"], line in told["assumed"]) == ("earliest", False)
    assert ("auto_offset_reset" in assumed, line in assumed["assumed"]) == (False, True)
    assert f"assumed: coop-a: {line}" in run.stderr.splitlines()


def test_what_is_assumed_of_several_groups_alike_is_said_once():
    lines = assay("import", CAPTURES / "3.9.2" / "all-describe.txt").stderr.splitlines()
    assert "assumed: 11 groups: captured_at: the time of the file" in lines
    assert len(lines) == len(set(lines)) < 20


def test_a_group_is_a_line_where_there_are_several_or_the_name_says_lines(folder):
    """And one document over several lines is read as such, whatever the name says."""
    two, one = (CAPTURES / "4.3.1" / f"{view}.txt" for view in (
        "two-groups-describe", "idle-h-members-verbose",
    ))  # fmt: skip
    for text, name, count in ((two, "two.json", 2), (one, "one.jsonl", 1), (one, "one.json", 1)):
        run = assay("import", text, "--out", folder / name)
        assert (run.returncode, run.stdout) == (0, "")
        assert [group.name is not None for group in read_groups(folder / name)] == [True] * count
        if name != "one.json":
            assert (folder / name).read_text().count("\n") == count
    indented = json.dumps(json.loads((folder / "one.json").read_text()), indent=1)
    found = read_groups(write(folder, {"indented.jsonl": indented}) / "indented.jsonl")
    assert (len(found), found.failures) == (1, ())


def test_generate_prints_a_group_a_line_and_the_same_for_a_seed(folder):
    asked = ("generate", "random", "--members", "4", "--members", "6", "--event", "join-one")
    lines = good(assay(*asked, "--count", "2", "--seed", "5")).stdout.splitlines()
    names = [Group.from_dict(json.loads(line)).name for line in lines]
    shown = [re.sub(r"-.*-", " ", name) for name in names]
    assert shown == ["4x10 5", "4x10 6", "6x10 5", "6x10 6"]
    assert good(assay(*asked, "--seed", "6", "-o", folder / "generated.jsonl")).stdout == ""
    assert (folder / "generated.jsonl").read_text().splitlines() == [lines[1], lines[3]]


def test_snapshots_and_texts_become_parquet_and_come_back(folder):
    text = json.dumps(LOPSIDED)
    run = assay("import", VIEWS[0], "two.jsonl", "-", "-o", "g.parquet", stdin=text, cwd=folder)
    assert (run.returncode, run.stdout) == (0, "")
    assert "assumed: coop-a: captured_at: the time of the file" in run.stderr.splitlines()
    lines = assay("import", folder / "g.parquet").stdout.splitlines()
    back = [json.loads(line) for line in lines]
    assert sorted(one["group"] for one in back) == ["coop-a", "even", "orders", "orders"]
    written = [json.loads(json.dumps(Group.from_dict(one).to_dict())) for one in (LOPSIDED, EVEN)]
    assert all(snapshot in back for snapshot in written)


def test_a_bad_snapshot_costs_a_line_and_the_exit_code_and_the_others_are_written(folder):
    write(folder, {"some.jsonl": f"{json.dumps(EVEN)}\n[]\n", "bad.jsonl": "[]\n"})
    run = assay("import", "some.jsonl", "-o", "some.parquet", cwd=folder)
    assert (run.returncode, run.stdout) == (2, "")
    assert run.stderr == "some.jsonl:2: [], expected an object\n"
    assert json.loads(assay("import", "some.parquet", cwd=folder).stdout)["group"] == "even"
    run = assay("import", "bad.jsonl", "-o", "bad.parquet", cwd=folder)
    assert "bad.jsonl:1: [], expected an object" in one_line(run, 2)
    assert not (folder / "bad.parquet").exists()


def test_score_solve_and_report_read_parquet(folder):
    write(folder, {"both.jsonl": [LOPSIDED, EVEN]})
    good(assay("import", "both.jsonl", "-o", "both.parquet", cwd=folder))

    def said(command: str, *options: str) -> list[str]:
        text = assay(command, *options, cwd=folder).stdout
        text = re.sub(r'"seconds":[^,]*', "", text)
        return [line for line in text.splitlines() if " in full: " not in line]

    for command, *options in (
        ("score", "--assignor", "current"),
        ("solve", "--group", "orders", "--format", "json"),
    ):
        assert said(command, "both.parquet", *options) == said(command, "both.jsonl", *options)
    good(assay("report", "both.parquet", "--assignor", "range", "-o", "both.html", cwd=folder))
    assert "orders" in (folder / "both.html").read_text()


def test_what_is_no_parquet_of_groups_is_refused_in_one_line(folder):
    write(folder, {"x.parquet": "nothing"})
    for command in ("score", "solve", "import", "diff"):
        files = ["x.parquet"] * (2 if command == "diff" else 1)
        line = one_line(assay(command, *files, cwd=folder), 2)
        assert line.startswith("x.parquet: not Parquet, or damaged: ")


def test_validate_names_each_row_of_parquet(folder):
    rows = batch_of([Group.from_dict(one) for one in (EVEN, LOPSIDED)]).to_pylist()
    rows[1]["owner"][0] = 7
    pq.write_table(pa.Table.from_pylist(rows, LAYOUT), folder / "rows.parquet")
    run = assay("validate", "rows.parquet", cwd=folder)
    assert run.returncode == 2
    assert run.stdout == "rows.parquet:1: well-formed: group even, 2 members, 2 partitions\n"
    assert run.stderr == "assay: rows.parquet:2: owner[0]: 7, but there are 2 members\n"


WITHOUT_PYARROW = """
import json, sys
sys.modules["pyarrow"] = None
from tests.assay.calling import assay
folder, *calls = json.loads(sys.argv[1])
print(json.dumps([vars(assay(*call, cwd=folder)) for call in calls]))
"""


def test_without_pyarrow_a_line_says_what_brings_it_and_json_needs_none(folder):
    write(folder, {"cut.parquet": "PAR1"})
    wanting = {
        "spark": [("score", "cut.parquet"), ("import", "two.jsonl", "-o", "t.parquet")],
        "plots": [
            ("report", "two.jsonl", "-o", "page.html"),
            ("plot", "two.jsonl", "-o", "drawn.svg"),
            ("size", "two.jsonl", "--figure", "drawn.svg"),
        ],
    }
    calls = [call for of_extra in wanting.values() for call in of_extra]
    given = [str(folder), *calls, ("score", "two.jsonl", "--assignor", "current")]
    said = in_python("-c", WITHOUT_PYARROW, json.dumps(given), cwd=ROOT).stdout
    *refused, scored = (subprocess.CompletedProcess(**run) for run in json.loads(said))
    line = "pyarrow is not installed: in the clone of kafka-assay, pip install '.[{}]'"
    assert [one_line(run, 2) for run in refused] == [
        line.format(extra) for extra, of_extra in wanting.items() for _ in of_extra
    ]
    assert scored.returncode == 0
