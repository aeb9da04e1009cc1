"""The optimum as an assignor of brokers: groups of real consumers, captured after each change."""

from __future__ import annotations

from contextlib import ExitStack

import pytest

from broker import BROKER_RELEASE, Broker, BrokerDied, Consumer, ConsumerDied, settle
from groups import BadInput
from heuristics.shipped.java.jars import OWN, compile_java, noted
from tests.broker.members import Members

pytestmark = pytest.mark.broker

JAVA, LIBRDKAFKA = "java-kip-848", "confluent-kip-848"
ASSIGNORS = [
    *(
        f"assay.broker.{name}"
        for name in ("OptimalPartitionAssignor", "OptimalRackPartitionAssignor")
    ),
    *("uniform", "range"),
]
PROPERTIES = {
    "group.consumer.assignors": ",".join(ASSIGNORS),
    "broker.heartbeat.interval.ms": "500",
    "broker.session.timeout.ms": "3000",
    # On a busy machine, a static member may take longer to restart than the session of 6 s.
    "group.consumer.session.timeout.ms": "30000",
}
TOPICS = {"even": 6, "odd": 5, "few": 1}


@pytest.fixture(scope="module")
def brokers(tmp_path_factory):
    """Two brokers in two racks: the second coordinates the groups, and the first can take over."""
    classes = tmp_path_factory.mktemp("assignors")
    sources = [path for room in ("optimal", "broker") for path in (OWN / room).glob("*.java")]
    with ExitStack() as running:
        started = []
        try:
            assert compile_java(sources, noted("kafka_2.13", BROKER_RELEASE), classes) is None
            for rack in ("a", "b"):
                broker = Broker.start(
                    properties=PROPERTIES | {"broker.rack": rack},
                    classes=[classes],
                    beside=started[-1] if started else None,
                )
                started.append(running.enter_context(broker))
        except BadInput as reason:
            pytest.skip(str(reason))
        started[0].create_topic("__consumer_offsets", 1, {"cleanup.policy": "compact"}, [[2, 1]])
        for topic, partitions in TOPICS.items():
            started[0].create_topic(topic, partitions, nodes=[[1]] * partitions)
        yield started


def at(brokers) -> str:
    return ",".join(broker.bootstrap for broker in brokers)


def require_best(members, name="optimal", objective="balance > stickiness"):
    assignors, found, best = members.captured(objective)
    assert (assignors, found) == ({name}, best)


def test_joins_leaves_and_restarts_of_members_that_differ_end_at_the_optimum(brokers):
    """The assignor is the broker's first for one, and asked for by name of the other."""
    with ExitStack() as running:
        members = Members(running, at(brokers), "changing", TOPICS)
        members.start("c0", JAVA, [*TOPICS])
        require_best(members)
        members.start("c1", LIBRDKAFKA, ["even", "odd"], assignor="optimal", instance_id="i1")
        require_best(members)
        members.start("c2", JAVA, ["odd", "few", "not-there"], assignor="optimal")
        require_best(members)
        members.start("c3", LIBRDKAFKA, ["even"])
        require_best(members)
        members.stop("c3")
        require_best(members)
        members.stop("c0")
        require_best(members)
        members.start("c0", JAVA, [*TOPICS], assignor="optimal")
        require_best(members)
        # A returning static member gets its partitions back.
        members.stop("c1")
        members.start("c1", LIBRDKAFKA, ["even", "odd"], assignor="optimal", instance_id="i1")
        require_best(members)


def test_members_that_change_to_it_one_by_one_leave_the_assignment_that_uniform_cannot(brokers):
    """The group of ``kafka-broker-uniform-optimal-balance``: no single move makes it better."""
    topics = {"t0": 1, "t1": 2}
    for topic, partitions in topics.items():
        brokers[0].create_topic(topic, partitions, nodes=[[1]] * partitions)
    reads = {"m2": ["t1"], "m0": ["t0", "t1"], "m1": ["t0"]}
    with ExitStack() as running:
        members = Members(running, at(brokers), "from-uniform", topics)
        for name, topics_read in reads.items():
            members.start(name, LIBRDKAFKA, topics_read, assignor="uniform")
            assignors, found, best = members.captured()
        assert (assignors, found[0], best[0]) == ({"uniform"}, 4, 0)
        for name, topics_read in reads.items():
            members.stop(name)
            members.start(name, LIBRDKAFKA, topics_read, assignor="optimal")
            assignors, found, best = members.captured()
        assert (assignors, found[0]) == ({"optimal"}, 0)


def test_with_racks_the_fewest_partitions_are_read_from_afar(brokers):
    brokers[0].create_topic("racked", 8, nodes=[[1], [1], [1], [2], [2], [1], [2], [2]])
    with ExitStack() as running:
        members = Members(running, at(brokers), "racked", {"racked": 8})
        for name, kind, rack in (("c0", JAVA, "a"), ("c1", LIBRDKAFKA, "b"), ("c2", JAVA, "b")):
            config = {"client.rack": rack}
            members.start(name, kind, ["racked"], assignor="optimal-racks", config=config)
            require_best(members, "optimal-racks", "kip-881")


def test_a_coordinator_that_takes_over_knows_what_members_held(brokers):
    first, second = brokers
    with ExitStack() as running:
        members = Members(running, at(brokers), "moved", TOPICS)
        for name, kind in (("c0", JAVA), ("c1", LIBRDKAFKA)):
            members.start(name, kind, [*TOPICS], assignor="optimal")
            require_best(members)
        second.crash()
        members.start("c2", JAVA, [*TOPICS])
        require_best(members)
    assert "optimal: 12 partitions for 3 members, 4 moved: no assignment is better" in first.log()
    second.restart()


def test_a_broker_without_the_jar_does_not_start_with_its_name():
    said = "Class assay.broker.OptimalPartitionAssignor cannot be found"
    with pytest.raises(BrokerDied, match=said):
        Broker.start(properties=PROPERTIES)


def test_a_broker_that_does_not_have_it_refuses_members_that_ask_for_it(broker):
    broker.create_topic("asked", 1)
    with (
        Consumer.start(JAVA, broker.bootstrap, "asks", ["asked"], assignor="optimal") as one,
        pytest.raises(ConsumerDied, match="ServerAssignor optimal is not supported"),
    ):
        settle([one], {"asked": 1})
