"""A kafka-python consumer: BOOTSTRAP GROUP TOPIC; it lists $ASSIGNOR, or else its default."""

import os
import sys

from kafka import KafkaConsumer
from kafka.coordinator.assignors.cooperative_sticky import CooperativeStickyAssignor
from kafka.coordinator.assignors.sticky.sticky_assignor import StickyPartitionAssignor
from kafka.errors import GroupAuthorizationFailedError

bootstrap, group, topic = sys.argv[1:]
listed = [
    assignor
    for assignor in (StickyPartitionAssignor, CooperativeStickyAssignor)
    if assignor.name == os.environ.get("ASSIGNOR")
]
options = {"partition_assignment_strategy": listed} if listed else {}
consumer = KafkaConsumer(topic, bootstrap_servers=bootstrap, group_id=group, **options)
try:
    while True:
        consumer.poll(1000)
except GroupAuthorizationFailedError:
    consumer.close()
