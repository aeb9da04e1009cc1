"""java: Kafka's own consumer, in a Java inside this process."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from heuristics.shipped.java.jvm import start
from live.broker import distribution
from live.broker.clients.client import REFRESH_MS, Wanted, classic, kip_848, settings_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from live.broker.clients.client import Held, Offsets
    from live.broker.progress import Batch

CONSUMER = "org.apache.kafka.clients.consumer"
NAMED = {
    "range": f"{CONSUMER}.RangeAssignor",
    "roundrobin": f"{CONSUMER}.RoundRobinAssignor",
    "sticky": f"{CONSUMER}.StickyAssignor",
    "cooperative-sticky": f"{CONSUMER}.CooperativeStickyAssignor",
}
TEXT = "org.apache.kafka.common.serialization.ByteArrayDeserializer"
POLL_MS = 100


class Java:
    """Kafka's own consumer in a classic group, of the newest release unless told otherwise."""

    def __init__(self, wanted: Wanted) -> None:
        classes = distribution.classes_of_client(wanted.release)
        start("-Xmx128m", "-XX:TieredStopAtLevel=1", *distribution.LOG_SETTINGS, classes=classes)
        import jpype

        settings = {
            **settings_of(wanted),
            "metadata.max.age.ms": REFRESH_MS,
            "key.deserializer": TEXT,
            "value.deserializer": TEXT,
            **self.protocol(wanted.assignors),
            **wanted.config,
        }
        properties = jpype.JClass("java.util.Properties")()
        for key, value in settings.items():
            text = str(value).lower() if isinstance(value, bool) else str(value)
            properties.setProperty(key, text)
        self._group, self._properties = wanted.group, properties
        self._consumer: Any = jpype.JClass(f"{CONSUMER}.KafkaConsumer")(properties)
        self._joined = False
        self._held: Held | None = None
        listener = jpype.JProxy(
            f"{CONSUMER}.ConsumerRebalanceListener",
            dict={
                "onPartitionsAssigned": self.joins,
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
        self._wait = jpype.JClass("java.time.Duration").ofMillis(POLL_MS)

    def protocol(self, assignors: Sequence[str]) -> dict[str, object]:
        """Return the settings of the group's protocol."""
        return classic([NAMED.get(name, name) for name in assignors])

    def poll(self) -> list[Batch]:
        """Read records."""
        records = self._consumer.poll(self._wait)
        self._joined = self._joined or self.is_member()
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

    def joins(self, _: object) -> None:
        """Take note of the first assignment, an empty one too."""
        self._joined = True

    def is_member(self) -> bool:
        """Return whether the group has it, where that is not told by itself."""
        return False


def _batch(partition: Any, records: Any) -> Batch:
    first, last = records.get(0), records.get(records.size() - 1)
    written = int(first.timestamp()) / 1000
    at = int(first.offset()), int(last.offset())
    return str(partition.topic()), int(partition.partition()), *at, written


class JavaKip848(Java):
    """The same in a KIP-848 group, whose broker sets sessions and heartbeats."""

    def protocol(self, assignors: Sequence[str]) -> dict[str, object]:
        """Return the settings of the group's protocol."""
        return kip_848(assignors)

    def joins(self, _: object) -> None:
        """Take no note: what it is to have, others may still hold."""

    def is_member(self) -> bool:
        """Ask the broker whether it is one of a group in which nobody has to give up anything."""
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
