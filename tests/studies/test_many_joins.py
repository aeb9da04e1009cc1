"""The clients' assignors on many small groups: those that hang are told, all others counted."""

import pytest

from compare.samples.enumerated import Small, joined, joins
from groups import values
from heuristics.time_limit import TimeLimit
from optimal import solve
from studies.many_joins import hanging
from tests.clients import called

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


@pytest.mark.exhaustive
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
