"""A consumer of kafka-python, with its default options: BOOTSTRAP GROUP TOPIC."""

import sys

from kafka import KafkaConsumer
from kafka.errors import GroupAuthorizationFailedError

bootstrap, group, topic = sys.argv[1:]
consumer = KafkaConsumer(topic, bootstrap_servers=bootstrap, group_id=group)
try:
    while True:
        consumer.poll(1000)
except GroupAuthorizationFailedError:
    consumer.close()
