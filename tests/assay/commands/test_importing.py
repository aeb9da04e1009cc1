"""Import to Parquet and back; a table stands wherever a snapshot may."""

import json
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from groups import Group
from groups.columnar.layout import LAYOUT
from groups.columnar.rows import batch_of
from tests.assay.calling import EVEN, LOPSIDED, assay, good, one_line

CAPTURES = Path(__file__).parents[2] / "groups" / "captures"


def snapshots(text: str) -> list[dict]:
    return [json.loads(line) for line in text.splitlines()]


def test_snapshots_and_texts_become_parquet_and_come_back(folder):
    table, views = folder / "groups.parquet", CAPTURES / "4.3.1" / "coop-a-describe.txt"
    text = json.dumps(LOPSIDED)
    run = assay("import", views, folder / "two.jsonl", "-", "-o", table, stdin=text)
    assert (run.returncode, run.stdout) == (0, "")
    assert "assumed: coop-a: captured_at: the time of the file" in run.stderr.splitlines()
    back = snapshots(assay("import", table).stdout)
    assert sorted(one["group"] for one in back) == ["coop-a", "even", "orders", "orders"]
    two = snapshots((folder / "two.jsonl").read_text())
    assert all(snapshot in back for snapshot in (*normal(two), *normal([LOPSIDED])))


def normal(documents: list[dict]) -> list[dict]:
    """As `assay` writes them."""
    return [json.loads(json.dumps(Group.from_dict(one).to_dict())) for one in documents]


def test_a_bad_snapshot_costs_a_line_and_the_exit_code_and_the_others_are_written(folder):
    (folder / "mixed.jsonl").write_text(f"{json.dumps(EVEN)}\n[]\n")
    run = assay("import", "mixed.jsonl", "-o", "mixed.parquet", cwd=folder)
    assert (run.returncode, run.stdout) == (2, "")
    assert run.stderr == "mixed.jsonl:2: [], expected an object\n"
    assert json.loads(assay("import", "mixed.parquet", cwd=folder).stdout)["group"] == "even"


def test_an_import_of_nothing_leaves_no_table(folder):
    (folder / "bad.jsonl").write_text("[]\n")
    run = assay("import", "bad.jsonl", "-o", "bad.parquet", cwd=folder)
    assert "bad.jsonl:1: [], expected an object" in one_line(run, 2)
    assert not (folder / "bad.parquet").exists()


def test_a_snapshot_still_is_nothing_to_import_as_json(folder):
    run = assay("import", folder / "orders.json")
    assert "a snapshot already, nothing to import" in one_line(run, 2)


def test_score_solve_and_report_read_parquet(folder):
    good(assay("import", "two.jsonl", "-o", "two.parquet", cwd=folder))
    for command in (("score",), ("solve", "--group", "orders", "--format", "json")):
        name, *options = command
        of_rows, of_lines = (
            assay(name, f"two.{kind}", *options, cwd=folder).stdout.splitlines()
            for kind in ("parquet", "jsonl")
        )
        assert _untimed(of_rows) == _untimed(of_lines)
    good(assay("report", "two.parquet", "-o", "two.html", cwd=folder))
    assert "orders" in (folder / "two.html").read_text()


def _untimed(lines: list[str]) -> list[object]:
    same = [line for line in lines if " in full: " not in line]
    return [{**json.loads(line), "seconds": 0} if line.startswith("{") else line for line in same]


def test_what_is_no_parquet_of_groups_is_refused_in_one_line(folder):
    (folder / "x.parquet").write_text("nothing")
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
    assert run.stdout == "rows.parquet:1: good: group even, 2 members, 2 partitions\n"
    assert run.stderr == "assay: rows.parquet:2: owner[0]: 7, but there are 2 members\n"


def test_validate_says_of_what_a_tool_prints_to_import_it_first(folder):
    rows = (
        "GROUP TOPIC PARTITION CURRENT-OFFSET LOG-END-OFFSET LAG CONSUMER-ID HOST CLIENT-ID\n"
        "g t 0 1 2 1 m /h c\n"
    )
    told = "what a tool prints, not a snapshot: first assay import {0} -o group.json"
    quoted = "".join(f"> {row}\n" for row in rows.splitlines())
    for name, text in (("a.txt", rows), ("b.txt", quoted)):
        (folder / name).write_text(text)
        line = one_line(assay("validate", name, cwd=folder), 2)
        assert line == f"{name}: {told.format(name)}"
    (folder / "c.txt").write_text("hello\n")
    assert "not JSON" in one_line(assay("validate", "c.txt", cwd=folder), 2)
    assert assay("import", "a.txt", "-o", "group.json", cwd=folder).returncode == 0
    good(assay("validate", "group.json", cwd=folder))


WITHOUT_PYARROW = """
import sys
sys.modules["pyarrow"] = None
from assay.cli import main
main()
"""


def test_without_pyarrow_a_line_says_what_brings_it_and_json_needs_none(folder):
    def run(*arguments: str) -> subprocess.CompletedProcess:
        command = [sys.executable, "-c", WITHOUT_PYARROW, *arguments]
        return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)

    (folder / "some.parquet").write_bytes(b"PAR1")
    for arguments in (("score", "some.parquet"), ("import", "two.jsonl", "-o", "t.parquet")):
        line = "pyarrow is not installed: in the clone of kafka-assay, pip install '.[spark]'"
        assert one_line(run(*arguments), 2) == line
    assert run("score", "two.jsonl").returncode == 0
