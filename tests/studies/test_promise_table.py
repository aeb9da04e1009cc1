"""The table of promises: what is true on every small group, and what the page says of it."""

from itertools import islice
from pathlib import Path

import pytest

from compare.promises.findings import read_findings
from compare.promises.promise import PROMISES
from compare.samples.enumerated import owned
from heuristics import WRITTEN
from studies.page import read
from studies.promise_table import scopes, tally_written

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "findings" / "promises.md"
RECORDS = read(PAGE.with_suffix(".csv"))
FINDINGS = [
    finding
    for finding in read_findings(ROOT / "corpus" / "findings.jsonl")
    if finding.assignor in WRITTEN
]


@pytest.fixture(scope="module")
def small_tallies():
    small = scopes(equal_to=(3, 6), fresh_to=(2, 3, 4), owned_to=(2, 3, 3), seeded=100)
    return {
        (scope.name, *key): one
        for scope in small
        for key, one in tally_written(scope.groups()).items()
    }


def broken(tallies, scope):
    return {key[1:] for key, one in tallies.items() if key[0] == scope and one.broken}


@pytest.mark.exhaustive
def test_every_assignor_as_written_comes_to_an_end(small_tallies):
    ends = {key[:2]: one for key, one in small_tallies.items() if key[2] == "terminates"}
    assert len(ends) == 4 * len(WRITTEN)
    for one in ends.values():
        assert one.tested
        assert not one.broken


@pytest.mark.exhaustive
def test_the_revert_rule_never_fires_though_moves_are_made(small_tallies):
    reverts = {k[0]: one for k, one in small_tallies.items() if k[2] == "no-revert"}
    assert not any(one.broken for one in reverts.values())
    assert reverts["owned"].tested.total() > 100
    assert reverts["seeded"].tested.total() > 15


@pytest.mark.exhaustive
def test_where_all_read_alike_kip_54_is_balanced_but_moves_too_much(small_tallies):
    of_kip_54 = {p for a, p in broken(small_tallies, "equal") if a == "kip-54-sticky"}
    assert of_kip_54 == {"optimal-moves"}
    least = small_tallies["equal", "kip-54-sticky", "optimal-moves"].smallest
    assert (len(least.group.members), least.group.n_partitions) == (3, 5)
    assert least.measured == {"moves": 2, "optimum": 1}


@pytest.mark.exhaustive
def test_where_all_read_alike_the_amended_kip_615_keeps_every_promise(small_tallies):
    asked = [p for p in PROMISES if PROMISES[p].asked_of("kip-615-amended")]
    for promise in asked:
        assert small_tallies["equal", "kip-615-amended", promise].tested.total() == 629
    assert not {p for a, p in broken(small_tallies, "equal") if a == "kip-615-amended"}


@pytest.mark.exhaustive
def test_the_alternative_of_kip_54_moves_nothing_and_pays_in_balance(small_tallies):
    of_fairest = {p for a, p in broken(small_tallies, "owned") if a == "kip-54-fairest"}
    assert of_fairest == {"balanced", "optimal-balance"}


@pytest.mark.exhaustive
def test_without_differing_subscriptions_kip_615_is_not_put_to_the_test(small_tallies):
    one = small_tallies["fresh", "kip-615-amended", "balanced"]
    assert 0 < one.tested.total() < small_tallies["fresh", "range", "balanced"].tested.total()


def test_parts_add_up_to_the_whole():
    groups = [small.group() for small in islice(owned(2, 3, 3), 0, None, 5)]
    whole = tally_written(groups, ["kip-54-fairest"])
    assert whole["kip-54-fairest", "balanced"].broken
    total = tally_written(groups[::2], ["kip-54-fairest"])
    for key, one in tally_written(groups[1::2], ["kip-54-fairest"]).items():
        total[key] += one
    assert total == whole


def test_the_records_have_each_assignor_promise_and_scope():
    asked = [(a, p) for a in WRITTEN for p in PROMISES if PROMISES[p].asked_of(a)]
    named = [(r["assignor"], r["promise"], r["scope"]) for r in RECORDS]
    wanted = [(*pair, scope.name) for pair in asked for scope in scopes()]
    assert named == wanted, "make promises writes them anew"
    broken = {(r["assignor"], r["promise"]) for r in RECORDS if int(r["broken"])}
    assert broken == {(f.assignor, f.promise) for f in FINDINGS}
    for record in RECORDS:
        assert 0 <= int(record["broken"]) <= int(record["tested"])
        breaks = (record["assignor"], record["promise"]) in broken
        assert breaks == bool(record["finding"]) == bool(record["smallest"])


@pytest.mark.exhaustive
def test_the_records_agree_with_a_smaller_enumeration(small_tallies):
    """What fails on fewer groups fails on more; the records are of supersets of these."""
    counts = {(r["scope"], r["assignor"], r["promise"]): int(r["broken"]) for r in RECORDS}
    rows = 0
    for scope in ("equal", "fresh", "owned"):
        for assignor, promise in broken(small_tallies, scope):
            least = small_tallies[scope, assignor, promise].broken.total()
            assert counts[scope, assignor, promise] >= least > 0
            rows += 1
    assert rows > 20
