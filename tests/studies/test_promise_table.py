"""The table of promises: what the records say of every small group, and a smaller table again."""

import re
from itertools import islice
from math import comb
from pathlib import Path

import pytest

from compare.promises.findings import read_findings
from compare.promises.promise import PROMISES
from compare.samples.enumerated import owned
from heuristics import WRITTEN, assign
from studies.page import read
from studies.promise_table import (
    LOOP,
    VOID,
    amended,
    contested,
    made_by,
    scopes,
    tally_written,
)

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "findings" / "promises.md"
RECORDS = {
    (record["scope"], record["assignor"], record["promise"]): record
    for record in read(ROOT / "docs" / "findings" / "promises.csv")
}
ASKED = [(a, p) for a in WRITTEN for p in PROMISES if PROMISES[p].asked_of(a)]


def test_the_page_says_what_each_promise_says():
    page = PAGE.read_text("utf-8").partition("\n\n<!--")[0]
    rows = re.findall(r"^\| ([a-z-]+) \| (.+) \| .+ \|$", page, re.M)
    assert rows == [("promise", "what it says")] + [(p.name, p.text) for p in PROMISES.values()]


def count_of(scope, assignor, promise):
    return int(RECORDS[scope, assignor, promise]["tested"])


def test_the_records_have_each_assignor_promise_and_scope():
    assert [*RECORDS] == [(scope.name, *pair) for pair in ASKED for scope in scopes()]
    shipped = read_findings(ROOT / "corpus" / "findings.jsonl")
    found = {(f.assignor, f.promise) for f in shipped if f.assignor in WRITTEN}
    assert found == {key[1:] for key, one in RECORDS.items() if int(one["broken"])}
    for (_, *pair), record in RECORDS.items():
        assert 0 <= int(record["broken"]) <= int(record["tested"])
        assert (tuple(pair) in found) == bool(record["finding"]) == bool(record["smallest"])


def test_every_assignor_as_written_comes_to_an_end_and_reverts_nothing_though_it_moves():
    for (scope, assignor, promise), record in RECORDS.items():
        if promise in ("terminates", "no-revert"):
            assert int(record["tested"]) > 100, (scope, assignor)
            assert not int(record["broken"]), (scope, assignor)


@pytest.mark.parametrize(
    ("scope", "assignor", "promises"),
    [
        pytest.param("equal", "kip-54-sticky", {"optimal-moves"}, id="it moves too much"),
        pytest.param("equal", "kip-615-amended", set(), id="it keeps everything"),
        pytest.param(
            "owned", "kip-54-fairest", {"balanced", "optimal-balance"}, id="it pays in balance"
        ),
    ],
)
def test_an_assignor_breaks_these_promises_in_a_scope_and_no_other(scope, assignor, promises):
    broken = {p for a, p in ASKED if a == assignor and int(RECORDS[scope, a, p]["broken"])}
    assert broken == promises


def test_kip_615_is_put_to_the_test_where_all_read_alike_alone():
    every = count_of("equal", "range", "terminates")
    of_amended = [promise for assignor, promise in ASKED if assignor == "kip-615-amended"]
    assert {count_of("equal", "kip-615-amended", promise) for promise in of_amended} == {every}
    asked = [count_of("fresh", name, "balanced") for name in ("kip-615-amended", "range")]
    assert 0 < asked[0] < asked[1]


def test_parts_add_up_to_the_whole():
    groups = [small.group() for small in islice(owned(2, 3, 3), 0, None, 5)]
    whole = tally_written(groups, ["kip-54-fairest"])
    assert whole["kip-54-fairest", "balanced"].broken
    total = tally_written(groups[::2], ["kip-54-fairest"])
    for key, one in tally_written(groups[1::2], ["kip-54-fairest"]).items():
        total[key] += one
    assert total == whole


@pytest.mark.exhaustive
def test_what_breaks_on_a_part_of_the_groups_breaks_in_the_records():
    small = scopes(equal_to=(3, 5), fresh_to=(2, 3, 4), owned_to=(2, 3, 3), seeded=300)
    rows = 0
    for scope in small:
        # The smallest group that breaks a promise is among all of the first kind.
        part = islice(scope.groups(), 0, None, 1 if scope.name == "equal" else 3)
        for key, one in tally_written(part).items():
            assert one.broken.total() <= int(RECORDS[scope.name, *key]["broken"])
            rows += bool(one.broken)
            if (scope.name, *key) == ("equal", "kip-54-sticky", "optimal-moves"):
                least = one.smallest
                assert (len(least.group.members), least.group.n_partitions) == (3, 5)
                assert least.measured == {"moves": 2, "optimum": 1}
    assert rows > 20


def test_contested_groups_are_every_multiset_of_sets_of_claimants():
    groups = [str(group.to_dict()) for group in contested(3, 4)]
    ways = sum(comb(2**m + p - 1, p) for m in range(1, 4) for p in range(1, 5))
    assert len(groups) == len(set(groups)) == ways


def test_no_amendment_and_both_are_the_assignors_as_written_and_amended():
    for group in contested(3, 3):
        for name, amendments in (("constrained", ()), ("amended", (LOOP, VOID))):
            made = made_by(group, amendments)
            assert made.to_dict() == assign(group, f"kip-615-{name}").to_dict()


@pytest.mark.exhaustive
def test_the_records_count_what_each_amendment_leaves_broken():
    every = {scope.name: scope.groups() for scope in scopes(equal_to=(4, 7), seeded=250)}
    small = {"equal": every["equal"], "contested": contested(3, 4), "seeded": every["seeded"]}
    made = amended(small)
    records = {(r["scope"], r["amendments"]): r for r in read(PAGE.with_name("amendments.csv"))}
    assert [(one["scope"], one["amendments"]) for one in made] == [*records]
    for one in made:
        record = records[one["scope"], one["amendments"]]
        for what in ("uneven", "invalid"):
            # A promise broken on these groups is broken on all, which include them.
            assert int(record[what]) or not one[what]
            assert one["amendments"] != "both" or record[what] == "0"
