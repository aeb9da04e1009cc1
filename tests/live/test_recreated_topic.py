"""What Kafka's own consumers make of a topic that is recreated with fewer partitions."""

import os
import signal
import time
from contextlib import ExitStack, contextmanager

import pytest

from broker.broker import client
from tests.broker.members import Members
from tests.processes import until

pytestmark = pytest.mark.broker
READS = {"a": ["orders"], "b": ["orders"], "c": ["orders", "retry"], "d": ["orders", "retry"]}
TOPICS = {"orders": 12, "retry": 4}
SAME_SECONDS = 2.0


@pytest.mark.parametrize("assignor", ["sticky", "cooperative-sticky"])
def test_partitions_of_the_other_topic_go_to_two_members_and_stay_there(broker, assignor):
    named = {topic: f"{topic}-{assignor}" for topic in TOPICS}
    topics = {named[topic]: count for topic, count in TOPICS.items()}
    for topic, count in topics.items():
        broker.create_topic(topic, count)
    with ExitStack() as running:
        # With auto-commit a member tries for five minutes to commit for the topic.
        alike = {"assignor": assignor, "commit": False, "seconds": 120}
        group = Members(running, broker.bootstrap, f"recreated-{assignor}", topics, **alike)
        for member, reads in READS.items():
            group.start(member, "java", [named[topic] for topic in reads])
        group.settled()
        members = group.alive.values()
        with halted(members):
            recreate(broker, named["retry"], 2)
        twice = given_twice(members, named["orders"])
        # Members learn of the topic one after the other, so more may be held twice.
        time.sleep(SAME_SECONDS)
        assert given_twice(members, named["orders"]) >= twice


@contextmanager
def halted(members):
    """Halt the members' processes, as members that see the topic missing give up their claims."""
    for one in members:
        os.kill(one.pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for one in members:
            os.kill(one.pid, signal.SIGCONT)


def recreate(broker, topic: str, partitions: int) -> None:
    """Delete a topic, and create it again."""
    from confluent_kafka.admin import AdminClient, NewTopic

    admin = AdminClient(client(broker.inside))
    admin.delete_topics([topic])[topic].result()

    def created():
        return admin.create_topics([NewTopic(topic, partitions)])[topic].exception() is None

    # It takes a moment until the name is free.
    until(created)


def given_twice(members, topic: str) -> set[int]:
    """Wait until all partitions of a topic have readers; return those that two members hold."""

    def twice():
        held = [number for one in members for number in one.assigned().get(topic, ())]
        return len({*held}) == TOPICS["orders"] and {n for n in held if held.count(n) > 1}

    return until(twice)
