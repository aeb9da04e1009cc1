"""The clients' assignors on many small groups: those that hang are told, all others counted."""

from itertools import islice

import pytest

from compare.samples.enumerated import Small, joined, joins
from groups import values
from heuristics.time_limit import TimeLimit
from optimal import solve
from studies.many_joins import counted
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


@pytest.mark.kills
def test_what_hangs_is_counted_and_what_comes_after_it_is_answered():
    called("kafka-java/sticky@4.4.0")
    groups = [*map(joined, islice(joins(3, 2, 3, new=1), 50))]
    assert counted([*groups, joined(HANGS), *groups[:7]], "kafka-java/sticky@4.4.0") == (58, 1)


@pytest.mark.parametrize("name", ANSWERS)
def test_no_other_sticky_assignor_hangs_where_kafkas_do(name):
    called(name)
    group = joined(HANGS)
    with TimeLimit(60) as limit:
        plan = limit.plan(group, name).plan
    best = solve(group, "balance > stickiness").assignment
    assert plan.assignment.is_valid
    assert values(plan.assignment, ("balance",)) == values(best, ("balance",))
