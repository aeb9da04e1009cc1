"""Real Kafka brokers on loopback, and real consumers, for tests, studies and trying out."""

from __future__ import annotations

from broker.broker import Broker, BrokerDied
from broker.consume import Progress, Read
from broker.consumer import Consumer, ConsumerDied, NotSettled, settle
from broker.distribution import BROKER_RELEASE
from broker.server_properties import Security
from broker.streams import StreamsProcess

__all__ = [
    "BROKER_RELEASE",
    "Broker",
    "BrokerDied",
    "Consumer",
    "ConsumerDied",
    "NotSettled",
    "Progress",
    "Read",
    "Security",
    "StreamsProcess",
    "settle",
]
