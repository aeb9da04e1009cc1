"""A broker with groups of every kind, and a capture and console output of the same moment."""

import json
import time
from contextlib import ExitStack
from dataclasses import dataclass

from broker import Consumer, NotSettled, settle
from broker.distribution import release_of
from groups.importers import import_each
from live.capture import capture
from live.connection import Connection

TOPICS = {"orders": 4, "refunds": 3, "payments": 3, "narrow": 1}
RECORDS = {
    "orders": {0: 100, 1: 20, 2: 30, 3: 0},
    "refunds": {0: 7},
    "payments": {0: 5, 1: 5, 2: 5},
}
COMMITTED = {"orders": {0: 60, 1: 20, 2: 0}, "refunds": {0: 7, 1: 0, 2: 0}, "payments": {0: 1}}
BOTH = ("refunds", "payments")
# The consumers of each group: kind, topics, and other arguments of `Consumer.start`.
GROUPS = {
    "uneven": [("kafka-python", BOTH, {"assignor": "range"})] * 2,
    "static": [
        ("confluent", ["orders"], {"assignor": "cooperative-sticky", "instance_id": f"i-{n}"})
        for n in range(2)
    ],
    "async": [("aiokafka", ["orders"], {"assignor": "sticky"})] * 2,
    "java": [("java", ["orders"], {"assignor": "cooperative-sticky"})] * 2,
    "idle": [("confluent", ["narrow"], {})] * 2,
    "differing": [
        ("kafka-python", topics, {"assignor": "sticky"})
        for topics in (["narrow"], ["narrow", "orders"])
    ],
    "next": [("confluent-kip-848", ["orders", "refunds"], {})] * 2,
    "mixed": [
        ("confluent", ["orders"], {"assignor": "range"}),
        ("confluent-kip-848", ["orders"], {}),
    ],
}
NEW = ("next", "mixed")
VIEWS = {
    "describe": ("consumer-groups", "--describe"),
    "members": ("consumer-groups", "--describe", "--members"),
    "verbose": ("consumer-groups", "--describe", "--members", "--verbose"),
    "state": ("consumer-groups", "--describe", "--state"),
    "offsets": ("consumer-groups", "--describe", "--offsets", "--verbose"),
    "topics": ("topics", "--describe"),
}
# The views that together tell everything; in 3.8 and 3.9 the verbose one leaves topics out.
TELLING = ("describe", "verbose", "state", "topics")
OLDER = ("describe", "members", "state", "topics")
CONSUMER_GROUPS = (4, 0)
ATTEMPTS = 3


@dataclass(frozen=True)
class Moment:
    version: str
    bootstrap: str
    held: dict
    captured: dict
    failures: tuple
    views: dict

    def imported(self, names):
        """Return the documents, by group, that are imported from some views together."""
        texts = [(name, self.views[name].encode()) for name in names]
        imported, failures = import_each(texts)
        assert failures == []
        return {one.document["group"]: one.document for one in imported}


def with_consumer_groups(broker):
    return release_of(broker.version) >= CONSUMER_GROUPS


def started(broker, running: ExitStack, name, *, in_turn=False):
    """Start all consumers of a group at once, or each after the one before has joined."""
    consumers = []
    for number, (kind, topics, more) in enumerate(GROUPS[name]):
        client_id = f"{name}-{number}"
        start = Consumer.start(
            kind, broker.bootstrap, name, topics, client_id=client_id, commit=False, **more
        )
        consumers.append(running.enter_context(start))
        if name == "mixed" or in_turn:
            # The member of the classic protocol must join first.
            wait_until_joined(consumers[-1])
    return consumers


def wait_until_joined(consumer, seconds=30):
    end = time.monotonic() + seconds
    while not consumer.joined() and time.monotonic() < end:
        time.sleep(0.05)
    assert consumer.joined()


def read_of(name):
    return {topic: TOPICS[topic] for _, topics, _ in GROUPS[name] for topic in topics}


def moment(broker, running: ExitStack) -> Moment:
    for topic, partitions in TOPICS.items():
        broker.create_topic(topic, partitions)
        broker.produce(topic, RECORDS.get(topic, {}))
    names = [name for name in GROUPS if name not in NEW or with_consumer_groups(broker)]
    groups = {name: started(broker, running, name) for name in names}
    for name, consumers in groups.items():
        try:
            settle(consumers, read_of(name), 0.5, timeout=60)
        except NotSettled:
            # Of two members of kafka-python that join at once, one may miss a rebalance for good.
            for consumer in consumers:
                consumer.kill()
            groups[name] = started(broker, running, name, in_turn=True)
    for _ in range(ATTEMPTS):
        found = at_once(broker, groups)
        now = {name: [each.assigned() for each in members] for name, members in groups.items()}
        # A client that learned late of a topic, or that had to wait too long, may rebalance again.
        if now == found.held:
            assert found.failures == ()
            assert [view for view in found.views.values() if "Error" in view] == []
            return found
    raise AssertionError(f"the groups went on changing: {found.held}, then {now}")


def at_once(broker, groups) -> Moment:
    held = {name: settle(groups[name], read_of(name), 0.5) for name in groups}
    for name, consumers in groups.items():
        for consumer, has in zip(consumers, held[name], strict=True):
            offsets = {
                topic: {n: at for n, at in COMMITTED[topic].items() if n in has[topic]}
                for topic in has.keys() & COMMITTED.keys()
            }
            if any(offsets.values()):
                consumer.commit(offsets)
    asked = [word for name in groups for word in ("--group", name)]
    views = {}
    for view in {*TELLING, "offsets"} if with_consumer_groups(broker) else {*OLDER, "verbose"}:
        tool, *arguments = VIEWS[view]
        run = broker.tool(tool, *arguments, *(asked if tool == "consumer-groups" else ()))
        views[view] = run.stdout
    captured = capture(Connection(broker.bootstrap), [*groups])
    documents = {one.document["group"]: one.document for one in captured.documents}
    return Moment(broker.version, broker.bootstrap, held, documents, captured.failures, views)


def written(documents, file):
    file.write_text("".join(f"{json.dumps(each)}\n" for each in documents))
    return file
