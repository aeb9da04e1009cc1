import subprocess
import sys

import pytest

from groups import Assignment, Group, values
from heuristics.shipped.java.java_client import KAFKA_BROKER
from heuristics.time_limit import TimeLimit

MISSING = [
    reason
    for version in KAFKA_BROKER.listed
    if (reason := KAFKA_BROKER.missing("range", version)) is not None
]
pytestmark = pytest.mark.skipif(bool(MISSING), reason=MISSING[0] if MISSING else "")


@pytest.fixture(scope="module")
def limit():
    with TimeLimit(60) as shared:
        yield shared


def group_of(topics, members) -> Group:
    document = {"format": "assay-group/1", "group": "g", "topics": topics, "members": members}
    return Group.from_dict(document)


def planned(limit: TimeLimit, group: Group, name: str) -> Assignment:
    outcome = limit.plan(group, name)
    assert outcome.status == "planned", outcome.reason
    return outcome.plan.assignment


def test_uniform_moved_more_than_needed_in_3_9(limit):
    # One of the two may have three partitions: in 3.9 it was the first, whoever had them.
    group = group_of(
        {"t": 5},
        {
            "a": {"subscription": ["t"], "owned": {"t": [0, 1]}, "generation": 1},
            "b": {"subscription": ["t"], "owned": {"t": [2, 3, 4]}, "generation": 1},
        },
    )
    moves = {
        version: values(planned(limit, group, f"kafka-broker/uniform@{version}"), ("stickiness",))[
            0
        ]
        for version in KAFKA_BROKER.listed
    }
    assert moves == {"4.4.0": 0, "4.0.2": 0, "3.9.2": 1}


def test_the_target_before_is_the_valid_owner(limit):
    # The broker knows the owner: of two claims it sees the one of the higher generation.
    group = group_of(
        {"t": 4},
        {
            "a": {"subscription": ["t"], "owned": {"t": [0, 1]}, "generation": 1},
            "b": {"subscription": ["t"], "owned": {"t": [0, 1]}, "generation": 2},
        },
    )
    for version in KAFKA_BROKER.listed:
        assignment = planned(limit, group, f"kafka-broker/uniform@{version}")
        assert assignment.owner.tolist() == [1, 1, 0, 0], version


def test_topics_that_do_not_exist_make_subscriptions_differ_for_nobody(limit):
    group = group_of(
        {"t": 2}, {"a": {"subscription": ["gone", "t"]}, "b": {"subscription": ["t"]}}
    )
    for version in KAFKA_BROKER.listed:
        for name in KAFKA_BROKER.assignors:
            assignment = planned(limit, group, f"kafka-broker/{name}@{version}")
            assert sorted(assignment.owner.tolist()) == [0, 1]
            assert not assignment.strays


def test_a_group_without_members_is_not_asked_about(limit):
    for name in KAFKA_BROKER.assignors:
        assignment = planned(limit, group_of({"t": 2}, {}), f"kafka-broker/{name}@4.4.0")
        assert assignment.owner.tolist() == [-1, -1]


TWICE = """
import numpy as np
from groups import Group
from heuristics.shipped.java.java_client import KAFKA_BROKER

topics = 3
owner = np.arange(60) % 4
owner[::7] = 0
group = Group.from_arrays(
    group="g", topics=["t0", "t1", "t2"], partitions=[20] * 3, members=list("abcdef"),
    subscription_indptr=np.arange(7) * 3, subscription_topics=np.tile([0, 1, 2], 6), owner=owner,
)
for name in KAFKA_BROKER.assignors:
    for version in KAFKA_BROKER.listed:
        held = KAFKA_BROKER.held(group, name, version)
        first = held.plan().assignment.owner
        seconds = held.timed(5)
        again = held.plan().assignment.owner
        print(len(seconds), all(0 < s < 5 for s in seconds), (first == again).all())
"""


def test_warm_calls_find_the_group_as_it_was():
    done = subprocess.run(
        [sys.executable, "-c", TWICE], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == ["5 True True"] * 6
