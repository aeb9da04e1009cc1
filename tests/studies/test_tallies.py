"""The promises of the shipped assignors: what the records say, and how they are made."""

import json
from pathlib import Path

import pytest

from compare.promises.findings import read_findings
from compare.promises.promise import PROMISES, promises_of
from compare.samples.drawn import is_ordinary
from heuristics.time_limit import TimeLimit
from studies.tallies import record_of, small, tally_of
from tests.clients import called

ROOT = Path(__file__).parents[2]
RECORDS = json.loads((ROOT / "docs/findings/smallest.json").read_text("utf-8"))
EVERY = 4637
ROUND_ROBIN = "kafka-python/roundrobin@3.0.12"
FINDINGS = {found.id: found for found in read_findings(ROOT / "corpus" / "findings.jsonl")}


def test_every_promise_of_every_assignor_in_the_records_has_a_record():
    named = [(record["assignor"], record["promise"]) for record in RECORDS]
    assignors = dict.fromkeys(name for name, _ in named)
    assert named == [(a, p) for a in assignors for p in PROMISES if p in promises_of(a)]


def test_a_promise_holds_where_there_is_no_finding():
    for record in RECORDS:
        name = record["assignor"].partition("@")[0].replace("/", "-")
        finding = f"{name}-{record['promise']}"
        assert record["finding"] == (finding if finding in FINDINGS else None)
        assert record["holds"] == (record["finding"] is None)
        assert record["tested"] > 0
        # All of up to 6 members and partitions in all were enumerated; a broken promise counts
        # those that are smaller than what breaks it.
        assert (record["groups"] == EVERY) == ("breaks" not in record)


@pytest.mark.exhaustive
def test_all_small_groups_are_as_many_as_the_records_say():
    assert sum(1 for _ in small()) == EVERY


def test_the_small_groups_are_ordinary_and_the_smaller_ones_come_first():
    groups = list(small(5))
    sizes = [len(group.members) + group.n_partitions for group in groups]
    assert sizes == sorted(sizes)
    assert all(map(is_ordinary, groups))
    assert [sizes.count(size) for size in (2, 3, 4)] == [1, 5, 32]


@pytest.fixture(scope="module")
def found():
    """What the groups of up to four members and partitions say of an assignor."""
    called(ROUND_ROBIN)
    with TimeLimit(1.0) as first, TimeLimit(1.0) as second:
        return tally_of(ROUND_ROBIN, small(4), [first, second])


def test_a_broken_promise_counts_the_smaller_groups_on_which_it_holds(found):
    kept = record_of(ROUND_ROBIN, "terminates", found["terminates"], None)
    assert (kept["holds"], kept["groups"], kept["tested"]) == (True, 1 + 5 + 32, 1 + 5 + 32)
    breaks = record_of(ROUND_ROBIN, "answers", found["answers"], None)
    assert (breaks["holds"], breaks["groups"], breaks["breaks"]["size"]) == (False, 1 + 5, 4)
    assert 0 < breaks["breaks"]["groups"] < breaks["breaks"]["tested"] == 32
