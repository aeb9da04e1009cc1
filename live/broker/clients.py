"""Clients: what a consumer does in each Python client of Kafka."""

from __future__ import annotations

from importlib import import_module
from threading import Event
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Mapping, Sequence

    Held = set[tuple[str, int]]
    Offsets = Mapping[str, Mapping[int, int]]

SESSION_MS = 6000
HEARTBEAT_MS = 300
# A leader whose poll is shorter than its assignor takes loses what it has assigned itself.
POLL_SECONDS = 1.0
# librdkafka rebalances in threads of its own.
BRIEF_SECONDS = 0.1
ANSWER_SECONDS = 5.0


class Client(Protocol):
    """A consumer of one client, used by one thread but for `assigned`."""

    def poll(self) -> None:
        """Read what there is, and take part in the group."""

    def assigned(self) -> Held | None:
        """Return the topic partitions that it holds, None before it is a member; thread-safe."""

    def commit(self, offsets: Offsets) -> None:
        """Commit offsets by topic and partition, and wait for the answer."""

    def close(self) -> None:
        """Leave the group."""


class Confluent:
    """librdkafka under confluent-kafka, in a classic group."""

    def __init__(
        self,
        *,
        bootstrap: str,
        group: str,
        topics: Sequence[str],
        client_id: str,
        instance_id: str | None,
        assignors: Sequence[str],
        config: Mapping[str, object],
        commit: bool,
    ) -> None:
        from confluent_kafka import Consumer

        settings: dict[str, object] = {
            "bootstrap.servers": bootstrap,
            "group.id": group,
            "client.id": client_id,
            "enable.auto.commit": commit,
            "auto.commit.interval.ms": 200,
            "auto.offset.reset": "earliest",
            "topic.metadata.refresh.interval.ms": 1000,
        }
        if instance_id is not None:
            settings["group.instance.id"] = instance_id
        self.settings = settings | self.protocol(assignors) | dict(config)
        self._consumer = Consumer(self.settings)
        self._consumer.subscribe([*topics], on_assign=self._joins)
        self._joined = False
        self._held: Held | None = None

    def protocol(self, assignors: Sequence[str]) -> dict[str, object]:
        """Return the settings of the group's protocol."""
        settings: dict[str, object] = {
            "session.timeout.ms": SESSION_MS,
            "heartbeat.interval.ms": HEARTBEAT_MS,
        }
        if assignors:
            settings["partition.assignment.strategy"] = ",".join(assignors)
        return settings

    def poll(self) -> None:
        """Read a message if there is one."""
        self._consumer.poll(BRIEF_SECONDS)
        # Asked in another thread it waits for ever, with Python's lock.
        self._joined = self._joined or self.is_member()
        held = {(each.topic, each.partition) for each in self._consumer.assignment()}
        self._held = held if self._joined else None

    def is_member(self) -> bool:
        """Say whether the group has it, where that is not told by itself."""
        return False

    def _joins(self, *_: object) -> None:
        self._joined = True

    def assigned(self) -> Held | None:
        """Return the topic partitions that it held after the last poll."""
        return self._held

    def commit(self, offsets: Offsets) -> None:
        """Commit, and raise where the broker refuses one of the partitions."""
        from confluent_kafka import KafkaException, TopicPartition

        asked = [TopicPartition(t, n, at) for t in offsets for n, at in offsets[t].items()]
        for done in self._consumer.commit(offsets=asked, asynchronous=False):
            if done.error is not None:
                raise KafkaException(done.error)

    def close(self) -> None:
        """Leave the group."""
        self._consumer.close()


class ConfluentKip848(Confluent):
    """librdkafka in a KIP-848 group, whose broker sets sessions and heartbeats."""

    def protocol(self, assignors: Sequence[str]) -> dict[str, object]:
        """Return the settings of the group's protocol."""
        remote = {"group.remote.assignor": assignors[0]} if assignors else {}
        return {"group.protocol": "consumer", **remote}

    def is_member(self) -> bool:
        """Ask the broker: a member that is given no partition is not told so.

        While others have not given up what it is to have, it has not joined.
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


class KafkaPython:
    """kafka-python."""

    named: ClassVar = {
        "range": "kafka.coordinator.assignors.range:RangePartitionAssignor",
        "roundrobin": "kafka.coordinator.assignors.roundrobin:RoundRobinPartitionAssignor",
        "sticky": "kafka.coordinator.assignors.sticky.sticky_assignor:StickyPartitionAssignor",
        "cooperative-sticky": (
            "kafka.coordinator.assignors.cooperative_sticky:CooperativeStickyAssignor"
        ),
    }

    def __init__(
        self,
        *,
        bootstrap: str,
        group: str,
        topics: Sequence[str],
        client_id: str,
        instance_id: str | None,
        assignors: Sequence[str],
        config: Mapping[str, object],
        commit: bool,
    ) -> None:
        from kafka import ConsumerRebalanceListener, KafkaConsumer

        settings = _settings(bootstrap, group, client_id, instance_id, commit)
        settings |= _strategy(assignors, self.named)
        self._consumer = KafkaConsumer(**{**settings, **config})
        self._joined = Event()
        joins = listener(ConsumerRebalanceListener, self._joined)
        self._consumer.subscribe(**_subscription(topics), listener=joins)

    def poll(self) -> None:
        """Read messages."""
        self._consumer.poll(int(POLL_SECONDS * 1000))

    def assigned(self) -> Held | None:
        """Return the topic partitions that it holds."""
        if not self._joined.is_set():
            return None
        return {(each.topic, each.partition) for each in self._consumer.assignment()}

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

    named: ClassVar = {
        "range": "aiokafka.coordinator.assignors.range:RangePartitionAssignor",
        "roundrobin": "aiokafka.coordinator.assignors.roundrobin:RoundRobinPartitionAssignor",
        "sticky": (
            "aiokafka.coordinator.assignors.sticky.sticky_assignor:StickyPartitionAssignor"
        ),
    }

    def __init__(
        self,
        *,
        bootstrap: str,
        group: str,
        topics: Sequence[str],
        client_id: str,
        instance_id: str | None,
        assignors: Sequence[str],
        config: Mapping[str, object],
        commit: bool,
    ) -> None:
        import asyncio

        self._loop = asyncio.new_event_loop()
        settings = _settings(bootstrap, group, client_id, instance_id, commit)
        settings |= _strategy(assignors, self.named)
        self._joined = Event()

        async def started() -> Any:
            from aiokafka import AIOKafkaConsumer, ConsumerRebalanceListener

            consumer = AIOKafkaConsumer(**{**settings, **config})
            joins = listener(ConsumerRebalanceListener, self._joined)
            consumer.subscribe(**_subscription(topics), listener=joins)
            await consumer.start()
            return consumer

        self._consumer = self._run(started)

    def poll(self) -> None:
        """Read messages."""
        self._run(lambda: self._consumer.getmany(timeout_ms=int(BRIEF_SECONDS * 1000)))

    def assigned(self) -> Held | None:
        """Return the topic partitions that it holds."""
        if not self._joined.is_set():
            return None
        return {(each.topic, each.partition) for each in self._consumer.assignment()}

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


def listener(above: type, joined: Event) -> object:
    """Return a rebalance listener that sets `joined` at the first assignment, an empty one too."""

    class Joins(above):  # type: ignore[misc]
        def on_partitions_revoked(self, revoked: object) -> None:
            """Nothing is kept of a partition."""

        def on_partitions_assigned(self, assigned: object) -> None:
            """Take note."""
            joined.set()

    return Joins()


def _settings(
    bootstrap: str, group: str, client_id: str, instance_id: str | None, commit: bool
) -> dict[str, object]:
    """Return the settings that kafka-python and aiokafka call the same."""
    static = {} if instance_id is None else {"group_instance_id": instance_id}
    return {
        "bootstrap_servers": bootstrap,
        "group_id": group,
        "client_id": client_id,
        "enable_auto_commit": commit,
        "auto_commit_interval_ms": 200,
        "auto_offset_reset": "earliest",
        "session_timeout_ms": SESSION_MS,
        "heartbeat_interval_ms": HEARTBEAT_MS,
        "metadata_max_age_ms": 1000,
        **static,
    }


def _strategy(assignors: Sequence[str], named: Mapping[str, str]) -> dict[str, object]:
    if not assignors:
        return {}
    classes = []
    for name in assignors:
        module, _, inside = named.get(name, name).partition(":")
        classes.append(getattr(import_module(module), inside))
    return {"partition_assignment_strategy": classes}


def _subscription(topics: Sequence[str]) -> dict[str, object]:
    if len(topics) == 1 and topics[0].startswith("^"):
        return {"pattern": topics[0]}
    return {"topics": [*topics]}


CLIENTS: dict[str, Callable[..., Client]] = {
    "confluent": Confluent,
    "confluent-kip-848": ConfluentKip848,
    "kafka-python": KafkaPython,
    "aiokafka": Aiokafka,
}
