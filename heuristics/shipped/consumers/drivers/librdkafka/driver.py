"""A consumer of librdkafka that joins a group and polls: BOOTSTRAP GROUP ASSIGNOR.

It ends when its standard input ends, because its parent may have been killed.
"""

import os
import sys
from threading import Thread

from confluent_kafka import Consumer


def end_with_input() -> None:
    """Exit at the end of standard input, even if the assignor is in an endless loop."""
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
