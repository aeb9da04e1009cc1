"""assay report, plot and export: the files that they write."""

import json
import shlex
from pathlib import Path

import pytest

from assay import judge
from compare.overview import overview_of
from tests.assay.calling import ALL_GROUPS, EVEN, LOPSIDED, RANGE, assay, good, write
from tests.compare.page.parsed import Parsed
from tests.compare.series import series_of_four
from tests.groups.importers.imported import OFFSETS

CONSOLE = f"""{OFFSETS}orders t0 0 5 9 4 c-0 /h c
orders t0 1 5 5 0 c-0 /h c
orders t0 2 5 5 0 c-1 /h c
"""
LAG = {"t0": {"partitions": 2, "lag": [10, 900]}, "t1": {"partitions": 3, "lag": [1, 2, 30]}}
FRESH = {m: {"subscription": ["t"]} for m in "ab"}
FILES = {
    "groups.txt": CONSOLE,
    "noise.txt": "there is no group in this\n",
    "lag.json": LOPSIDED | {"topics": LAG},
    "gap.json": LOPSIDED | {"topics": LAG | {"t0": {"partitions": 2, "lag": [10, None]}}},
    "fresh.json": EVEN | {"members": FRESH},
}


@pytest.fixture(scope="module")
def given(folder) -> Path:
    (folder / "all.txt").symlink_to(ALL_GROUPS)
    return write(folder, FILES)


@pytest.fixture
def page(given):
    """Give a function that writes a page with the command, and parses it."""

    def made(*arguments, stdin: str = "") -> Parsed:
        run = good(assay("report", *arguments, "-o", "page.html", stdin=stdin, cwd=given))
        assert run.stdout.endswith("report: page.html\n")
        return Parsed((given / "page.html").read_text(encoding="utf-8"))

    return made


def test_a_page_is_made_of_snapshots_console_texts_and_what_cannot_be_read_without_spark(
    given, page
):
    files = ("orders.json", "groups.txt", "noise.txt", "gone.txt")
    run = assay("report", *files, *RANGE, "-o", "some.html", cwd=given)
    assert run.returncode == 2, "one is not there, one holds no group"
    assert [line.partition(":")[0] for line in run.stderr.splitlines()] == [
        "gone.txt", "noise.txt",
    ]  # fmt: skip
    rows = Parsed((given / "some.html").read_text(encoding="utf-8")).table("Groups").values()
    verdicts = [row["verdict"] for row in rows]
    assert verdicts == ["▲ improvable", "✓ as good as can be", "✕ not read", "✕ not read"]
    assert "standard input" in page("-", *RANGE, stdin=json.dumps(LOPSIDED)).words


def test_a_page_has_the_groups_that_are_asked_for_and_a_benchmark_apart(page):
    asked = ("--group", "static*", "--benchmark", "even.json")
    found = page("all.txt", "two.jsonl", *asked, *RANGE)
    assert {name.split()[0] for name in found.table("Groups")} == {"static-d", "static848-d"}
    assert found.table("Assignors on 1 group of the benchmark")["range"]["groups"] == "1"


def test_the_terminal_tells_the_history_that_the_page_tells(given):
    write(given, {"hours.jsonl": [one.to_dict() for one in series_of_four()]})
    told = good(assay("report", "hours.jsonl", *RANGE, "-o", "page.html", cwd=given)).stdout
    history = overview_of(judge(series_of_four())).history()
    assert told.splitlines()[1:] == [*history, "report: page.html"]
    words = Parsed((given / "page.html").read_text(encoding="utf-8")).words
    assert all(said in words for said in history)


def test_a_page_goes_to_report_html_where_nobody_says_where(given):
    assert assay("report", "even.json", *RANGE, cwd=given).returncode == 0
    assert "assay report even.json" in Parsed((given / "report.html").read_text("utf-8")).words


def test_a_page_of_nothing_that_is_a_group_is_made_and_says_so_with_exit_code_2(given):
    run = assay("report", "noise.txt", "-o", "nothing.html", cwd=given)
    assert run.returncode == 2
    assert run.stderr == "assay: no group could be read; the page says why\n"
    assert (given / "nothing.html").exists()
    said = "No group could be read.\nNothing was solved: no input is a group"
    assert run.stdout.startswith(said)


def test_what_members_read_can_be_told_to_a_page(page):
    found = page("groups.txt", "--reads", "c-*=t0", *RANGE)
    assert "range" in found.table("Assignors on orders")


def test_a_figure_is_written_and_one_line_says_so(given):
    run = good(assay("plot", "orders.json", "-o", "orders.png", cwd=given))
    assert run.stdout == "orders: loads, written to orders.png\n"
    assert (given / "orders.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ("orders.json", ["now", "best", "dashed: in every assignment somebody holds 3 or more"]),
        ("orders.json --assignor range", ["now", "range", "best"]),
        ("orders.json --figure moves", ["2 partitions move", "c0", "c1"]),
        ("orders.json --figure frontier", ["what moves buy in balance", "each dot is proved"]),
        ("orders.json --figure assignors --assignor range", ["current", "range", "best"]),
        ("lag.json --figure lag", ["dashed: wherever loads are as even as can be, somebody"]),
        ("lag.json --figure lag --objective peak_lag", ["dashed: in every assignment some"]),
        ("orders.json --figure size", ["partitions per member, by the number of members"]),
        ("lag.json --figure size", ["records of lag per member, by the number of members"]),
        ("fresh.json", ["now", "best"]),
        # If lag is unknown, the figure shows no best assignment.
        ("gap.json --figure lag", ["the lag of 1 partition is unknown", "!best", "!dashed"]),
        # Console text is enough for `best`, unless that depends on unknown subscriptions.
        ("all.txt --group kpr-c", ["best"]),
        ("all.txt --group aio-f", ["!best"]),
    ],
)
def test_each_figure_shows_what_is_known(given, asked, words):
    run = assay("plot", *shlex.split(asked), "-o", "out.svg", cwd=given)
    assert run.returncode == 0, run.stderr
    text = (given / "out.svg").read_text()
    for word in words:
        assert (word.removeprefix("!") in text) is not word.startswith("!"), word


@pytest.mark.parametrize(("syntax", "begins"), [("lp", r"\* assignment"), ("mps", "*SENSE:Min")])
def test_a_program_and_what_its_names_mean_are_two_files(folder, tmp_path, syntax, begins):
    out = tmp_path / f"orders.{syntax}"
    run = assay("export", folder / "orders.json", f"--{syntax}", "-o", out)
    assert (run.returncode, run.stdout) == (0, "")
    assert run.stderr == f"what the names mean: {out}.json\n"
    text = out.read_text()
    assert text.startswith(begins)
    legend = json.loads((tmp_path / f"orders.{syntax}.json").read_text())
    assert list(legend) == [
        "format", "group", "formulation", "minimised", "measure", "relation", "offset", "held",
        "variables",
    ]  # fmt: skip
    assert (legend["format"], legend["formulation"]) == ("assay-model/1", "ilp")
    assert legend["relation"].startswith("the assignments in which the measure is least are ")
    assert legend["variables"]["p4_m1"] == {"member": "c1", "partitions": [["t1", 2]]}
    assert all(name in text for name in legend["variables"])


def test_cp_sats_program_is_text_and_binary_where_the_file_ends_with_pb(folder, tmp_path):
    for name in ("orders.pb", "orders.txt"):
        run = assay("export", folder / "orders.json", "--proto", "-o", tmp_path / name)
        assert run.returncode == 0
    assert (tmp_path / "orders.txt").read_text().startswith("variables {")
    assert b"variables {" not in (tmp_path / "orders.pb").read_bytes()
    legends = [(tmp_path / f"orders.{end}.json").read_text() for end in ("pb", "txt")]
    assert legends[0] == legends[1]
    legend = json.loads(legends[0])
    assert legend["formulation"] == "cp-sat"
    assert legend["variables"]["p2_m0"]["partitions"] == [["t1", 0], ["t1", 1], ["t1", 2]]


def test_on_standard_output_one_line_says_how_to_get_the_meaning(folder, tmp_path):
    run = assay("export", folder / "orders.json", "--lp", "--tier", "2")
    told = "what the names mean: add -o FILE, which writes FILE.json too, or --map FILE\n"
    assert (run.returncode, run.stderr) == (0, told)
    assert "Minimize\nOBJ: p2_m1 + p3_m1 + p4_m1\n" in run.stdout
    told = ("--tier", "2", "--map", tmp_path / "map")
    assert assay("export", folder / "orders.json", "--lp", *told).returncode == 0
    legend = json.loads((tmp_path / "map").read_text())
    assert legend["held"] == [{"tier": "balance", "measure": "sum of squared loads", "value": 13}]
