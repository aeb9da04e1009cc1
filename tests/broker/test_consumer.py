import os
import subprocess
import sys
import time
from contextlib import ExitStack

import pytest

from broker import Consumer, ConsumerDied, NotSettled, settle
from broker.clients import CLIENTS
from groups import BadInput
from tests.processes import gone

STILL = 1.0
TOPICS = {"eaten": 4}
LONE = {"eaten-by-one": 1}


@pytest.fixture(scope="module")
def bootstrap(broker):
    for topic, partitions in {**TOPICS, **LONE}.items():
        broker.create_topic(topic, partitions)
    return broker.bootstrap


@pytest.mark.broker
@pytest.mark.parametrize("kind", CLIENTS)
def test_two_share_a_topic_until_one_leaves_and_what_the_other_commits_the_broker_has(
    broker, bootstrap, kind
):
    group = f"pair-{kind}"
    with ExitStack() as running:
        both = [
            running.enter_context(
                Consumer.start(kind, bootstrap, group, [*TOPICS], client_id=client, commit=False)
            )
            for client in ("c0", "c1")
        ]
        assert [len(each["eaten"]) for each in settle(both, TOPICS, STILL)] == [2, 2]
        both[1].stop()
        assert settle(both[:1], TOPICS, STILL) == [{"eaten": [0, 1, 2, 3]}]
        both[0].commit({"eaten": {0: 7, 3: 0}})
        said = broker.tool("consumer-groups", "--describe", "--offsets", "--group", group).stdout
    rows = [line.split()[1:4] for line in said.splitlines() if line.startswith(group)]
    assert sorted(rows) == [
        ["eaten", "0", "7"],
        ["eaten", "1", "-"],
        ["eaten", "2", "-"],
        ["eaten", "3", "0"],
    ]


@pytest.mark.broker
@pytest.mark.parametrize("kind", CLIENTS)
def test_consumers_settle_when_one_that_gets_nothing_is_a_member_too(broker, bootstrap, kind):
    group = f"narrow-{kind}"
    with ExitStack() as running:
        both = [
            running.enter_context(Consumer.start(kind, bootstrap, group, [*LONE]))
            for _ in range(2)
        ]
        held = settle(both, LONE, 0.0)
        said = broker.tool("consumer-groups", "--describe", "--members", "--group", group).stdout
    assert sorted(held, key=len) == [{}, {"eaten-by-one": [0]}]
    assert len([line for line in said.splitlines() if line.startswith(group)]) == 2


@pytest.mark.broker
@pytest.mark.parametrize("kind", CLIENTS)
def test_a_consumer_tells_each_record_once_with_the_time_it_waited(broker, kind):
    topic = f"told-by-{kind}"
    broker.create_topic(topic, 2)
    broker.produce(topic, {0: 3, 1: 2})
    written = time.monotonic()
    with Consumer.start(kind, broker.bootstrap, f"told-{kind}", [topic]) as one:
        reads = []
        end = written + 30
        while sum(r.last + 1 - r.first for r in reads) < 5 and time.monotonic() < end:
            reads += one.progress().reads
            time.sleep(0.05)
        assert one.progress().reads == ()
        assert one.progress().polls >= 1
    told = sorted((r.partition, n) for r in reads for n in range(r.first, r.last + 1))
    assert told == [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1)]
    assert {r.topic for r in reads} == {topic}
    assert all(0 <= r.waited_seconds - (r.at - written) < 5 for r in reads)


@pytest.mark.broker
def test_a_release_is_refused_where_its_jars_are_not_here_or_the_client_is_the_installed_one():
    with pytest.raises(BadInput, match=r"kafka-clients 0\.1 are not here.*: assay fetch "):
        Consumer.start("java", "127.0.0.1:1", "g", ["t"], release="0.1")
    with pytest.raises(BadInput, match=r"^aiokafka: release: '0\.1', but it runs in the one inst"):
        Consumer.start("aiokafka", "127.0.0.1:1", "g", ["t"], release="0.1")


def test_a_kind_of_consumer_that_there_is_not_is_refused_with_those_that_there_are():
    with pytest.raises(BadInput, match=r"^sarama: not a kind of consumer; there are confluent, "):
        Consumer.start("sarama", "127.0.0.1:1", "g", ["t"])


@pytest.mark.broker
def test_a_consumer_that_is_killed_is_missed_only_when_its_session_has_run_out(bootstrap):
    session = {"session.timeout.ms": 2000}
    with ExitStack() as running:
        both = [
            running.enter_context(
                Consumer.start("confluent", bootstrap, "killed", [*TOPICS], config=session)
            )
            for _ in range(2)
        ]
        settle(both, TOPICS, STILL)
        both[1].kill()
        with pytest.raises(ConsumerDied, match="the consumer confluent: it ended"):
            both[1].assigned()
        with pytest.raises(NotSettled, match=r"^not settled after 0\.3 s: \{"):
            settle(both[:1], TOPICS, STILL, timeout=0.3)
        assert settle(both[:1], TOPICS, STILL) == [{"eaten": [0, 1, 2, 3]}]


@pytest.mark.broker
def test_a_consumer_that_cannot_start_says_so_with_the_end_of_its_log(bootstrap):
    with Consumer.start("kafka-python", bootstrap, "no", [*TOPICS], config={"no_such": 1}) as one:
        with pytest.raises(ConsumerDied, match=r": it .*; the end of its log") as died:
            settle([one], TOPICS)
        assert "no_such" in str(died.value)


def test_a_consumer_that_says_it_stops_and_does_not_is_killed(tmp_path, monkeypatch):
    monkeypatch.setattr("broker.consumer.ANSWER_SECONDS", 1.0)
    stays = tmp_path / "stays"
    stays.write_text(
        '#!/bin/sh\nread asked\necho \'{"answer": null, "asked": 1}\'\nexec sleep 60\n'
    )
    stays.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(stays))
    consumer = Consumer("slow", {})
    with pytest.raises(ConsumerDied, match=r"^the consumer slow: it has not ended after 1 s"):
        consumer.stop()
    gone(consumer.pid)


STARTS_ONE = """
import sys, time
from broker import Consumer
print(Consumer.start("confluent", sys.argv[1], "orphan", ["eaten"]).pid, flush=True)
time.sleep(60)
"""


@pytest.mark.broker
def test_a_consumer_ends_with_the_process_that_started_it_however_that_ends(bootstrap):
    command = [sys.executable, "-c", STARTS_ONE, bootstrap]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as parent:
        pid = int(parent.stdout.readline())
        os.kill(pid, 0)
        parent.kill()
    gone(pid)


@pytest.mark.broker
def test_a_consumer_ends_when_its_time_is_over(bootstrap):
    with Consumer.start("confluent", bootstrap, "brief", [*TOPICS], seconds=0.5) as one:
        gone(one.pid)
        with pytest.raises(ConsumerDied, match="it ended"):
            one.assigned()
