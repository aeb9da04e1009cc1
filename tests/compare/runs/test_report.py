import json
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from html import escape
from html.parser import HTMLParser
from pathlib import Path

import pytest

from compare.runs.report import write_report
from compare.runs.stored import read_table
from groups import BadInput
from tests.compare.conftest import CLOSING, HOSTILE

BROWSERS = ("chromium", "chromium-browser", "google-chrome")


class Page(HTMLParser):
    """What stands in a page: every tag, the cells of every row of a table, and the scripts."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.rows: list[list[str]] = []
        self.scripts: list[str] = []
        self.inside = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.inside = tag
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")
        elif tag == "script":
            self.scripts.append("")

    def handle_endtag(self, tag):
        self.inside = ""

    def handle_data(self, data):
        if self.inside in ("td", "th"):
            self.rows[-1][-1] += data
        elif self.inside == "script":
            self.scripts[-1] += data

    def table(self, column: str) -> dict[str, dict[str, str]]:
        """The table with that column: a row as {column: cell} for each first cell."""
        start, head = next((i, row) for i, row in enumerate(self.rows) if column in row)
        found = {}
        for row in self.rows[start + 1 :]:
            if len(row) != len(head):
                break
            found[row[0]] = dict(zip(head, row, strict=True))
        return found


@pytest.fixture(scope="module")
def report(spark_runs):
    """The page of the run, and what the command says."""
    path = spark_runs.out.parent / "report.html"
    command = [Path(sys.executable).with_name("assay"), "report", spark_runs.out, "-o", path]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stderr) == (0, "")
    return path, run.stdout.splitlines()


@pytest.fixture(scope="module")
def page(report) -> Page:
    return Page(report[0].read_text(encoding="utf-8"))


@pytest.mark.spark
def test_the_command_prints_three_headlines_and_the_path_of_the_page(report):
    path, lines = report
    assert len(lines) == 4
    for number, line in enumerate(lines[:3], start=1):
        assert re.fullmatch(rf"{number}\. [A-Z].+\.", line)
    assert lines[3] == f"report: {path}"


@pytest.mark.spark
def test_the_page_loads_nothing_from_anywhere(report, page):
    html = report[0].read_text(encoding="utf-8")
    for tag, attributes in page.tags:
        assert tag not in ("link", "img", "iframe", "object", "embed", "base", "form"), tag
        assert not {"src", "href", "srcset", "data", "action"} & set(attributes), (tag, attributes)
    styles = re.findall(r"<style>(.*?)</style>", html, re.DOTALL)
    assert styles
    assert not any("url(" in style or "@import" in style for style in styles)
    policies = [a for t, a in page.tags if a.get("http-equiv") == "Content-Security-Policy"]
    (policy,) = policies
    rules = dict(rule.strip().split(" ", 1) for rule in policy["content"].split(";"))
    assert rules.pop("default-src") == "'none'"
    assert set(" ".join(rules.values()).split()) <= {"'unsafe-inline'", "'unsafe-eval'", "data:"}


@pytest.mark.spark
def test_the_policy_stands_before_anything_that_it_governs(page):
    tags = [tag for tag, _ in page.tags]
    policy = next(i for i, (_, a) in enumerate(page.tags) if "http-equiv" in a)
    assert policy < min(tags.index("style"), tags.index("script"))


@pytest.mark.spark
def test_the_page_of_a_small_run_is_small(report):
    assert report[0].stat().st_size < 1_300_000


@pytest.mark.spark
def test_the_verdict_comes_before_the_headlines_and_those_before_the_figures(report, spark_runs):
    html = report[0].read_text(encoding="utf-8")
    proved = (read_table(spark_runs.out, "optima")["status"] == "optimal").sum()
    verdict = html.index(f"the optimum is proved for <b class='good'>{proved}</b> of them")
    headlines = html.index("<ol class='headlines'>")
    assert verdict < headlines < html.index("<div class='figure'") < html.index("<table>")
    items = re.findall(r"<li>(.*?)</li>", html)
    assert items == [escape(line[3:]) for line in report[1][:3]]


@pytest.mark.spark
def test_names_are_shown_and_never_run(report, page):
    html = report[0].read_text(encoding="utf-8")
    assert HOSTILE not in html
    assert CLOSING not in html
    assert HOSTILE in page.table("owned now")
    # Two scripts: the data of the figures, and the code that draws them.
    assert [a.get("type") for tag, a in page.tags if tag == "script"] == [
        "application/json",
        "module",
    ]
    assert html.lower().count("</script") == 2
    drawn = json.loads(page.scripts[0])["loads"]["datasets"]
    assert HOSTILE in {row["group"] for rows in drawn.values() for row in rows}


@pytest.mark.spark
def test_every_figure_has_its_place_and_its_data(page):
    figures = [a["id"] for _, a in page.tags if a.get("class") == "figure"]
    assert figures == ["shares", "excess-balance", "excess-stickiness", "loads"]
    assert list(json.loads(page.scripts[0])) == figures


@pytest.mark.spark
def test_what_was_assumed_stands_beside_the_verdict(page, spark_runs):
    rows = page.table("assumed")
    stored = read_table(spark_runs.out, "groups").set_index("group")["assumed"]
    assert set(rows) == set(stored.index)
    for group, row in rows.items():
        assert row["assumed"] == "; ".join(stored[group])
        assert row["owned now"]
    for group in ("coop-a", "next-b", "format-last"):
        assert rows[group]["assumed"]


@pytest.mark.spark
def test_every_group_says_what_is_owned_now_and_how_the_optimum_is_known(page):
    rows = page.table("owned now")
    now = {name: row["owned now"] for name, row in rows.items()}
    assert now["lopsided"] == "balance 4 above the optimum"
    assert now["coop-a"] == "optimal"
    assert now["6x4-5-topics-random-stable-3"] == "optimal"
    assert now["contested"].startswith("not valid")
    assert now["nobody"] == "nothing owned yet"
    assert now["next-b"].startswith("not solved: members.")
    assert rows["lopsided"]["optimum"] == "optimal (certificate)"
    assert rows["next-b"]["optimum"] == "failed"


@pytest.mark.spark
def test_every_assignor_has_a_row_with_its_shares(page):
    rows = page.table("scored")
    assert list(rows) == ["current", "range", "roundrobin", "kip-54-sticky", "kip-615-constrained"]
    for row in rows.values():
        for share in ("valid", "balanced", "optimal"):
            assert re.fullmatch(r"\d+\.\d%", row[share])
    assert rows["kip-54-sticky"]["valid"] == "100.0%"
    assert int(rows["kip-615-constrained"]["not scored"]) > 0


@pytest.mark.spark
def test_every_input_that_is_no_group_stands_on_the_page_with_its_reason(page):
    reasons = {place: row["reason"] for place, row in page.table("reason").items()}
    assert set(reasons) == {
        "in/groups.jsonl:4",
        "in/groups.jsonl:5",
        "in/noise.txt",
        "in/unreadable.json",
    }
    assert reasons["in/groups.jsonl:5"] == "format: 1, expected 'assay-group/1'"


def test_a_folder_without_a_run_is_bad_input(tmp_path):
    with pytest.raises(BadInput, match=r"no run in it; fill it with: assay run INPUT --out "):
        write_report(tmp_path, tmp_path / "report.html")


@pytest.mark.spark
def test_a_page_that_cannot_be_written_is_bad_input(spark_runs, tmp_path):
    (tmp_path / "file").touch()
    for page, said in {
        tmp_path / "file" / "report.html": "file: not a folder",
        Path("/proc/new/report.html"): "/proc/new: cannot be written: No such file or directory",
        tmp_path: "cannot be written: Is a directory",
        Path("/dev/full"): "/dev/full: cannot be written: No space left on device",
    }.items():
        with pytest.raises(BadInput) as refused:
            write_report(spark_runs.out, page)
        assert str(refused.value).endswith(said)


# In a browser


@dataclass(frozen=True)
class Visit:
    """A page after its scripts have run, what it logged, and the addresses that it asked for."""

    dom: str
    console: list[str]
    asked: list[str]


def visit(page: Path, folder: Path) -> Visit:
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        pytest.skip(f"no browser here, looked for {', '.join(BROWSERS)}")
    log = folder / "net.json"
    command = [
        browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
        "--disable-background-networking", "--disable-component-update", "--disable-sync",
        "--host-resolver-rules=MAP * ~NOTFOUND", f"--user-data-dir={folder / 'profile'}",
        "--enable-logging=stderr", "--virtual-time-budget=8000", f"--log-net-log={log}",
        "--dump-dom", page.as_uri(),
    ]  # fmt: skip
    run = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert run.returncode == 0, run.stderr
    console = [line for line in run.stderr.splitlines() if "CONSOLE" in line]
    return Visit(run.stdout, console, asked_by_a_page(json.loads(log.read_text())))


def asked_by_a_page(log: dict) -> list[str]:
    """The addresses that a page asked for; what the browser asks for itself has no origin."""
    asked = []
    for event in log["events"]:
        said = event.get("params") or {}
        if said.get("initiator", "not an origin") != "not an origin":
            asked.append(said["url"])
    return asked


@pytest.fixture(scope="module")
def opened(report, tmp_path_factory) -> Visit:
    return visit(report[0], tmp_path_factory.mktemp("browser"))


@pytest.mark.browser
def test_a_page_that_asks_the_network_or_errs_would_be_noticed(tmp_path):
    asks = tmp_path / "asks.html"
    asks.write_text("<img src='http://127.0.0.1:9/x.png'><script>undefined.x</script>")
    found = visit(asks, tmp_path)
    assert found.asked == ["http://127.0.0.1:9/x.png"]
    assert any("TypeError" in line for line in found.console)


@pytest.mark.spark
@pytest.mark.browser
def test_the_page_opens_without_an_error_or_a_warning(opened):
    assert "</html>" in opened.dom
    assert opened.console == []


@pytest.mark.spark
@pytest.mark.browser
def test_the_page_asks_the_network_for_nothing(opened):
    assert opened.asked == []


@pytest.mark.spark
@pytest.mark.browser
def test_every_figure_is_drawn(opened, page):
    figures = [a["id"] for _, a in page.tags if a.get("class") == "figure"]
    drawn = re.split(r'<div class="figure', opened.dom)[1:]
    assert len(drawn) == len(figures)
    for part in drawn:
        assert "<path" in part[part.index("<svg") : part.index("</svg>")]
    # One group and one assignor can be chosen.
    assert opened.dom.count("<select") == 2


@pytest.mark.spark
@pytest.mark.browser
def test_no_name_became_part_of_the_page(opened):
    after = Page(opened.dom)
    assert not any("alert" in script for script in after.scripts[1:])
    assert [tag for tag, _ in after.tags].count("script") == 2
    assert HOSTILE in after.table("owned now")
