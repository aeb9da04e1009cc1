"""Start a cluster with groups of every kind, and record a capture's requests and their answers.

``python -m tests.live.capture.record`` rewrites the recording that the tests play back.
"""

import json
import os
import signal
import subprocess
import time
from contextlib import ExitStack

from confluent_kafka import Consumer as Client
from confluent_kafka import TopicPartition
from confluent_kafka.admin import AdminClient
from kafka.errors import KafkaError

from broker import BROKER_RELEASE, Broker, Consumer, StreamsProcess, distribution, settle
from live.capture.cluster import Cluster
from live.capture.rounds import capture_matching
from live.connection import Connection
from tests.live.capture.by_hand import Members, assignment, subscription
from tests.live.capture.replayed import FILE, RECORDED

TOPICS = {"t0": 6, "t1": 3, "t2": 4, "t0x": 2}
SHARE_CONSUMER = "org.apache.kafka.tools.consumer.ConsoleShareConsumer"
CUT = b"\0\1\0\0\0\1\0\2t0\xff\xff\xff\xff"


class Recording(Cluster):
    """A cluster that keeps the bytes of each request and its answer."""

    def __init__(self, admin):
        super().__init__(admin)
        self.kept = []

    def _answers(self, questions):
        found = super()._answers(questions)
        for node, asked in questions.items():
            for question, answer in zip(asked, found[node], strict=True):
                assert not isinstance(answer, KafkaError), answer
                version = question.API_VERSION
                # encode() would set the request's version on this header, which has no such field.
                answer._header = None  # noqa: SLF001
                self.kept.append(
                    {
                        "node": node,
                        "question": type(question).__name__,
                        "answer": type(answer).__name__,
                        "version": version,
                        "asked": question.encode(version=version).hex(),
                        "said": answer.encode(version=version).hex(),
                    }
                )
        return found


def consumers(at):
    """Start the real consumers of the groups, one or two each."""

    def start(kind, group, topics, **options):
        name = options.pop("client_id", f"{group}-{len(topics)}")
        return Consumer.start(kind, at, group, topics, client_id=name, **options)

    rack = {"client.rack": "r1"}
    new, cooperative = "confluent-kip-848", {"assignor": "cooperative-sticky"}
    yield start("confluent", "classic", ["t0", "t1"], client_id="a", assignor="range")
    yield start(
        "confluent",
        "classic",
        ["t0"],
        client_id="b",
        assignor="range",
        instance_id="i-b",
        config=rack,
    )
    yield start("confluent", "coop", ["t0", "t1"], **cooperative)
    yield start("confluent", "coop", ["^t.*"], **cooperative)
    yield start(new, "kip", ["t0", "t1"], client_id="k1", config=rack)
    yield start(new, "kip", ["t0", "nothere"], client_id="k2", instance_id="i-k")
    yield start(new, "kipre", ["^t[0-9]"])
    yield start("kafka-python", "kpy", ["t0"], assignor="range")
    yield start(new, "mixed", ["t0", "t1"])
    yield start("confluent", "mixed", ["t0", "t2"], client_id="cl", assignor="range")


def lagging(at):
    """Start a consumer with commits within, before and beyond its partitions' logs."""
    one = Consumer.start(
        "confluent", at, "lagging", ["t0", "t1", "t2"], client_id="lg", commit=False
    )
    settle([one], {"t0": 6, "t1": 3, "t2": 4}, 0.0)
    one.commit({"t0": {0: 5}, "t1": {0: 3}, "t2": {0: 50}})
    admin = AdminClient({"bootstrap.servers": at})
    for done in admin.delete_records([TopicPartition("t1", 0, 6)]).values():
        done.result(10)
    return one


def by_hand(members):
    """Join groups with other clients' metadata and with malformed metadata."""
    good = subscription(["t0"])
    members.join_with("badmeta", CUT, assignment({"t0": [2]}))
    members.join_with("badass", good, assignment({"t0": [2]})[:-8])
    members.join_with("negass", good, assignment({"t0": [-2]}))
    members.join_with("conn", b"\0\1", b"\0\1", protocol_type="connect", protocol="sessioned")
    members.join_with("reg", b'{"a":1}', b"{}", protocol_type="sr", protocol="v0")
    members.join_with("strm", good, assignment({}), protocol="stream")
    members.join_with("odd name 'q' \u2603", subscription(["a b", ""]), b"")
    members.join("rebalancing", ["t0"], {"t0": [0]})
    members.wait_to_join("rebalancing", ["t0"])


def main():
    with Broker.start(properties={"broker.rack": "r1"}) as broker, ExitStack() as running:
        at = broker.bootstrap
        for topic, partitions in TOPICS.items():
            broker.create_topic(topic, partitions)
        broker.produce("t0", {0: 17, 1: 17, 2: 17, 3: 17, 4: 16, 5: 16})
        broker.produce("t1", {0: 10})
        broker.create_topic("orders", 6)
        broker.tool(
            *("configs", "--alter", "--entity-type", "groups", "--entity-name", "shop"),
            *("--add-config", "streams.num.standby.replicas=1"),
        )
        for _ in range(2):
            running.enter_context(StreamsProcess(at, "shop", threads=1))
        simple = Client({"bootstrap.servers": at, "group.id": "simple"})
        java, classes = distribution.java(BROKER_RELEASE)
        sharing = subprocess.Popen(
            [java, "-Xmx128m", SHARE_CONSUMER, "--bootstrap-server", at, "--topic", "t0",
             "--group", "sharing"],
            env=os.environ | {"CLASSPATH": classes},
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        running.callback(sharing.wait)
        running.callback(sharing.kill)
        members = running.enter_context(Members(at))
        simple.commit(offsets=[TopicPartition("t0", 0, 5)], asynchronous=False)
        for one in consumers(at):
            running.enter_context(one)
        running.enter_context(lagging(at))
        with Consumer.start("confluent", at, "left", ["t0"]) as gone:
            settle([gone], {"t0": 6}, 0.0)
            gone.stop()
        slow = running.enter_context(
            Consumer.start("confluent-kip-848", at, "shifting", ["t0"], client_id="slow")
        )
        settle([slow], {"t0": 6}, 6.0)
        os.kill(slow.pid, signal.SIGSTOP)
        by_hand(members)
        running.enter_context(
            Consumer.start("confluent-kip-848", at, "shifting", ["t0"], client_id="new")
        )
        simple.close()
        time.sleep(2.0)
        with Connection(at).admin() as admin:
            cluster = Recording(admin)
            found = capture_matching(cluster, at, ["*"], lag=True, deadline=time.monotonic())
    exchanges = ",\n".join(map(json.dumps, cluster.kept))
    documents = ",\n".join(json.dumps(one.document) for one in found.documents)
    FILE.unlink()
    path = RECORDED / f"kafka-{BROKER_RELEASE}.json"
    path.write_text(f'{{"exchanges": [\n{exchanges}\n],\n"documents": [\n{documents}\n]}}\n')
    for failure in found.failures:
        print(failure.group, failure.reason)  # noqa: T201


if __name__ == "__main__":
    main()
