"""kafka-broker: the assignors of Apache Kafka's broker, as it calls them in a KIP-848 group.

The target assignment before is the valid owner of each partition: the broker knows it and asks
nobody. It does not see claims that lost, nor topics that do not exist.
"""

from __future__ import annotations

from operator import attrgetter

from heuristics.shipped.java.java_client import JavaClient

CLIENT = JavaClient(
    name="kafka-broker",
    source="Apache Kafka's broker, org.apache.kafka:kafka-group-coordinator, in a JVM",
    assignors={"uniform": "UniformAssignor", "range": "RangeAssignor"},
    artifact="kafka-group-coordinator",
    package="org.apache.kafka.coordinator.group.assignor",
    caller="BrokerGroup",
    listed=("4.4.0", "4.0.2", "3.9.2"),
    oldest="3.9.0",
    owned=attrgetter("owned_claims"),
)
