"""The promises of the shipped assignors: what the records say, and how they are made."""

import json
from collections import Counter
from pathlib import Path

import pytest

from compare.promises.findings import read_findings
from compare.promises.promise import PROMISES
from compare.promises.promised import promises_of
from compare.promises.trial import Trial, runner_of, trials
from compare.samples.joins import joined, joins
from compare.samples.ordinary import is_ordinary
from heuristics import assignor_named
from heuristics.time_limit import TimeLimit
from studies.smallest import (
    Tally,
    record_of,
    said_of,
    small,
    tally,
    with_joins,
    with_racks,
    with_smaller,
)

ROOT = Path(__file__).parents[2]
RECORDS = json.loads((ROOT / "docs/findings/smallest.json").read_text("utf-8"))
FINDINGS = {found.id: found for found in read_findings(ROOT / "corpus" / "findings.jsonl")}


def test_every_promise_of_every_assignor_in_the_records_has_a_record():
    named = [(record["assignor"], record["promise"]) for record in RECORDS]
    assignors = dict.fromkeys(name for name, _ in named)
    assert named == [(a, p) for a in assignors for p in PROMISES if p in promises_of(a)]


@pytest.mark.parametrize("record", RECORDS, ids=lambda r: f"{r['assignor']}-{r['promise']}")
def test_a_promise_holds_where_there_is_no_finding(record):
    name = record["assignor"].partition("@")[0].replace("/", "-")
    finding = f"{name}-{record['promise']}"
    assert record["finding"] == (finding if finding in FINDINGS else None)
    assert record["holds"] == (record["finding"] is None)
    assert record["groups"] > 0


def test_the_small_groups_are_ordinary_and_the_smaller_ones_come_first():
    groups = list(small(((4, 3), (5, 1))))
    sizes = [len(group.members) + group.n_partitions for group in groups]
    assert sizes == sorted(sizes)
    assert all(map(is_ordinary, groups))
    assert len(groups) == 1 + 5 + 32 + sum(1 for m in range(1, 5) for _ in joins(m, 1, 5 - m))


def test_a_broken_promise_counts_the_smaller_groups_on_which_it_holds():
    name = "kafka-python/roundrobin@3.0.12"
    if assignor_named(name).missing() is not None:
        pytest.skip("kafka-python is not here")
    with TimeLimit(1.0) as first, TimeLimit(1.0) as second:
        found = tally(small(((4, 2),)), name, [first, second])
    kept = record_of(name, "terminates", found["terminates"], None, "some groups")
    # One group of one member and three topics is left out.
    assert (kept["holds"], kept["groups"], kept["enumerated"]) == (True, 1 + 5 + 31, "some groups")
    breaks = record_of(name, "answers", found["answers"], None, "some groups")
    assert (breaks["holds"], breaks["groups"]) == (False, 1 + 5)
    assert str(breaks["enumerated"]).startswith(
        "it holds on every ordinary group without racks of fewer than 4 members and partitions "
        "in all, and breaks on "
    )


def test_a_record_says_how_many_groups_put_the_promise_to_the_test_where_not_all_do():
    one = Tally(groups=Counter({5: 10, 6: 90}), tested=Counter({5: 8, 6: 85}))
    kept = record_of("a", "optimal-moves", one, None, "every group")
    assert kept["groups"] == 93
    assert kept["enumerated"] == "every group, that puts it to the test (93 of 100)"
    all_do = Tally(groups=Counter({6: 90}), tested=Counter({6: 90}))
    assert record_of("a", "valid", all_do, None, "every group")["enumerated"] == "every group"


def test_the_records_count_the_groups_that_were_enumerated():
    groups = sum(1 for _ in small())
    for record in RECORDS:
        sentence, tested = record["enumerated"], record["groups"]
        if said_of() in sentence and "; and on every join" not in sentence:
            said = f"{said_of()}, that puts it to the test ({tested:,} of {groups:,})"
            assert said in sentence or tested == groups, record


def test_a_smaller_group_replaces_that_of_a_finding_with_its_record_and_its_day():
    name = "kafka-python/roundrobin@3.0.12"
    if assignor_named(name).missing() is not None:
        pytest.skip("kafka-python is not here")
    with TimeLimit(1.0) as limit:
        found = tally(small(((4, 2),)), name, [limit], ("answers",))
    (made,) = with_smaller([], name, found)
    assert (made.id, made.affected) == ("kafka-python-roundrobin-answers", ("3.0.12",))
    assert made.record is not None
    assert made.found is not None
    assert made.found.how == f"{said_of()}; the smallest on which it breaks"
    assert with_smaller([made], name, found) == [made]


def test_trials_side_by_side_are_those_of_one_call_after_the_other():
    name = "kafka-python/sticky@3.0.12"
    if assignor_named(name).missing() is not None:
        pytest.skip("kafka-python is not here")
    batch = [joined(one) for one in joins(2, 2, 3)]
    with TimeLimit(1.0) as first, TimeLimit(1.0) as second:
        made = trials(batch, name, [first, second])
        run = runner_of(name, first)
        alone = [Trial(run, group, None) for group in batch]
        assert [trial.group for trial in made] == batch
        for one, other in zip(made, alone, strict=True):
            assert one.outcome.plan.assignment.loads.tolist() == (
                other.outcome.plan.assignment.loads.tolist()
            )
            assert (one.again is None) == (other.again is None)


def test_joins_are_counted_beside_the_small_groups_where_none_hangs():
    record = {
        "assignor": "a", "promise": "terminates", "groups": 10, "enumerated": "small groups",
    }  # fmt: skip
    row = {
        "assignor": "a", "members": "4", "topics": "2", "partitions": "7", "adjoining": "no",
        "joins": "100", "hang": "0",
    }  # fmt: skip
    # Those of 5 members and partitions are among the small groups.
    (made,) = with_joins([record], [row, {**row, "members": "3", "partitions": "2"}])
    assert made["groups"] == 110
    assert made["enumerated"] == (
        "small groups; and on every join of one new member (100 in all): "
        "4 members and 2 topics up to 7 partitions"
    )
    assert with_joins([record], [{**row, "hang": "1"}]) == [record]
    assert with_joins([{**record, "promise": "valid"}], [row])[0]["groups"] == 10


def test_a_record_says_how_often_rounds_never_settle_with_racks():
    one = Tally(tested=Counter({9: 70, 10: 30}), broken=Counter({10: 2}))
    made = with_racks({"enumerated": "small groups"}, one)
    assert made["enumerated"] == (
        "small groups; with racks it breaks on 2 of 100 ordinary groups with racks that were "
        "drawn (seed 1)"
    )


def test_an_assignor_that_has_no_rounds_is_not_asked_whether_they_end():
    with TimeLimit(1.0) as limit:
        assert tally(small(((2, 1),)), "kafka-java/sticky@4.4.0", [limit], ("settles",)) == {}


def test_joins_that_a_record_counts_already_are_counted_anew():
    record = {"assignor": "a", "promise": "terminates", "groups": 10, "enumerated": "small groups"}
    row = {
        "assignor": "a", "members": "4", "topics": "2", "partitions": "7", "adjoining": "no",
        "joins": "100", "hang": "0",
    }  # fmt: skip
    once = with_joins([record], [row])
    assert with_joins(once, [row]) == once
    assert with_joins(once, []) == [record]


@pytest.mark.parametrize("found", FINDINGS.values(), ids=lambda found: found.id)
def test_a_finding_is_not_called_the_smallest_where_not_all_below_it_was_tried(found):
    size = len(found.group.members) + found.group.n_partitions
    made = record_of(found.assignor, found.promise, Tally(), found, "small groups")
    between = ", and not proved to be the smallest"
    assert (between in made["enumerated"]) == (is_ordinary(found.group) and size > 7)
    for record in RECORDS:
        if record["finding"] == found.id and "the finding is larger" in record["enumerated"]:
            assert (between in record["enumerated"]) == (size > 7)
