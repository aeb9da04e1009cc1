"""sarama: the Go client.

Source: ``NewBalanceStrategyRange``, ``RoundRobin``, ``Sticky`` and ``CooperativeSticky``.
"""

from __future__ import annotations

from heuristics.shipped.client import COOPERATIVE
from heuristics.shipped.consumers.consumer import Consumer
from heuristics.shipped.consumers.go_driver import GoDriver

CLIENT = Consumer(
    name="sarama",
    source="sarama's balance strategies, by the probe",
    assignors={
        "range": "none",
        "roundrobin": "none",
        "sticky": "assignment",
        "cooperative-sticky": "generation",
    },
    driver=GoDriver(
        client="sarama",
        module="github.com/IBM/sarama",
        listed=("1.61.1",),
        since={COOPERATIVE: ("1.60.1", "eager")},
    ),
    repeatable=False,
)
