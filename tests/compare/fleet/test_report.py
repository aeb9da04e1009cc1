import re
import shutil
from functools import partial

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from compare.fleet.tables import TABLES, read_table, stored
from compare.page.from_run import page_of_run
from tests.assay.calling import assay
from tests.compare.conftest import CLOSING, HOSTILE
from tests.compare.page.parsed import Parsed

pytestmark = pytest.mark.spark

reported = partial(assay, "report")


@pytest.fixture(scope="module")
def report(spark_runs):
    """The page of the run, and the output lines of the command."""
    path = spark_runs.out.parent / "report.html"
    run = reported(spark_runs.out, "-o", path)
    assert (run.returncode, run.stderr) == (0, "")
    return path, run.stdout.splitlines()


@pytest.fixture(scope="module")
def page(report) -> Parsed:
    return Parsed(report[0].read_text(encoding="utf-8"))


def test_the_command_prints_how_many_groups_as_the_page_does_and_its_path(report, page):
    path, (sentence, last) = report
    assert sentence.startswith("24 groups: 10 not valid; 4 improvable; ")
    assert sentence in page.words
    assert last == f"report: {path}"


def test_every_group_of_the_run_has_its_verdict(page, spark_runs):
    rows = page.table("Groups")
    stored = read_table(spark_runs.out, "groups")
    assert {re.sub(r"\d{4}-.*UTC$", "", name) for name in rows} >= set(stored["group"])
    verdicts = {name: row["verdict"] for name, row in rows.items()}
    assert verdicts["contested"] == "✕ not valid"
    assert verdicts["lopsided"] == "▲ improvable"
    assert verdicts["6x4-5-topics-random-stable-3"] == "✓ as good as can be"
    assert verdicts["nobody"] == "- no members"
    # Who reads what is not known of this one.
    assert verdicts["next-b"] == "✓ as good as can be"
    assert HOSTILE in rows


def test_every_input_that_is_no_group_is_a_line_with_its_reason(page):
    rows = page.table("Groups")
    # Of "cut" the name alone is known.
    unread = ("✕ not read", "✕ not judged")
    reasons = {name: row["what to do"] for name, row in rows.items() if row["verdict"] in unread}
    assert {re.sub(r"^cut", "", name) for name in reasons} == {
        "groups.jsonl:4",
        "groups.jsonl:5",
        "noise.txt",
        "unreadable.parquet",
    }
    assert reasons["groups.jsonl:5"] == "format: 1, expected 'assay-group/1'"


def test_assignors_are_counted_as_the_run_scored_them(page):
    (name,) = (name for name in page.tables if name.startswith("Assignors on") and "yours" in name)
    rows = page.table(name)
    assert {"range", "kip-54-sticky", "kip-615-constrained", "what is there now"} <= set(rows)
    assert "failed" in page.words or "refused" in page.words
    assert int(rows["kip-615-constrained"]["groups"]) < int(rows["range"]["groups"])


def test_a_source_that_is_not_the_readers_stands_apart(spark_runs):
    found = page_of_run(spark_runs.out, ["./in/groups.jsonl"], "assay report")
    names = {line.name for line in found.lines}
    assert "format-last" in names
    assert "random-1" not in names
    assert found.benchmark is not None
    assert found.benchmark.groups > 10


def test_the_page_says_what_left_the_tables(page):
    assert re.search(
        r"assay run in, \d{4}-\d\d-\d\d.*, version \d.* captures in \d+ s", page.words
    )


def test_a_run_that_failed_leaves_the_counts_of_the_others_whole(spark_runs, tmp_path):
    """The page said 23.0 groups of the others, and nan groups of the run that failed."""
    copied, run = tmp_path / "out", "20990101T000000000000Z-0"
    shutil.copytree(spark_runs.out, copied)
    (row, *_) = stored(copied, "runs", TABLES["runs"].names).to_pylist()
    row |= {"ended": "failed", "reason": "no room", "groups": None}
    (copied / "runs" / f"run={run}").mkdir()
    path = copied / "runs" / f"run={run}" / "rows.parquet"
    pq.write_table(pa.Table.from_pylist([row], TABLES["runs"]), path)
    *others, failed = page_of_run(str(copied), [], "").made.runs
    assert failed.endswith(": no room")
    assert all(re.search(r", 23 captures in \d+ s$", one) for one in others)


def test_the_page_of_a_small_run_is_small_and_names_in_it_never_run(report):
    html = report[0].read_text(encoding="utf-8")
    assert len(html.encode()) < 1_000_000
    assert HOSTILE not in html
    assert CLOSING not in html


def test_what_the_run_has_already_cannot_be_asked_of_its_page(spark_runs):
    run = reported(spark_runs.out, "--assume-equal", "-o", "/dev/null")
    assert run.returncode == 2
    assert re.fullmatch(
        r"assay: --assume-equal: .* holds the tables of a run, which has it already\n", run.stderr
    )


def test_a_damaged_file_is_one_line_that_names_it(spark_runs, tmp_path):
    copied = tmp_path / "out"
    shutil.copytree(spark_runs.out, copied)
    victim = next((copied / "scores").glob("run=*/*.parquet"))
    victim.write_bytes(victim.read_bytes()[:-1])
    run = reported(copied)
    assert (run.returncode, run.stderr.count("\n")) == (2, 1)
    assert run.stderr.startswith(f"assay: {copied}/scores: cannot be read: ")
    assert victim.name in run.stderr
