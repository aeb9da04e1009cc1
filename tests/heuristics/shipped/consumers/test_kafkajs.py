from itertools import islice

import numpy as np
import pytest

from compare.samples.drawn import drawn
from groups import BadInput
from heuristics import assign, assignor_named
from heuristics.shipped.consumers.consumer import KAFKAJS
from tests.heuristics.shipped.consumers import leading

VERSION = "2.2.4"
NAME = f"kafkajs/RoundRobinAssigner@{VERSION}"
MISSING = KAFKAJS.missing("RoundRobinAssigner", VERSION)

needs_the_package = pytest.mark.skipif(MISSING is not None, reason=str(MISSING))


def planned(limit, group):
    return leading.planned(limit, group, NAME).assignment


@needs_the_package
def test_it_is_round_robin_where_everybody_reads_the_same(limit):
    for group in islice(filter(leading.reads_the_same, drawn(81)), 50):
        made = planned(limit, group)
        assert made.is_valid
        assert made.to_dict() == assign(group, "roundrobin").to_dict()


@needs_the_package
def test_the_leaders_topics_are_dealt_out_to_everybody_and_no_others(limit):
    wrong = 0
    for group in islice(drawn(82), 50):
        made = planned(limit, group)
        of_leader = group.subscribes(np.zeros_like(group.topic), group.topic)
        turns = (of_leader.cumsum() - 1) % len(group.members)
        assert made.owner.tolist() == np.where(of_leader, turns, -1).tolist()
        wrong += not made.is_valid
    assert wrong == 23


@needs_the_package
def test_a_topic_that_the_leader_does_not_read_stays_with_nobody(limit, group_of):
    made = planned(limit, group_of({"t": 1, "u": 1}, {"a": ["t"], "b": ["u"]}))
    assert made.to_dict() == {"a": {"t": [0]}, "b": {}}
    assert [str(violation) for violation in made.violations] == ["u-0 with nobody: unassigned"]


@needs_the_package
def test_a_member_is_given_what_it_does_not_read(limit, group_of):
    made = planned(limit, group_of({"t": 2, "u": 0}, {"a": ["t"], "b": ["u"]}))
    assert made.to_dict() == {"a": {"t": [0]}, "b": {"t": [1]}}
    assert [str(violation) for violation in made.violations] == ["t-1 with b: unsubscribed"]


@needs_the_package
def test_a_leader_that_reads_a_topic_that_does_not_exist_makes_no_plan(limit, group_of):
    outcome = limit.plan(group_of({"t": 2}, {"a": ["t", "gone"], "b": ["t"]}), NAME)
    assert outcome.status == "failed"
    assert outcome.reason.endswith("This server does not host this topic-partition")
    made = planned(limit, group_of({"t": 2}, {"a": ["t"], "b": ["t", "gone"]}))
    assert made.to_dict() == {"a": {"t": [0]}, "b": {"t": [1]}}


@needs_the_package
def test_partition_counts_are_those_of_this_group_and_not_of_the_last(limit, group_of):
    for count in (5, 2, 9):
        made = planned(limit, group_of({"t": count}, {"a": ["t"]}))
        assert made.to_dict() == {"a": {"t": list(range(count))}}


def test_without_node_the_reason_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setenv("KAFKA_ASSAY_CACHE", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    assert assignor_named(NAME).missing() == (
        f"no Node on the PATH: install Node 14 or later, then: assay fetch kafkajs@{VERSION}"
    )
    with pytest.raises(BadInput, match=r"^no npm on the PATH: install Node 14 or later$"):
        KAFKAJS.fetch(VERSION)


@needs_the_package
def test_without_the_package_the_reason_says_how_to_get_it(tmp_path, monkeypatch):
    monkeypatch.setenv("KAFKA_ASSAY_CACHE", str(tmp_path))
    assert assignor_named(NAME).missing() == f"not installed: assay fetch kafkajs@{VERSION}"
