"""kafka-python and aiokafka: clients in Python, of one family."""

from __future__ import annotations

from importlib import import_module
from threading import Event
from typing import TYPE_CHECKING, Any, ClassVar

from live.broker.clients.client import COMMIT_MS, HEARTBEAT_MS, REFRESH_MS, SESSION_MS, Wanted

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Mapping, Sequence

    from live.broker.clients.client import Held, Offsets
    from live.broker.progress import Batch

# A leader whose poll is shorter than its assignor takes loses what it has assigned itself.
POLL_MS = 1000
BRIEF_MS = 100


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

    def __init__(self, wanted: Wanted) -> None:
        from kafka import ConsumerRebalanceListener, KafkaConsumer

        settings = settings_of(wanted)
        settings |= strategy(wanted, self.named)
        self._consumer = KafkaConsumer(**{**settings, **wanted.config})
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

    named: ClassVar = {
        "range": "aiokafka.coordinator.assignors.range:RangePartitionAssignor",
        "roundrobin": "aiokafka.coordinator.assignors.roundrobin:RoundRobinPartitionAssignor",
        "sticky": (
            "aiokafka.coordinator.assignors.sticky.sticky_assignor:StickyPartitionAssignor"
        ),
    }

    def __init__(self, wanted: Wanted) -> None:
        import asyncio

        self._loop = asyncio.new_event_loop()
        settings = settings_of(wanted)
        settings |= strategy(wanted, self.named)
        self._joined = Event()

        async def started() -> Any:
            from aiokafka import AIOKafkaConsumer, ConsumerRebalanceListener

            consumer = AIOKafkaConsumer(**{**settings, **wanted.config})
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
    """Return the topic partitions of a consumer, which both clients tell in the same way."""
    return {(each.topic, each.partition) for each in consumer.assignment()}


def batches(records: Mapping[Any, Sequence[Any]]) -> list[Batch]:
    """Return what of a poll's records is noted, which both clients hand over in the same way."""
    return [
        (at.topic, at.partition, some[0].offset, some[-1].offset, some[0].timestamp / 1000)
        for at, some in records.items()
        if some
    ]


def listener(above: type, joined: Event) -> object:
    """Return a rebalance listener that sets `joined` at the first assignment, an empty one too."""

    class Joins(above):  # type: ignore[misc]
        def on_partitions_revoked(self, revoked: object) -> None:
            """Nothing is kept of a partition."""

        def on_partitions_assigned(self, assigned: object) -> None:
            """Take note."""
            joined.set()

    return Joins()


def settings_of(wanted: Wanted) -> dict[str, object]:
    """Return the settings, which both clients call the same."""
    static = {} if wanted.instance_id is None else {"group_instance_id": wanted.instance_id}
    return {
        "bootstrap_servers": wanted.bootstrap,
        "group_id": wanted.group,
        "client_id": wanted.client_id,
        "enable_auto_commit": wanted.commit,
        "auto_commit_interval_ms": COMMIT_MS,
        "auto_offset_reset": "earliest",
        "session_timeout_ms": SESSION_MS,
        "heartbeat_interval_ms": HEARTBEAT_MS,
        "metadata_max_age_ms": REFRESH_MS,
        **static,
    }


def strategy(wanted: Wanted, named: Mapping[str, str]) -> dict[str, object]:
    """Return the setting of the assignors, of which some have a name."""
    if not wanted.assignors:
        return {}
    classes = []
    for name in wanted.assignors:
        module, _, inside = named.get(name, name).partition(":")
        classes.append(getattr(import_module(module), inside))
    return {"partition_assignment_strategy": classes}


def subscription(wanted: Wanted) -> dict[str, object]:
    """Return the arguments of ``subscribe``."""
    if wanted.pattern is not None:
        return {"pattern": wanted.pattern}
    return {"topics": [*wanted.topics]}
