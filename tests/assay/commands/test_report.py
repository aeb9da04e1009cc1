import json

import pytest

from tests.assay.calling import LOPSIDED, assay
from tests.compare.page.parsed import Parsed

CONSOLE = """
GROUP  TOPIC PARTITION CURRENT-OFFSET LOG-END-OFFSET LAG CONSUMER-ID HOST CLIENT-ID
orders t0    0         5              9              4   c-0         /h   c
orders t0    1         5              5              0   c-0         /h   c
orders t0    2         5              5              0   c-1         /h   c
"""


@pytest.fixture(scope="module")
def written(folder):
    (folder / "groups.txt").write_text(CONSOLE)
    (folder / "noise.txt").write_text("there is no group in this\n")
    return folder


def page(path) -> Parsed:
    return Parsed(path.read_text(encoding="utf-8"))


def test_a_page_of_snapshots_and_of_console_texts_is_made_without_spark(written):
    run = assay("report", "orders.json", "groups.txt", "-o", "page.html", cwd=written)
    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout.endswith("report: page.html\n")
    rows = page(written / "page.html").table("Groups")
    assert [row["verdict"] for row in rows.values()] == ["▲ improvable", "✓ as good as can be"]


def test_a_page_goes_to_report_html_where_nobody_says_where(written):
    assert assay("report", "even.json", cwd=written).returncode == 0
    assert "assay report even.json" in page(written / "report.html").words


def test_an_input_that_cannot_be_read_is_a_line_of_the_page(written):
    run = assay("report", "orders.json", "noise.txt", "-o", "page.html", cwd=written)
    assert run.returncode == 0
    rows = page(written / "page.html").table("Groups")
    assert rows["noise.txt"]["verdict"] == "✕ not read"


def test_a_page_of_nothing_that_is_a_group_is_made_and_says_so_with_exit_code_2(written):
    run = assay("report", "noise.txt", "-o", "nothing.html", cwd=written)
    assert run.returncode == 2
    assert run.stderr == "assay: no group could be read; the page says why\n"
    assert (written / "nothing.html").exists()
    assert run.stdout.startswith(
        "No group could be read.\nNothing was solved: no input is a group"
    )


def test_standard_input_has_a_page_too(written):
    text = json.dumps(LOPSIDED)
    run = assay("report", "-", "-o", "page.html", stdin=text, cwd=written)
    assert run.returncode == 0
    assert "standard input" in page(written / "page.html").words


def test_a_benchmark_is_kept_apart_on_the_page(written):
    options = ("--benchmark", "even.json", "--assignor", "range", "-o", "page.html")
    assert assay("report", "two.jsonl", *options, cwd=written).returncode == 0
    found = page(written / "page.html")
    assert list(found.table("Groups")) == ["orders", "even"]
    assert found.table("Assignors on 1 group of the benchmark")["range"]["groups"] == "1"


def test_what_members_read_can_be_told(written):
    told = ("--reads", "c-*=t0", "--assignor", "range", "-o", "page.html")
    assert assay("report", "groups.txt", *told, cwd=written).returncode == 0
    assert "range" in page(written / "page.html").table("Assignors on orders")
