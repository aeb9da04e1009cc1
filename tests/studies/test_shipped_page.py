"""The page of findings says what the studies measured, worst first, and no more."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from compare.promises.promise import PROMISES
from compare.samples.ordinary import is_ordinary
from studies.page import read as rows_in
from studies.shipped_page import COLUMNS, SECTIONS, Measured, page_of, picture, read

ROOT = Path(__file__).parents[2]
MEASURED = read(ROOT)
PAGE = (ROOT / "docs" / "findings" / "shipped.md").read_text("utf-8")


@pytest.fixture
def hang():
    (found,) = (f for f in MEASURED.findings if f.id == "kafka-java-sticky-terminates")
    return found


def test_every_finding_has_its_program_on_the_page_once():
    named = re.findall(r"^assay reproduce (\S+) --run$", PAGE, re.MULTILINE)
    assert sorted(named) == sorted(finding.id for finding in MEASURED.findings)


def test_the_worst_comes_first_and_every_link_of_the_table_leads_to_a_section():
    titles = re.findall(r"^## (.+)$", PAGE, re.MULTILINE)[1:]
    assert titles == [one.title for one in SECTIONS if one.title in titles]
    anchors = {section.anchor for section in SECTIONS if section.title in titles}
    assert set(re.findall(r"\]\(#([^)]+)\)", PAGE)) == anchors


def test_every_promise_that_shipped_assignors_make_has_its_column():
    asked = {name for name, promise in PROMISES.items() if promise.asked_of("kafka-java/sticky@1")}
    assert asked <= set(COLUMNS)
    assert {finding.promise for finding in MEASURED.findings} <= set(COLUMNS)


def test_the_releases_are_those_of_the_study_of_all_or_else_the_versions_always_tried(hang):
    releases = [
        {"version": version, "date": None, "status": status, "reason": None}
        for version, status in (("1.0", "unaffected"), ("1.1", "affected"), ("1.2", "affected"))
    ]
    known = page_of(Measured([hang], [], {hang.id: {"releases": releases}}))
    assert "**Where.** `kafka-java/sticky` 1.1 to 1.2.\n" in known
    assert f"`kafka-java/sticky` {', '.join(hang.affected)}.\n" in page_of(
        Measured([hang], [], {})
    )
    # What two findings share is said once.
    twice = Measured([hang, replace(hang, id=f"again-{hang.id}")], [], {})
    (line,) = (line for line in page_of(twice).splitlines() if line.startswith("**Where.**"))
    assert line.count("kafka-java/sticky") == 1


@pytest.mark.parametrize("section", [s for s in SECTIONS if s.unplayed], ids=lambda s: s.title)
def test_what_is_said_not_to_be_played_was_not(section):
    found = [f for f in MEASURED.findings if next(s for s in SECTIONS if s.has(f)) is section]
    assert found
    rows = rows_in(ROOT / "docs" / "findings" / "how-often.csv")
    played = {f"{row['client']}/{row['assignor']}" for row in rows}
    for finding in found:
        name = finding.assignor.partition("@")[0]
        in_racks = finding.group.racks is not None
        assert in_racks or not is_ordinary(finding.group) or name not in played


def test_a_second_group_of_one_promise_has_its_program_and_stands_behind_the_first():
    first, second = (
        next(f for f in MEASURED.findings if f.id == f"kafka-java-sticky-valid{more}")
        for more in ("", "-recreated")
    )
    assert (first.is_second, second.is_second) == (False, True)
    (row,) = (
        line for line in PAGE.splitlines() if line.startswith("| `kafka-java/sticky@4.4.0` | [")
    )
    assert (
        "[breaks](#a-plan-that-is-not-valid) 2 x 1, "
        "[breaks](#partitions-read-twice-after-a-topic-was-recreated) 2 x 2"
    ) in row


def test_a_finding_that_no_section_expects_gets_one_of_its_own(hang):
    odd = replace(
        hang, id="kafka-java-sticky-no-revert", promise="no-revert", measured={"moves": 1}
    )
    page = page_of(Measured([odd], [], {}))
    assert "## kafka java sticky breaks no-revert" in page.replace("no revert", "no-revert")
    assert "**What happens.** Moves 1." in page
    assert "**Why.** Not found out." in page


def test_a_picture_shows_who_reads_who_owns_and_who_joins(hang):
    lines = picture(hang)
    assert lines[0].startswith("owns before")
    (joins,) = (line for line in lines if " joins" in line)
    assert "reads" in joins
    assert "|  an optimum" in lines[0]
