"""A consumer of librdkafka that joins a group and polls: BOOTSTRAP GROUP ASSIGNOR.

It ends when standard input does: whoever started it may have been killed.
"""

import os
import sys
from threading import Thread

from confluent_kafka import Consumer


def end_with_input() -> None:
    """Wait for the end of standard input; the assignor may be in an endless loop meanwhile."""
    sys.stdin.read()
    os._exit(0)


Thread(target=end_with_input, daemon=True).start()
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
