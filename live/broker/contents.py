"""Contents: topics, records and rights of a broker, made through the listener inside."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

ANSWER_SECONDS = 20.0
LOOK_SECONDS = 0.05
# More than any test writes: the queue is never what is full.
QUEUE = 2_000_000


def create_topic(
    inside: str,
    topic: str,
    partitions: int,
    config: Mapping[str, str],
    nodes: Sequence[Sequence[int]],
) -> bool:
    """Make a topic; return whether each of its partitions has come to have a leader.

    Parameters
    ----------
    nodes : of each partition the brokers that have it, its leader first; the brokers choose where
        there are none

    Raises
    ------
    KafkaException
        Where the broker refuses the topic.
    """
    from confluent_kafka.admin import AdminClient, NewTopic

    admin = AdminClient(client(inside))
    where = (
        {"replica_assignment": [[*each] for each in nodes]} if nodes else {"replication_factor": 1}
    )
    new = NewTopic(topic, partitions, config=dict(config), **where)
    admin.create_topics([new])[topic].result(ANSWER_SECONDS)
    end = time.monotonic() + ANSWER_SECONDS
    while time.monotonic() < end:
        known = admin.list_topics(topic, timeout=ANSWER_SECONDS).topics[topic].partitions
        if len(known) == partitions and all(each.leader >= 0 for each in known.values()):
            return True
        time.sleep(LOOK_SECONDS)
    return False


def produce(inside: str, topic: str, records: Mapping[int, int]) -> list[str]:
    """Write so many records to each partition; return why some are not in the log."""
    from confluent_kafka import Producer

    reasons: list[str] = []
    producer = Producer(
        client(inside) | {"acks": "all", "queue.buffering.max.messages": QUEUE, "linger.ms": 1}
    )
    for partition, count in records.items():
        for number in range(count):
            producer.produce(
                topic,
                str(number).encode(),
                partition=partition,
                on_delivery=lambda error, _: reasons.append(str(error)) if error else None,
            )
            producer.poll(0)
    left = producer.flush(ANSWER_SECONDS)
    return reasons + ["no answer"] * left


def allow(inside: str, user: str, operation: str, kind: str, name: str) -> None:
    """Let a user do something with what has a name, or with all of a kind (``*``)."""
    from confluent_kafka.admin import (
        AclBinding,
        AclOperation,
        AclPermissionType,
        AdminClient,
        ResourcePatternType,
        ResourceType,
    )

    binding = AclBinding(
        ResourceType[kind.upper()],
        name,
        ResourcePatternType.LITERAL,
        f"User:{user}",
        "*",
        AclOperation[operation.upper()],
        AclPermissionType.ALLOW,
    )
    admin = AdminClient(client(inside))
    admin.create_acls([binding])[binding].result(ANSWER_SECONDS)


def answers(inside: str, node: int) -> bool:
    """Return whether the broker tells that it is there, as the one with an id."""
    from confluent_kafka import KafkaException
    from confluent_kafka.admin import AdminClient

    try:
        return node in AdminClient(client(inside)).list_topics(timeout=1.0).brokers
    except KafkaException:
        return False


def client(inside: str) -> dict[str, object]:
    """Return the settings of a client that says nothing of itself."""
    return {"bootstrap.servers": inside, "log_level": 0}
