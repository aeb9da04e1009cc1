"""The optimum as an assignor of brokers: groups of real consumers, captured after each change."""

from __future__ import annotations

from contextlib import ExitStack

import pytest

from broker import BROKER_RELEASE, Broker, BrokerDied, Consumer, ConsumerDied, settle
from groups import Assignment, BadInput, Group
from groups.tiers import values
from heuristics.shipped.java.jars import OWN, compile_java, noted
from live.capture import capture
from live.connection import Connection
from optimal import solve

pytestmark = pytest.mark.broker

STILL = 0.5
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


class Members:
    """Consumers of one group, and the partitions that they held in the last capture."""

    def __init__(
        self, running: ExitStack, brokers, group, topics, objective="balance > stickiness"
    ):
        self._running, self._group, self._topics = running, group, topics
        self._bootstraps = [broker.bootstrap for broker in brokers]
        self._objective = objective
        self._alive, self._reads, self._held = {}, {}, {}

    def start(self, client_id, kind, topics, **more):
        at = ",".join(self._bootstraps)
        made = Consumer.start(kind, at, self._group, topics, client_id=client_id, **more)
        self._alive[client_id] = self._running.enter_context(made)
        self._reads[client_id] = topics

    def stop(self, client_id):
        self._alive.pop(client_id).stop()

    def settled(self):
        """Wait; return the assignors, the change's values, and the least possible values."""
        read = {topic for member in self._alive for topic in self._reads[member]}
        settle(
            [*self._alive.values()],
            {topic: count for topic, count in self._topics.items() if topic in read},
            STILL,
        )
        (captured,) = capture(Connection(self._bootstraps[0]), [self._group]).documents
        said = {told["client_id"]: told for told in captured.document["members"].values()}
        before = {
            member: {"subscription": told["subscription"], "owned": self._held.get(member, {})}
            | ({"rack": told["rack"]} if "rack" in told else {})
            for member, told in said.items()
        }
        group = Group.from_dict({**captured.document, "members": before})
        self._held = {member: told["owned"] for member, told in said.items()}
        assignment = Assignment.from_dict(group, self._held)
        assignment.require_valid()
        best = solve(group, self._objective)
        assignors = {name for told in said.values() for name in told["assignors"]}
        return (
            assignors,
            [*values(assignment, best.objective)],
            [term.value for term in best.terms],
        )


def is_best(members, name="optimal"):
    assignors, found, best = members.settled()
    return (assignors, found) == ({name}, best)


def test_joins_leaves_and_restarts_of_members_that_differ_end_at_the_optimum(brokers):
    """The assignor is the broker's first for one, and asked for by name of the other."""
    with ExitStack() as running:
        members = Members(running, brokers, "changing", TOPICS)
        members.start("c0", JAVA, [*TOPICS])
        assert is_best(members)
        members.start("c1", LIBRDKAFKA, ["even", "odd"], assignor="optimal", instance_id="i1")
        assert is_best(members)
        members.start("c2", JAVA, ["odd", "few", "not-there"], assignor="optimal")
        assert is_best(members)
        members.start("c3", LIBRDKAFKA, ["even"])
        assert is_best(members)
        members.stop("c3")
        assert is_best(members)
        members.stop("c0")
        assert is_best(members)
        members.start("c0", JAVA, [*TOPICS], assignor="optimal")
        assert is_best(members)
        # A returning static member gets its partitions back.
        members.stop("c1")
        members.start("c1", LIBRDKAFKA, ["even", "odd"], assignor="optimal", instance_id="i1")
        assert is_best(members)


def test_members_that_change_to_it_one_by_one_leave_the_assignment_that_uniform_cannot(brokers):
    """The group of ``kafka-broker-uniform-optimal-balance``: no single move makes it better."""
    topics = {"t0": 1, "t1": 2}
    for topic, partitions in topics.items():
        brokers[0].create_topic(topic, partitions, nodes=[[1]] * partitions)
    reads = {"m2": ["t1"], "m0": ["t0", "t1"], "m1": ["t0"]}
    with ExitStack() as running:
        members = Members(running, brokers, "from-uniform", topics)
        for name, topics_read in reads.items():
            members.start(name, LIBRDKAFKA, topics_read, assignor="uniform")
            assignors, found, best = members.settled()
        assert (assignors, found[0], best[0]) == ({"uniform"}, 4, 0)
        for name, topics_read in reads.items():
            members.stop(name)
            members.start(name, LIBRDKAFKA, topics_read, assignor="optimal")
            assignors, found, best = members.settled()
        assert (assignors, found[0]) == ({"optimal"}, 0)


def test_with_racks_the_fewest_partitions_are_read_from_afar(brokers):
    brokers[0].create_topic("racked", 8, nodes=[[1], [1], [1], [2], [2], [1], [2], [2]])
    with ExitStack() as running:
        members = Members(running, brokers, "racked", {"racked": 8}, "kip-881")
        for name, kind, rack in (("c0", JAVA, "a"), ("c1", LIBRDKAFKA, "b"), ("c2", JAVA, "b")):
            config = {"client.rack": rack}
            members.start(name, kind, ["racked"], assignor="optimal-racks", config=config)
            assert is_best(members, "optimal-racks")


def test_a_coordinator_that_takes_over_knows_what_members_held(brokers):
    first, second = brokers
    with ExitStack() as running:
        members = Members(running, brokers, "moved", TOPICS)
        for name, kind in (("c0", JAVA), ("c1", LIBRDKAFKA)):
            members.start(name, kind, [*TOPICS], assignor="optimal")
            assert is_best(members)
        second.crash()
        members.start("c2", JAVA, [*TOPICS])
        assert is_best(members)
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
