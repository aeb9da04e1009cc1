"""A confluent-kafka consumer: BOOTSTRAP GROUP TOPIC; it lists $ASSIGNOR, or else its default."""

import os
import sys

from confluent_kafka import Consumer

bootstrap, group, topic = sys.argv[1:]
listed = os.environ.get("ASSIGNOR")
options = {"partition.assignment.strategy": listed} if listed else {}
consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": group, **options})
consumer.subscribe([topic])
while True:
    message = consumer.poll(1.0)
    if message is not None and message.error() is not None:
        break
consumer.close()
