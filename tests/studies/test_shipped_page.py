"""The page of findings says what the studies measured, worst first, and no more."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from compare.promises.promise import PROMISES
from compare.samples.ordinary import is_ordinary
from studies.shipped_page import COLUMNS, SECTIONS, Measured, page_of, picture, read

ROOT = Path(__file__).parents[2]
MEASURED = read(ROOT)
PAGE = (ROOT / "docs" / "findings" / "shipped.md").read_text("utf-8")
HANG = "kafka-java-sticky-terminates"


@pytest.fixture
def hang():
    return next(finding for finding in MEASURED.findings if finding.id == HANG)


def test_every_finding_has_its_program_on_the_page_once():
    named = re.findall(r"^assay reproduce (\S+) --run$", PAGE, re.MULTILINE)
    assert sorted(named) == sorted(finding.id for finding in MEASURED.findings)


def test_the_worst_comes_first_and_every_link_of_the_table_leads_to_a_section():
    titles = re.findall(r"^## (.+)$", PAGE, re.MULTILINE)[1:]
    titles = [title for title in titles if title != "What was enumerated"]
    order = [section.title for section in SECTIONS]
    assert titles == [title for title in order if title in titles]
    anchors = {section.anchor for section in SECTIONS if section.title in titles}
    assert set(re.findall(r"\]\(#([^)]+)\)", PAGE)) == anchors


def test_every_promise_that_shipped_assignors_make_has_its_column():
    asked = {name for name, promise in PROMISES.items() if promise.asked_of("kafka-java/sticky@1")}
    assert asked <= set(COLUMNS)
    assert {finding.promise for finding in MEASURED.findings} <= set(COLUMNS)


def test_what_was_not_measured_is_said_to_be_so(hang):
    page = page_of(Measured(findings=[hang]))
    valid = next(f for f in MEASURED.findings if f.id == "kafkajs-RoundRobinAssigner-valid")
    assert "**How often.** Not measured." in page_of(Measured(findings=[valid]))
    assert "**Why.** Not measured." in page
    assert "[**breaks**](#an-ordinary-join" in page
    assert "Of all releases" not in page
    assert "**What happens.** A member joins, and the assignor does not return." in page
    assert "What would mend it" not in page


def test_what_was_measured_stands_in_the_section_of_its_finding(hang):
    since = {
        "releases": [
            {"version": "1.0", "date": "2020-01-01", "status": "unaffected", "reason": None},
            {"version": "1.1", "date": "2021-01-01", "status": "affected", "reason": None},
            {"version": "1.2", "date": None, "status": "affected", "reason": "on another"},
            {"version": "1.3", "date": None, "status": "untried", "reason": "no wheel"},
        ],
        "first": "1.1",
        "last": "1.2",
        "change": "a rule came in",
        "reports": [
            {"where": "tracker 7", "title": "It hangs", "reported": "a hang", "fixed": None,
             "remains": "this one"}
        ],
    }  # fmt: skip
    often = {"client": "kafka-java", "assignor": "sticky", "version": "4.4.0", "what": "hang",
             "rebalances": "2000", "events": "3", "per_million": "1500", "low": "300",
             "high": "4000"}  # fmt: skip
    row = {"assignor": "kafka-java/sticky@4.4.0", "promise": "valid", "holds": True,
           "finding": None, "groups": 1234, "enumerated": "all of them."}  # fmt: skip
    page = page_of(
        replace(
            MEASURED,
            findings=[hang],
            since={HANG: since},
            often=[often],
            smallest=[row],
            why={
                HANG: {
                    "rule": "It looks back",
                    "case": ["Turn one.", "Turn two."],
                    "change": "Look ahead",
                    "assignor": "ours",
                }
            },
            cluster="Nobody reads for 45 s.",
        )
    )
    assert (
        "2 of 3 releases tried are affected, 1.1 (2021-01-01) to 1.2; 1.2 on another group" in page
    )
    assert "1 was not tried; not affected on the group below: 1.0. a rule came in." in page
    assert "- tracker 7, *It hangs*: a hang. this one." in page
    assert "| `kafka-java/sticky` 4.4.0 | 1,500 | 300 to 4,000 | 3 | 2,000 |" in page
    assert "| 1,234 |" in page
    assert "| `kafka-java/sticky@4.4.0` | valid | 1,234 | All of them | - |" in page
    assert "**Why**, in `kafka-java/sticky`. It looks back. Turn one. Turn two." in page
    assert "Look ahead. That is our `ours`." in page
    assert "**What happens.** Nobody reads for 45 s. That is of Kafka" in page


def test_what_two_findings_share_is_said_once_of_the_versions_that_are_always_tried(hang):
    page = page_of(Measured(findings=[hang, replace(hang, id=f"again-{hang.id}")]))
    (line,) = (line for line in page.splitlines() if line.startswith("**Since when.**"))
    assert line.count("kafka-java/sticky") == 1


def test_the_releases_of_a_finding_are_told_from_the_study_of_all_where_that_has_it(hang):
    releases = [
        {"version": "2.8.2", "date": None, "status": "affected", "reason": "on another group"},
        {"version": "4.4.0", "date": None, "status": "affected", "reason": None},
    ]
    since = {
        "releases": releases,
        "first": "2.8.2",
        "last": "4.4.0",
        "change": None,
        "reports": [],
    }
    found = replace(hang, unaffected=("2.8.2",))
    page = page_of(Measured(findings=[found], since={hang.id: since}))
    assert "- `kafka-java/sticky`: 2 of 2 releases tried are affected, 2.8.2 to 4.4.0" in page
    assert "(not on this group: 2.8.2)" not in page
    assert "(not on this group: 2.8.2)" in page_of(Measured(findings=[found]))


def test_releases_that_do_not_have_the_assignor_are_not_said_to_be_untried(hang):
    reasons = ("it has no sticky assignor of its own", "undefined: sarama.BalanceStrategySticky")
    untried = {"date": None, "status": "untried"}
    releases = [{"version": "1.0", "reason": reason, **untried} for reason in reasons]
    releases += [{"version": "1.1", "reason": "no wheel", **untried}]
    releases += [{"version": "1.2", "date": None, "status": "affected", "reason": None}]
    since = {"releases": releases, "first": "1.2", "last": "1.2", "change": None, "reports": []}
    page = page_of(Measured(findings=[hang], since={hang.id: since}))
    said = "1 of 1 release tried is affected, 1.2; 1 was not tried; 2 do not have the assignor."
    assert said in page


@pytest.mark.parametrize("section", [s for s in SECTIONS if s.unplayed], ids=lambda s: s.title)
def test_no_share_is_told_of_what_no_service_could_show(section):
    titled = PAGE.partition(f"## {section.title}\n")[2].partition("\n## ")[0]
    assert f"**How often.** Not played: {section.unplayed}" in titled
    assert "95% interval" not in titled
    found = [f for f in MEASURED.findings if f"assay reproduce {f.id} --run" in titled]
    assert found
    counted = {f"{r['client']}/{r['assignor']}" for r in MEASURED.often}
    for finding in found:
        in_racks = finding.group.racks is not None
        name = finding.assignor.partition("@")[0]
        assert in_racks or not is_ordinary(finding.group) or name not in counted


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
    assert f"assay reproduce {second.id} --run" in PAGE


def test_a_finding_that_no_section_expects_gets_one_of_its_own(hang):
    odd = replace(
        hang, id="kafka-java-sticky-no-revert", promise="no-revert", measured={"moves": 1}
    )
    page = page_of(Measured(findings=[odd]))
    assert "## kafka java sticky breaks no-revert" in page.replace("no revert", "no-revert")
    assert "**What happens.** Moves 1." in page


def test_a_picture_shows_who_reads_who_owns_and_who_joins(hang):
    lines = picture(hang)
    assert lines[0].startswith("owns before")
    (joins,) = (line for line in lines if " joins" in line)
    assert "reads" in joins
    assert "|  an optimum" in lines[0]


def test_what_was_seen_only_where_no_topic_is_read_by_all_is_said_apart(hang):
    often = {"client": "kafka-java", "assignor": "sticky", "version": "4.4.0", "what": "hang",
             "rebalances": "5000", "events": "0", "per_million": "0", "low": "0",
             "high": "300"}  # fmt: skip
    apart = {**often, "rebalances": "9000", "events": "1", "per_million": "111", "high": "600"}
    said = "Of those of services whose members have roles, where no topic is read by all:"
    line = "| `kafka-java/sticky` 4.4.0 | 111 | 0 to 600 | 1 | 9,000 |"
    page = page_of(Measured(findings=[hang], often=[often], often_apart=[apart]))
    assert line in page.partition(said)[2]
    for seen in ({**often, "events": "2"}, often):
        other = apart if seen is not often else {**apart, "events": "0"}
        assert said not in page_of(Measured(findings=[hang], often=[seen], often_apart=[other]))


def test_up_to_which_size_nothing_hangs_is_told_by_assignor(hang):
    row = {"assignor": hang.assignor, "members": "4", "topics": "2", "partitions": "7",
           "adjoining": "no", "joins": "1000", "hang": "0"}  # fmt: skip
    rows = [row, {**row, "partitions": "9", "adjoining": "yes"}, {**row, "members": "3"}]
    small = {"assignor": hang.assignor, "promise": "terminates", "holds": False, "joins": 3000,
             "finding": hang.id, "groups": 3210, "enumerated": "all of them"}  # fmt: skip
    page = page_of(Measured(findings=[hang], smallest=[small], joins=rows))
    assert "| assignor | small | joins | 3 members | 4 members | 4 members, one run |" in page
    assert f"| `{hang.assignor}` | 210 | 3,000 | up to 7 | up to 7 | up to 9 |" in page
    assert "not proved to be the smallest" in page
    hangs = page_of(Measured(findings=[hang], joins=[{**row, "hang": "2"}]))
    assert f"| `{hang.assignor}` | - | 1,000 | hangs on 2 |" in hangs
    assert "**No hang on.**" not in page_of(Measured(findings=[hang]))
