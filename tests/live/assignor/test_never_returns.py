"""What a join on which the leader's assignor never returns does to a group, on a real broker."""

from contextlib import ExitStack

import pytest

from broker import ConsumerDied, settle
from tests.broker.members import Members
from tests.processes import LONG, until

pytestmark = pytest.mark.broker
TOPICS = {"hang-few": 5, "hang-many": 10}
# In this order the first four come to hold what makes the last one's join an endless loop.
READS = {
    "m0": ["hang-few"],
    "m3": ["hang-many"],
    "m1": ["hang-few"],
    "m4": ["hang-many"],
    "m2": ["hang-few", "hang-many"],
}
BRIEF = {"session.timeout.ms": 6000, "heartbeat.interval.ms": 1000}
HANGS_SECONDS = 5.0


def test_the_leader_never_polls_again_and_the_group_goes_on_without_it(broker, monkeypatch):
    for topic, partitions in TOPICS.items():
        broker.create_topic(topic, partitions)
    with ExitStack() as running:
        alike = {"assignor": "sticky", "config": BRIEF, "seconds": 90}
        group = Members(running, broker.bootstrap, "never-returns", TOPICS, **alike)
        for member, topics in READS.items():
            group.start(member, "java", topics)
            if member != "m2":
                group.settled()
        members = group.alive
        leader = members.pop("m0")
        until(lambda: leader.progress().poll_seconds >= HANGS_SECONDS)
        hung = leader.progress()
        assert all(one.progress().poll_seconds < HANGS_SECONDS for one in members.values())
        held = settle([*members.values()], TOPICS, 0.5, timeout=LONG)
        assert sorted(sum(map(len, one.values())) for one in held) == [3, 4, 4, 4]
        later = leader.progress()
        assert later.polls == hung.polls
        assert later.cpu_seconds > hung.cpu_seconds
        said = broker.tool("consumer-groups", "--describe", "--state", "--group", "never-returns")
        assert said.stdout.split()[-2:] == ["Stable", "4"]
        monkeypatch.setattr("broker.consumer.ANSWER_SECONDS", 2.0)
        with pytest.raises(ConsumerDied, match="it does not answer"):
            leader.stop()
