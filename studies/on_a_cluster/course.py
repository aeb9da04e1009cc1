"""Course: the consumers of an experiment, their order of start, and their settings."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Reads = Mapping[str, tuple[str, ...]]

# Defaults of clients and broker, which the test consumers and brokers otherwise shorten.
JAVA_DEFAULTS = {
    "session.timeout.ms": 45000,
    "heartbeat.interval.ms": 3000,
    "auto.commit.interval.ms": 5000,
    "metadata.max.age.ms": 300000,
}
PYTHON_DEFAULTS = {key.replace(".", "_"): value for key, value in JAVA_DEFAULTS.items()}
# Its default session is shorter.
AIOKAFKA_DEFAULTS = PYTHON_DEFAULTS | {"session_timeout_ms": 10000}
KIP_848_DEFAULTS = {"auto.commit.interval.ms": 5000, "metadata.max.age.ms": 300000}
LIBRDKAFKA_DEFAULTS = {
    "topic.metadata.refresh.interval.ms" if key == "metadata.max.age.ms" else key: value
    for key, value in JAVA_DEFAULTS.items()
}
BROKER_DEFAULTS = {
    "group.initial.rebalance.delay.ms": "3000",
    "group.consumer.session.timeout.ms": "45000",
    "group.consumer.heartbeat.interval.ms": "5000",
}
# The group of the finding kafka-java-sticky-terminates: started in this order, the first four get
# an assignment with which the join of the last is an endless loop.
TOPICS = {"t0": 5, "t1": 10}
READS = {"m0": ("t0",), "m3": ("t1",), "m1": ("t0",), "m4": ("t1",), "m2": ("t0", "t1")}
# A larger one, whose first member alone reads a topic.
LARGER_TOPICS = {"t0": 11, "t1": 7, "t2": 7, "t3": 9}
LARGER_READS = {
    "m0": ("t0", "t2"),
    "m1": ("t3",),
    "m2": ("t3",),
    "m3": ("t0",),
    "m4": ("t0", "t1"),
    "m5": ("t0", "t3"),
}
# Racks of each partition's replicas, for a group on which cooperative-sticky never settles.
PLACED: dict[str, list[tuple[str, ...]]] = {
    "t1": [("r0", "r1")],
    "t3": [("r1",), ("r0",), ("r1",)],
    "t4": [("r1",), ("r2",)],
    "t5": [("r1",), ("r0",), ("r0",)],
}
OTHERS = {"b0": ("u",), "b1": ("u",)}


@dataclass(frozen=True)
class Course:
    """Members that join one after the other; the effect of the last join is measured.

    Attributes
    ----------
    name : name of the course
    told : description in a line
    kind : kind of all consumers, as in `broker.Consumer.start`
    assignor : the client's name of it
    config : settings of the clients
    topics : number of partitions of each topic
    reads : topics of each member, in the order in which members join
    racks : the rack of each broker; empty: one broker without a rack
    placed : by topic, the racks of each partition's replicas
    rack_of : racks of members
    static : whether each member has a ``group.instance.id``
    restart_seconds : time after which a consumer whose poll does not return is killed and started
        again; None: never
    quiet_seconds : how long the group must be stable until the course ends
    limit_seconds : time after which the course ends in any case
    says_who_holds : whether to print what a member holds whenever that changes
    """

    name: str
    told: str
    kind: str
    assignor: str
    config: Mapping[str, object]
    topics: Mapping[str, int] = field(default_factory=lambda: TOPICS)
    reads: Reads = field(default_factory=lambda: READS)
    racks: tuple[str, ...] = ()
    placed: Mapping[str, Sequence[tuple[str, ...]]] = field(default_factory=dict)
    rack_of: Mapping[str, str] = field(default_factory=dict)
    static: bool = False
    restart_seconds: float | None = None
    quiet_seconds: float = 15.0
    limit_seconds: float = 300.0
    says_who_holds: bool = False


def _java(name: str, told: str, assignor: str, **more: object) -> Course:
    return Course(name, told, "java", assignor, JAVA_DEFAULTS, **more)  # type: ignore[arg-type]


COURSES = (
    _java("sticky", "Kafka's sticky", "sticky"),
    _java("cooperative-sticky", "Kafka's cooperative-sticky", "cooperative-sticky"),
    _java(
        "watched on",
        "sticky, watched for longer than max.poll.interval.ms, which is 300 s",
        "sticky",
        quiet_seconds=310.0,
        limit_seconds=480.0,
    ),
    _java(
        "several leaders",
        "sticky, with two members before the others that read a topic of their own",
        "sticky",
        topics=TOPICS | {"u": 2},
        reads=OTHERS | READS,
    ),
    _java(
        "only reader",
        "sticky on six members, of whom the leader alone reads the topic t2",
        "sticky",
        topics=LARGER_TOPICS,
        reads=LARGER_READS,
    ),
    _java(
        "restarted",
        "the same six; a consumer that hangs is killed after 15 s and started again",
        "sticky",
        topics=LARGER_TOPICS,
        reads=LARGER_READS,
        restart_seconds=15.0,
    ),
    _java(
        "restarted static",
        "the six, static; a consumer that hangs is killed after 15 s and started again",
        "sticky",
        topics=LARGER_TOPICS,
        reads=LARGER_READS,
        static=True,
        restart_seconds=15.0,
        limit_seconds=120.0,
    ),
    _java(
        "never settles",
        "cooperative-sticky with racks on three members and nine partitions",
        "cooperative-sticky",
        topics={topic: len(racks) for topic, racks in PLACED.items()},
        reads={"m0": ("t1", "t3"), "m2": ("t1", "t3", "t5"), "m3": ("t1", "t3", "t4", "t5")},
        racks=("r0", "r1", "r2"),
        placed=PLACED,
        rack_of={"m0": "r2", "m2": "r0", "m3": "r1"},
        limit_seconds=120.0,
        says_who_holds=True,
    ),
    Course("aiokafka", "aiokafka's sticky", "aiokafka", "sticky", AIOKAFKA_DEFAULTS),
    Course(
        "librdkafka",
        "librdkafka's cooperative-sticky on three members and ten partitions",
        "confluent",
        "cooperative-sticky",
        LIBRDKAFKA_DEFAULTS,
        topics={"t0": 3, "t3": 4, "t4": 1, "t5": 2},
        reads={"m2": ("t3", "t5"), "m1": ("t0",), "m0": ("t0", "t3", "t4")},
    ),
    Course(
        "exact",
        "this project's assignor in kafka-python",
        "kafka-python",
        "live.kafka_python:OptimalAssignor",
        PYTHON_DEFAULTS,
    ),
    Course(
        "mended",
        "sticky-that-ends, the sticky rule mended, in kafka-python",
        "kafka-python",
        "studies.mended_consumers:KafkaPython",
        PYTHON_DEFAULTS,
    ),
    Course("uniform", "Kafka's uniform (KIP-848)", "java-kip-848", "uniform", KIP_848_DEFAULTS),
)
