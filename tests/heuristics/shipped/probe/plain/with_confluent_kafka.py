"""A consumer of confluent-kafka, with its default options: BOOTSTRAP GROUP TOPIC."""

import sys

from confluent_kafka import Consumer

bootstrap, group, topic = sys.argv[1:]
consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": group})
consumer.subscribe([topic])
while True:
    message = consumer.poll(1.0)
    if message is not None and message.error() is not None:
        break
consumer.close()
