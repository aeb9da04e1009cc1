"""The findings that ship: their page and others on them, how they are made anew and found."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from compare.promises.conformance import file_of
from compare.promises.findings import SHIPPED, read_findings
from compare.promises.promise import PROMISES, promises_of
from compare.promises.record import Found
from compare.samples.drawn import is_ordinary
from heuristics import WRITTEN
from heuristics.shipped import CLIENTS
from heuristics.shipped.java.java_client import JAVA_OPTIMAL
from studies.page import read as rows_in
from studies.shipped_findings import renewed, search
from studies.shipped_page import SECTIONS, read

ROOT = Path(__file__).parents[2]
MEASURED = read(ROOT)
PAGE = (ROOT / "docs" / "findings" / "shipped.md").read_text("utf-8")
FINDINGS = {found.id: found for found in read_findings(SHIPPED)}
KNOWN = replace(FINDINGS["range-balanced"], found=Found("2026-01-02", "by hand"))


def test_the_group_of_the_first_screen_is_that_of_the_finding():
    shown = json.loads((ROOT / "docs/findings/never-returns.json").read_text("utf-8"))
    found = FINDINGS["kafka-java-cooperative-sticky-terminates"]
    assert {**shown, "group": found.id} == found.group.to_dict()


def test_the_loop_is_in_every_release_tried_and_in_the_ports_that_the_readme_names():
    java = FINDINGS["kafka-java-cooperative-sticky-terminates"]
    assert java.affected == ("2.8.2", "3.9.2", "4.0.2", "4.4.0")
    assert java.unaffected == ()
    ports = {"sarama-sticky", "sarama-cooperative-sticky", "aiokafka-sticky"}
    for port in ports:
        found = FINDINGS[f"{port}-terminates"].group.to_dict()
        assert {**found, "group": java.id} == java.group.to_dict()


def test_a_finding_made_anew_on_the_same_group_keeps_when_it_was_found(limit):
    known = replace(KNOWN, why=("A rule.",))
    (made,) = renewed([replace(known, found=None, record=None, why=())], [known], "anew", limit)
    assert made.found == KNOWN.found
    assert made.why == ("A rule.",)
    assert made.record.command == "assay hunt range --promise balanced"
    assert set(made.record.environment) == {"kafka-assay", "python"}
    for key in ("plan", "better"):
        assert getattr(made.record, key) == getattr(KNOWN.record, key)


def test_a_finding_on_another_group_was_found_today(limit):
    other = replace(FINDINGS["roundrobin-balanced"], id=KNOWN.id, found=None)
    (made,) = renewed([other], [replace(KNOWN, why=("A rule.",))], "anew", limit)
    assert made.why == ()
    assert made.found.how == "anew"
    assert made.found.date > KNOWN.found.date


def test_each_finding_is_on_a_promise_that_its_assignor_makes():
    shipped = [found for found in FINDINGS.values() if found.assignor not in WRITTEN]
    assert shipped
    assert all(finding.promise in promises_of(finding.assignor) for finding in shipped)


def test_the_studies_have_asked_every_assignor_of_a_client_with_or_without_a_finding():
    names = {f"{client.name}/{name}" for client in CLIENTS.values() for name in client.assignors}
    ours = {f"{JAVA_OPTIMAL.name}/{name}" for name in JAVA_OPTIMAL.assignors}
    assert {name for name in names if f"| `{name}@" not in PAGE} == ours
    asked = {name.partition("@")[0] for name in file_of("valid")["assignors"]}
    assert names - asked == set()


@pytest.mark.exhaustive
def test_a_search_finds_what_is_broken_and_prefers_ordinary_groups(limit):
    name = "kip-54-sticky"
    found = search(name, [limit], groups=10, up_to=(2, 3, 3))
    assert set(found) <= set(promises_of(name)) <= set(PROMISES)
    assert found["optimal-balance"].measured == {"balance": 4, "optimum": 0}
    assert len(found["optimal-balance"].group.members) == 3
    assert is_ordinary(found["optimal-balance"].group)


def test_every_finding_has_its_program_on_the_page_once():
    named = re.findall(r"^assay reproduce (\S+) --run$", PAGE, re.MULTILINE)
    assert sorted(named) == sorted(finding.id for finding in MEASURED.findings)


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
