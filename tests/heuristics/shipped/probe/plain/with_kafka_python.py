"""A consumer of kafka-python: BOOTSTRAP GROUP TOPIC; ASSIGNOR may be the one that it lists."""

import os
import sys

from kafka import KafkaConsumer
from kafka.coordinator.assignors.cooperative_sticky import CooperativeStickyAssignor
from kafka.coordinator.assignors.sticky.sticky_assignor import StickyPartitionAssignor
from kafka.errors import GroupAuthorizationFailedError

bootstrap, group, topic = sys.argv[1:]
listed = [
    one
    for one in (StickyPartitionAssignor, CooperativeStickyAssignor)
    if one.name == os.environ.get("ASSIGNOR")
]
options = {"partition_assignment_strategy": listed} if listed else {}
consumer = KafkaConsumer(topic, bootstrap_servers=bootstrap, group_id=group, **options)
try:
    while True:
        consumer.poll(1000)
except GroupAuthorizationFailedError:
    consumer.close()
