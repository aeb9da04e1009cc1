"""A consumer of librdkafka that joins a group and polls: BOOTSTRAP GROUP ASSIGNOR."""

import sys

from confluent_kafka import Consumer

bootstrap, group, assignor = sys.argv[1:]
consumer = Consumer(
    {
        "bootstrap.servers": bootstrap,
        "group.id": group,
        "client.id": "librdkafka",
        "partition.assignment.strategy": assignor,
        "enable.auto.commit": False,
        "log_level": 2,
    }
)
consumer.subscribe(["assay-probe"])
while True:
    consumer.poll(1.0)
