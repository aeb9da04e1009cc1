"""KafkaJS: the JavaScript client.

It leads as the first member. The topics that this one reads are dealt out to everybody, those
that it does not read to nobody: it takes all members to have the same subscription.

Source: ``PartitionAssigners.roundRobin``.
"""

from __future__ import annotations

from heuristics.shipped.consumers.consumer import Consumer
from heuristics.shipped.consumers.node_driver import NodeDriver

DRIVER = NodeDriver("kafkajs", ("2.2.4",))

CLIENT = Consumer(
    name="kafkajs",
    source="KafkaJS's assigner, by the probe",
    assignors={"RoundRobinAssigner": "none"},
    driver=DRIVER,
    metadata="own",
)
