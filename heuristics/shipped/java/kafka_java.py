"""kafka-java: the assignors of Apache Kafka's own consumer, as the leader of a classic group.

Each member says what a Java consumer with its claims and generation says, in Kafka's own bytes:
sticky in user data, cooperative-sticky in owned partitions too. A member with neither joins as a
new consumer does. Racks travel since 3.5 (KIP-881). Source: ``ConsumerProtocol``.
"""

from __future__ import annotations

from operator import attrgetter

from heuristics.shipped.java.java_client import JavaClient

CLIENT = JavaClient(
    name="kafka-java",
    source="Apache Kafka's consumer, org.apache.kafka:kafka-clients, in a JVM",
    assignors={
        "range": "RangeAssignor",
        "roundrobin": "RoundRobinAssignor",
        "sticky": "StickyAssignor",
        "cooperative-sticky": "CooperativeStickyAssignor",
    },
    artifact="kafka-clients",
    package="org.apache.kafka.clients.consumer",
    caller="ClientGroup",
    listed=("4.4.0", "4.0.2", "3.9.2", "2.8.2"),
    oldest="2.4.0",
    owned=attrgetter("claims"),
)
