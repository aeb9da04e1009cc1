"""An Apache Kafka of one's own on loopback, and real consumers: for tests, studies, trying out."""

from live.broker.broker import Broker, BrokerDied
from live.broker.consumer import Consumer, ConsumerDied
from live.broker.distribution import NEWEST
from live.broker.progress import Progress, Read
from live.broker.security import Security
from live.broker.settle import NotSettled, settle

__all__ = [
    "NEWEST",
    "Broker",
    "BrokerDied",
    "Consumer",
    "ConsumerDied",
    "NotSettled",
    "Progress",
    "Read",
    "Security",
    "settle",
]
