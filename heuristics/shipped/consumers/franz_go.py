"""franz-go: the Go client.

From 1.22 on, where balance, racks and moves became exact, racks count for it only with an option
that is off unless asked for, as it is here; before that, the rack of a partition's leader counts.

Source: ``kgo.RangeBalancer``, ``RoundRobinBalancer``, ``StickyBalancer`` and
``CooperativeStickyBalancer``.
"""

from __future__ import annotations

from heuristics.shipped.consumers.consumer import Consumer
from heuristics.shipped.consumers.go_driver import GoDriver

DRIVER = GoDriver("franz-go", "github.com/twmb/franz-go", ("1.22.2", "1.21.7"))

CLIENT = Consumer(
    name="franz-go",
    source="franz-go's balancers, by the probe",
    assignors={
        "range": "none",
        "roundrobin": "none",
        "sticky": "assignment",
        "cooperative-sticky": "assignment",
    },
    driver=DRIVER,
    repeatable=False,
)
