"""confluent-kafka: librdkafka, in classic and in KIP-848 groups."""

from __future__ import annotations

from typing import TYPE_CHECKING

from live.broker.clients.client import REFRESH_MS, Wanted, classic, kip_848, settings_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from live.broker.clients.client import Held, Offsets
    from live.broker.progress import Batch

# librdkafka rebalances in threads of its own.
BRIEF_SECONDS = 0.1
ANSWER_SECONDS = 5.0


class Confluent:
    """librdkafka under confluent-kafka, in a classic group."""

    def __init__(self, wanted: Wanted) -> None:
        from confluent_kafka import Consumer

        self.settings = {
            **settings_of(wanted),
            "topic.metadata.refresh.interval.ms": REFRESH_MS,
            **self.protocol(wanted.assignors),
            **wanted.config,
        }
        self._consumer = Consumer(self.settings)
        self._consumer.subscribe([*wanted.topics], on_assign=self._joins)
        self._joined = False
        self._held: Held | None = None

    def protocol(self, assignors: Sequence[str]) -> dict[str, object]:
        """Return the settings of the group's protocol."""
        return classic(assignors)

    def poll(self) -> list[Batch]:
        """Read a record if there is one."""
        record = self._consumer.poll(BRIEF_SECONDS)
        # Asked in another thread it waits for ever, with Python's lock.
        self._joined = self._joined or self.is_member()
        held = {(each.topic, each.partition) for each in self._consumer.assignment()}
        self._held = held if self._joined else None
        if record is None or record.error() is not None:
            return []
        at = record.offset()
        return [(record.topic(), record.partition(), at, at, record.timestamp()[1] / 1000)]

    def is_member(self) -> bool:
        """Return whether the group has it, where that is not told by itself."""
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
        return kip_848(assignors)

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
