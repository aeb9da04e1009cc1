"""The study of shipped assignors: what is asked of each, and what a search comes to."""

from pathlib import Path

import pytest

from compare.promises.findings import read_findings
from compare.promises.promise import PROMISES
from compare.promises.promised import promises_of
from heuristics import WRITTEN, assignor_named
from heuristics.time_limit import TimeLimit
from studies.shipped_findings import search

FILE = Path(__file__).parents[2] / "corpus" / "findings.jsonl"
FINDINGS = [found for found in read_findings(FILE) if found.assignor not in WRITTEN]


@pytest.fixture(scope="module")
def limit():
    with TimeLimit(1.0) as made:
        yield made


def test_each_finding_is_on_a_promise_that_its_assignor_makes():
    assert FINDINGS
    assert all(finding.promise in promises_of(finding.assignor) for finding in FINDINGS)


@pytest.mark.exhaustive
def test_a_search_finds_what_is_broken_and_prefers_ordinary_groups(limit):
    name = "kafka-python/sticky"
    reason = assignor_named(name).missing()
    if reason is not None:
        pytest.skip(reason)
    found = search(name, [limit], groups=10)
    assert set(found) <= set(promises_of(name)) <= set(PROMISES)
    assert found["optimal-balance"].measured == {"balance": 4, "optimum": 0}
    assert len(found["optimal-balance"].group.members) == 3
