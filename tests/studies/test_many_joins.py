"""The clients' assignors on many small groups: those that hang are told, all others counted."""

import pytest

from compare.samples.enumerated import Small
from compare.samples.joins import joined, joins
from groups import BadInput, values
from heuristics import assignor_named
from heuristics.time_limit import TimeLimit
from optimal import solve
from studies.many_joins.called import read
from studies.many_joins.calls import hanging, line_of, put
from studies.page import read as records_in

HANGS = Small(
    (5, 10), ((0,), (0,), (0, 1), (1,), (1,)), (1, 1, 0, 0, 0, 3, 3, 3, 3, 3, 4, 4, 4, 4, 4)
)
ANSWERS = (
    "franz-go/sticky@1.22.2",
    "franz-go/cooperative-sticky@1.22.2",
    "kafka-python/sticky@3.0.12",
    "kafka-python/cooperative-sticky@3.0.12",
    "librdkafka/cooperative-sticky@2.16.0",
)


def called(name: str) -> None:
    reason = assignor_named(name).missing()
    if reason is not None:
        pytest.skip(reason)


@pytest.mark.parametrize(
    "name",
    [
        "kafka-java/sticky@4.4.0",
        "kafka-java/cooperative-sticky@4.4.0",
        "aiokafka/sticky@0.14.0",
        "sarama/sticky@1.61.1",
        "sarama/cooperative-sticky@1.61.1",
    ],
)
def test_what_hangs_is_told_and_what_comes_after_it_is_answered(name):
    called(name)
    groups = [*joins(3, 2, 3, new=1)][:50]
    told = list(hanging([*groups, HANGS, *groups[:7]], name, 300))
    assert told == [len(groups), HANGS, 7]


def test_one_that_is_led_through_the_probe_is_told_by_its_own_time():
    called("librdkafka/cooperative-sticky@2.16.0")
    group = next(joins(3, 2, 3, new=1))
    assert list(hanging([group], "librdkafka/cooperative-sticky@2.16.0", 60_000)) == [1]
    # Nothing is answered in no time: it counts as one that hangs.
    assert list(hanging([group], "librdkafka/cooperative-sticky@2.16.0", 0)) == [0, group]


@pytest.mark.parametrize("name", ANSWERS)
def test_no_other_sticky_assignor_hangs_where_kafkas_do(name):
    called(name)
    group = joined(HANGS)
    with TimeLimit(60) as limit:
        plan = limit.plan(group, name).plan
    best = solve(group, "balance > stickiness").assignment
    assert plan.assignment.is_valid
    assert values(plan.assignment, ("balance",)) == values(best, ("balance",))


def test_a_group_is_one_line():
    small = Small((2, 1), ((0,), (0, 1)), (0, 0, -1))
    assert line_of(small) == "2,1;0,0 1;0,0,-1\n"
    assert read(line_of(small)) == small


def test_a_record_goes_to_its_place_and_takes_that_of_an_older_one(tmp_path):
    row = {"assignor": "a", "members": 4, "topics": 2, "partitions": 10, "adjoining": "no",
           "joins": 3, "hang": 0}  # fmt: skip
    for more in ({}, {"partitions": 9}, {"joins": 5}, {"adjoining": "yes", "partitions": 12}):
        put(tmp_path / "joins.csv", {**row, **more})
    made = records_in(tmp_path / "joins.csv")
    assert [(r["partitions"], r["joins"]) for r in made] == [("9", "3"), ("10", "5"), ("12", "3")]


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("kafka-java/sticky@2.4.9", r"assay fetch kafka-java@2\.4\.9"),
        ("aiokafka/sticky@0.1.0", r"aiokafka/sticky@0\.1\.0: aiokafka .*0\.1\.0"),
        ("sarama/sticky@0.1.0", r"sarama/sticky@0\.1\.0: "),
    ],
)
def test_a_release_that_is_not_here_is_refused(name, reason):
    with pytest.raises(BadInput, match=reason):
        list(hanging([HANGS], name))
