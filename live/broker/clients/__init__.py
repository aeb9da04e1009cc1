"""The clients of Kafka whose consumers are started: what each of them does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from live.broker.clients.client import Client, Wanted
from live.broker.clients.confluent import Confluent, ConfluentKip848
from live.broker.clients.java import Java, JavaKip848
from live.broker.clients.python import Aiokafka, KafkaPython

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["CLIENTS", "Client", "Wanted"]

CLIENTS: Mapping[str, Callable[[Wanted], Client]] = {
    "confluent": Confluent,
    "confluent-kip-848": ConfluentKip848,
    "kafka-python": KafkaPython,
    "aiokafka": Aiokafka,
    "java": Java,
    "java-kip-848": JavaKip848,
}
