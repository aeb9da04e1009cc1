"""Clients: one class for each kind of consumer, with its settings."""

from __future__ import annotations

import os
from dataclasses import dataclass
from importlib import import_module
from threading import Event
from typing import TYPE_CHECKING, Any, Protocol

from broker import distribution
from heuristics.shipped.java.java_client import KAFKA_JAVA
from heuristics.shipped.java.jvm import start
from heuristics.shipped.python_client import AIOKAFKA, KAFKA_PYTHON

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Mapping, Sequence

    from heuristics.shipped.python_client import PythonClient

    Held = set[tuple[str, int]]
    Offsets = Mapping[str, Mapping[int, int]]
    # Records of one partition in a poll: topic, partition number, first and last offset, and the
    # timestamp of the first record in seconds since 1970.
    Batch = tuple[str, int, int, int, float]


SESSION_MS = 6000
HEARTBEAT_MS = 300
COMMIT_MS = 200
REFRESH_MS = 1000


@dataclass(frozen=True)
class Wanted:
    """The specification of a consumer; `Consumer.start` documents its fields."""

    kind: str
    bootstrap: str
    group: str
    topics: Sequence[str]
    client_id: str
    instance_id: str | None
    assignors: Sequence[str]
    config: Mapping[str, object]
    commit: bool
    release: str | None = None
    classes: Sequence[str] = ()

    @property
    def kip_848(self) -> bool:
        """Whether its group is one of KIP-848."""
        return self.kind.endswith("kip-848")

    @property
    def pattern(self) -> str | None:
        """The pattern that it subscribes to; None if it subscribes to names."""
        return self.topics[0] if len(self.topics) == 1 and self.topics[0][:1] == "^" else None


def settings_of(wanted: Wanted, assignors: Sequence[str]) -> dict[str, object]:
    """Return the settings of a member of a group, by the names of Kafka's own consumer.

    In a KIP-848 group the broker sets sessions and heartbeats.

    Parameters
    ----------
    assignors : by the client's names; of a KIP-848 group the broker's
    """
    settings: dict[str, object] = {
        "bootstrap.servers": wanted.bootstrap,
        "group.id": wanted.group,
        "client.id": wanted.client_id,
        "enable.auto.commit": wanted.commit,
        "auto.commit.interval.ms": COMMIT_MS,
        "auto.offset.reset": "earliest",
        "metadata.max.age.ms": REFRESH_MS,
    }
    if wanted.instance_id is not None:
        settings["group.instance.id"] = wanted.instance_id
    strategy = "group.remote.assignor" if wanted.kip_848 else "partition.assignment.strategy"
    if assignors:
        settings[strategy] = ",".join(assignors)
    if wanted.kip_848:
        return settings | {"group.protocol": "consumer"}
    return settings | {"session.timeout.ms": SESSION_MS, "heartbeat.interval.ms": HEARTBEAT_MS}


class Client(Protocol):
    """A consumer of one kind, used by one thread except for `assigned`."""

    def poll(self) -> list[Batch]:
        """Poll once, and return what was read."""

    def assigned(self) -> Held | None:
        """Return the topic partitions that it holds; None before it is a member. Thread-safe."""

    def commit(self, offsets: Offsets) -> None:
        """Commit offsets by topic and partition, and wait for the answer."""

    def close(self) -> None:
        """Leave the group."""


# May be short, as librdkafka rebalances in threads of its own.
BRIEF_SECONDS = 0.1
ANSWER_SECONDS = 5.0


class Confluent:
    """librdkafka under confluent-kafka."""

    def __init__(self, wanted: Wanted) -> None:
        from confluent_kafka import Consumer

        told = settings_of(wanted, wanted.assignors)
        told["topic.metadata.refresh.interval.ms"] = told.pop("metadata.max.age.ms")
        self.settings = {**told, **wanted.config}
        self._consumer = Consumer(self.settings)
        self._consumer.subscribe([*wanted.topics], on_assign=self._joins)
        self._joined, self._kip_848 = False, wanted.kip_848
        self._held: Held | None = None

    def poll(self) -> list[Batch]:
        """Read a record if there is one."""
        record = self._consumer.poll(BRIEF_SECONDS)
        # assignment() in another thread would wait for ever while holding the GIL.
        self._joined = self._joined or (self._kip_848 and self._is_member())
        held = {(each.topic, each.partition) for each in self._consumer.assignment()}
        self._held = held if self._joined else None
        if record is None or record.error() is not None:
            return []
        at = record.offset()
        return [(record.topic(), record.partition(), at, at, record.timestamp()[1] / 1000)]

    def _joins(self, *_: object) -> None:
        self._joined = True

    def assigned(self) -> Held | None:
        """Return the topic partitions that it held after the last poll."""
        return self._held

    def commit(self, offsets: Offsets) -> None:
        """Commit, and raise if the broker refuses one of the partitions."""
        from confluent_kafka import KafkaException, TopicPartition

        asked = [TopicPartition(t, n, at) for t in offsets for n, at in offsets[t].items()]
        for done in self._consumer.commit(offsets=asked, asynchronous=False):
            if done.error is not None:
                raise KafkaException(done.error)

    def close(self) -> None:
        """Leave the group."""
        self._consumer.close()

    def _is_member(self) -> bool:
        """Ask the broker of a KIP-848 group, as no callback comes for an empty assignment.

        The group must be stable: until then, others may still hold partitions of its target.
        """
        from confluent_kafka import ConsumerGroupState, KafkaException
        from confluent_kafka.admin import AdminClient

        own = ("bootstrap.servers", "client.id", "security.", "sasl.", "ssl.")
        admin = AdminClient({k: v for k, v in self.settings.items() if k.startswith(own)})
        group = str(self.settings["group.id"])
        try:
            described = admin.describe_consumer_groups([group])[group].result(ANSWER_SECONDS)
        except KafkaException:
            return False
        members = [each.member_id for each in described.members]
        stable = described.state == ConsumerGroupState.STABLE
        return stable and self._consumer.memberid() in members


CONSUMER = KAFKA_JAVA.package
TEXT = "org.apache.kafka.common.serialization.ByteArrayDeserializer"
JAVA_POLL_MS = 100


class Java:
    """Kafka's own consumer."""

    def __init__(self, wanted: Wanted) -> None:
        classes = os.pathsep.join(
            [distribution.classes_of_client(wanted.release), *wanted.classes]
        )
        kept = () if wanted.release else distribution.kept_classes(distribution.BROKER_RELEASE)
        options = ("-Xmx128m", "-XX:TieredStopAtLevel=1", *kept, *distribution.LOG_SETTINGS)
        start(*options, classes=classes)
        import jpype

        shipped = {name: f"{CONSUMER}.{own}" for name, own in KAFKA_JAVA.assignors.items()}
        named = {} if wanted.kip_848 else shipped
        settings = {
            **settings_of(wanted, [named.get(name, name) for name in wanted.assignors]),
            "key.deserializer": TEXT,
            "value.deserializer": TEXT,
            **wanted.config,
        }
        properties = jpype.JClass("java.util.Properties")()
        for key, value in settings.items():
            text = str(value).lower() if isinstance(value, bool) else str(value)
            properties.setProperty(key, text)
        self._group, self._properties = wanted.group, properties
        self._consumer: Any = jpype.JClass(f"{CONSUMER}.KafkaConsumer")(properties)
        self._joined, self._kip_848 = False, wanted.kip_848
        self._held: Held | None = None
        listener = jpype.JProxy(
            f"{CONSUMER}.ConsumerRebalanceListener",
            dict={
                "onPartitionsAssigned": self._joins,
                "onPartitionsRevoked": lambda _: None,
                "onPartitionsLost": lambda _: None,
            },
        )
        if wanted.pattern is None:
            topics = jpype.JClass("java.util.ArrayList")()
            for topic in wanted.topics:
                topics.add(topic)
            self._consumer.subscribe(topics, listener)
        else:
            pattern = jpype.JClass("java.util.regex.Pattern").compile(wanted.pattern)
            self._consumer.subscribe(pattern, listener)
        self._wait = jpype.JClass("java.time.Duration").ofMillis(JAVA_POLL_MS)

    def poll(self) -> list[Batch]:
        """Read records."""
        records = self._consumer.poll(self._wait)
        self._joined = self._joined or (self._kip_848 and self._is_member())
        held = {(str(e.topic()), int(e.partition())) for e in self._consumer.assignment()}
        self._held = held if self._joined else None
        return [_batch(each, records.records(each)) for each in records.partitions()]

    def assigned(self) -> Held | None:
        """Return the topic partitions that it held after the last poll."""
        return self._held

    def commit(self, offsets: Offsets) -> None:
        """Commit."""
        import jpype

        asked = jpype.JClass("java.util.HashMap")()
        for topic in offsets:
            for number, at in offsets[topic].items():
                partition = jpype.JClass("org.apache.kafka.common.TopicPartition")(topic, number)
                asked.put(partition, jpype.JClass(f"{CONSUMER}.OffsetAndMetadata")(at))
        self._consumer.commitSync(asked)

    def close(self) -> None:
        """Leave the group."""
        self._consumer.close()

    def _joins(self, _: object) -> None:
        """Record an assignment, also an empty one; in a KIP-848 group others may still hold it."""
        self._joined = self._joined or not self._kip_848

    def _is_member(self) -> bool:
        """Ask the broker whether a KIP-848 group is stable and has this member."""
        import jpype

        admin = jpype.JClass("org.apache.kafka.clients.admin.Admin").create(self._properties)
        try:
            groups = jpype.JClass("java.util.Collections").singleton(self._group)
            told = admin.describeConsumerGroups(groups).all().get().get(self._group)
        except jpype.JException:
            return False
        finally:
            admin.close()
        members = [str(each.consumerId()) for each in told.members()]
        own = str(self._consumer.groupMetadata().memberId())
        return str(told.groupState()) == "Stable" and own in members


def _batch(partition: Any, records: Any) -> Batch:
    first, last = records.get(0), records.get(records.size() - 1)
    written = int(first.timestamp()) / 1000
    at = int(first.offset()), int(last.offset())
    return str(partition.topic()), int(partition.partition()), *at, written


# Longer than its assignor takes; otherwise a leader loses its own assignment.
POLL_MS = 1000
BRIEF_MS = 100


class KafkaPython:
    """kafka-python."""

    def __init__(self, wanted: Wanted) -> None:
        from kafka import ConsumerRebalanceListener, KafkaConsumer

        self._consumer = KafkaConsumer(**python_settings_of(wanted, KAFKA_PYTHON))
        self._joined = Event()
        joins = listener(ConsumerRebalanceListener, self._joined)
        self._consumer.subscribe(**subscription(wanted), listener=joins)

    def poll(self) -> list[Batch]:
        """Read records."""
        return batches(self._consumer.poll(POLL_MS))

    def assigned(self) -> Held | None:
        """Return the topic partitions that it holds."""
        return held_by(self._consumer) if self._joined.is_set() else None

    def commit(self, offsets: Offsets) -> None:
        """Commit."""
        from kafka import OffsetAndMetadata, TopicPartition

        self._consumer.commit(
            {
                TopicPartition(topic, number): OffsetAndMetadata(at, "", -1)
                for topic in offsets
                for number, at in offsets[topic].items()
            }
        )

    def close(self) -> None:
        """Leave the group."""
        self._consumer.close()


class Aiokafka:
    """aiokafka, on an event loop that runs while it is polled."""

    def __init__(self, wanted: Wanted) -> None:
        import asyncio

        self._loop = asyncio.new_event_loop()
        settings = python_settings_of(wanted, AIOKAFKA)
        self._joined = Event()

        async def started() -> Any:
            from aiokafka import AIOKafkaConsumer, ConsumerRebalanceListener

            consumer = AIOKafkaConsumer(**settings)
            joins = listener(ConsumerRebalanceListener, self._joined)
            consumer.subscribe(**subscription(wanted), listener=joins)
            await consumer.start()
            return consumer

        self._consumer = self._run(started)

    def poll(self) -> list[Batch]:
        """Read records."""
        return batches(self._run(lambda: self._consumer.getmany(timeout_ms=BRIEF_MS)))

    def assigned(self) -> Held | None:
        """Return the topic partitions that it holds."""
        return held_by(self._consumer) if self._joined.is_set() else None

    def commit(self, offsets: Offsets) -> None:
        """Commit."""
        from aiokafka import TopicPartition

        asked = {TopicPartition(t, n): at for t in offsets for n, at in offsets[t].items()}
        self._run(lambda: self._consumer.commit(asked))

    def close(self) -> None:
        """Leave the group."""
        self._run(self._consumer.stop)

    def _run(self, what: Callable[[], Coroutine[Any, Any, Any]]) -> Any:
        return self._loop.run_until_complete(what())


def held_by(consumer: Any) -> Held:
    """Return the topic partitions that a consumer of kafka-python or aiokafka holds."""
    return {(each.topic, each.partition) for each in consumer.assignment()}


def batches(records: Mapping[Any, Sequence[Any]]) -> list[Batch]:
    """Return the batches of a poll of kafka-python or aiokafka."""
    return [
        (at.topic, at.partition, read[0].offset, read[-1].offset, read[0].timestamp / 1000)
        for at, read in records.items()
        if read
    ]


def listener(above: type, joined: Event) -> object:
    """Return a rebalance listener that sets `joined` at any assignment, also an empty one."""

    class Joins(above):  # type: ignore[misc]
        def on_partitions_revoked(self, revoked: object) -> None:
            """Do nothing, as no state is kept for a partition."""

        def on_partitions_assigned(self, assigned: object) -> None:
            """Record that it has had an assignment."""
            joined.set()

    return Joins()


def python_settings_of(wanted: Wanted, client: PythonClient) -> dict[str, object]:
    """Return the settings of kafka-python or aiokafka: Kafka's names with underscores."""
    settings: dict[str, object] = {
        name.replace(".", "_"): value for name, value in settings_of(wanted, ()).items()
    }
    classes = []
    for name in wanted.assignors:
        module, _, inside = client.assignors.get(name, name).partition(":")
        classes.append(getattr(import_module(module), inside))
    if classes:
        settings["partition_assignment_strategy"] = classes
    return {**settings, **wanted.config}


def subscription(wanted: Wanted) -> dict[str, object]:
    """Return the arguments of ``subscribe``."""
    if wanted.pattern is not None:
        return {"pattern": wanted.pattern}
    return {"topics": [*wanted.topics]}


# Of each kind of consumer: the package of its client, our extra that installs it, and its class.
CLIENTS: Mapping[str, tuple[str, str, Callable[[Wanted], Client]]] = {
    "confluent": ("confluent_kafka", "clients", Confluent),
    "confluent-kip-848": ("confluent_kafka", "clients", Confluent),
    "kafka-python": ("kafka", "clients", KafkaPython),
    "aiokafka": ("aiokafka", "clients", Aiokafka),
    "java": ("jpype", "java", Java),
    "java-kip-848": ("jpype", "java", Java),
}
