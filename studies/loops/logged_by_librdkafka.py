"""A consumer of librdkafka that logs what its assignor does: BOOTSTRAP GROUP ASSIGNOR."""

import sys

from confluent_kafka import Consumer


def main() -> None:
    """Join and poll."""
    bootstrap, group, assignor = sys.argv[1:]
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": group,
            "partition.assignment.strategy": assignor,
            "enable.auto.commit": False,
            "debug": "assignor",
        }
    )
    consumer.subscribe(["assay-probe"])
    while True:
        consumer.poll(1.0)


if __name__ == "__main__":
    main()
