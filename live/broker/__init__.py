"""An Apache Kafka of one's own on loopback, and real consumers: for tests, studies, trying out."""

from live.broker.broker import Broker, BrokerDied
from live.broker.consumer import Consumer, ConsumerDied, NotSettled, settle
from live.broker.distribution import NEWEST
from live.broker.security import Security

__all__ = [
    "NEWEST",
    "Broker",
    "BrokerDied",
    "Consumer",
    "ConsumerDied",
    "NotSettled",
    "Security",
    "settle",
]
