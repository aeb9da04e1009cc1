"""kafka-broker: the assignors of Apache Kafka's broker, as it calls them in a KIP-848 group.

The target assignment before is the valid owner of each partition: the broker knows it and asks
nobody. It does not see claims that lost, nor topics that do not exist.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from groups import Claims
from heuristics.shipped.java.java_client import JavaClient

if TYPE_CHECKING:
    from groups import Group


def valid_claims(group: Group) -> Claims:
    """Return the claims that hold: those of the valid owners."""
    held = np.flatnonzero(group.owner >= 0)
    held = held[np.argsort(group.owner[held], kind="stable")]
    return Claims(group.owner[held], group.topic[held], group.number[held])


CLIENT = JavaClient(
    name="kafka-broker",
    source="Apache Kafka's broker, org.apache.kafka:kafka-group-coordinator, in a JVM",
    assignors={"uniform": "UniformAssignor", "range": "RangeAssignor"},
    artifact="kafka-group-coordinator",
    package="org.apache.kafka.coordinator.group.assignor",
    caller="BrokerGroup",
    listed=("4.4.0", "4.0.2", "3.9.2"),
    oldest="3.9.0",
    owned=valid_claims,
)
