"""Findings made anew keep when and how they were found, as long as their group is the same."""

from dataclasses import replace

import pytest

from compare.promises.findings import SHIPPED, read_findings
from compare.promises.record import Found
from heuristics.time_limit import TimeLimit
from studies.recorded_findings import renewed

FINDINGS = {found.id: found for found in read_findings(SHIPPED)}
KNOWN = replace(FINDINGS["range-balanced"], found=Found("2026-01-02", "by hand"))


@pytest.fixture(scope="module")
def limit():
    with TimeLimit(5.0) as made:
        yield made


def test_a_finding_made_anew_on_the_same_group_keeps_when_it_was_found(limit):
    known = replace(KNOWN, why=("A rule.",))
    (made,) = renewed([replace(known, found=None, record=None, why=())], [known], "anew", limit)
    assert made.found == KNOWN.found
    assert made.why == ("A rule.",)
    assert made.record.plan == KNOWN.record.plan
    assert made.record.command == "assay hunt range --promise balanced"


def test_a_finding_on_another_group_was_found_today(limit):
    other = replace(FINDINGS["roundrobin-balanced"], id=KNOWN.id, found=None)
    (made,) = renewed([other], [replace(KNOWN, why=("A rule.",))], "anew", limit)
    assert made.why == ()
    assert made.found.how == "anew"
    assert made.found.date > KNOWN.found.date
