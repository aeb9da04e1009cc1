"""JavaClient: assignors of Apache Kafka in one of its artifacts, called in a JVM."""

from __future__ import annotations

from dataclasses import dataclass, replace
from operator import attrgetter
from typing import TYPE_CHECKING, ClassVar

from groups.errors import BadInput
from heuristics.shipped.cache import newest_first
from heuristics.shipped.java import jars
from heuristics.shipped.java.jvm import JavaGroup, loader

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from groups import Claims, Group
    from heuristics.assignor import Plan


# The releases that are listed if they are not fetched, newest first.
RELEASES = ("4.4.0", "4.0.2", "3.9.2", "2.8.2")


@dataclass(frozen=True)
class JavaClient:
    """A :class:`~heuristics.shipped.client.Client` whose classes are Kafka's own.

    Attributes
    ----------
    name, source : as users read them
    assignors : Kafka's class in `package`, by the name that members list
    artifact : in the Maven group ``org.apache.kafka``
    package : package of the classes
    caller : our Java class in ``sources/`` that calls them
    listed : releases to list even if they are not fetched
    oldest : the first release whose classes can be called
    owned : returns the owned partitions of a group that the assignor is given
    """

    keeps_time: ClassVar[bool] = False
    language: ClassVar[str] = "java"
    name: str
    source: str
    assignors: Mapping[str, str]
    artifact: str
    package: str
    caller: str
    listed: tuple[str, ...]
    oldest: str
    owned: Callable[[Group], Claims]
    repeatable: bool = True

    def versions(self) -> tuple[str, ...]:
        """Return `listed` and the fetched releases, newest first."""
        return newest_first([*self.listed, *jars.fetched_versions(self.artifact)])

    def one_round(self, group: Group, assignor: str, version: str) -> Plan:
        """Call Kafka's class once: cooperative-sticky withholds what members must first revoke.

        Raises
        ------
        Refused
            If a number does not fit into Kafka's 32 bits.
        Failed
            If the class throws.
        """
        return self.held(group, assignor, version).plan()

    def held(self, group: Group, assignor: str, version: str) -> JavaGroup:
        """Return the group as Java objects, for the assignor.

        Raises
        ------
        Refused, Failed
            As `one_round` raises them.
        """
        loaded = loader(self.artifact, version, self.caller)
        called = f"{self.package}.{self.assignors[assignor]}"
        return JavaGroup(group, self.owned(group), loaded, f"assay.{self.caller}", called)

    def missing(self, assignor: str, version: str) -> str | None:
        """Return why an assignor of a release cannot be called here; None if it can."""
        reason = self._too_old(version)
        if reason is not None:
            newest = f"assay fetch {self.name}@{self.listed[0]}"
            return f"{self.name}/{assignor}: {reason}: {newest}"
        return jars.missing(self.name, self.artifact, version, self.caller)

    def fetch(self, version: str) -> None:
        """Fetch the jars of a release.

        Raises
        ------
        BadInput
            If the release is too old, or cannot be fetched.
        """
        reason = self._too_old(version)
        if reason is not None:
            raise BadInput(f"{self.name}: {reason}")
        jars.fetch(self.artifact, version, self.caller)

    def _too_old(self, version: str) -> str | None:
        if jars.release(version) >= jars.release(self.oldest):
            return None
        first = f"{self.oldest} is the oldest whose classes can be called"
        return f"release {version} is too old, {first}"


# Called as the leader of a classic group does. Each member sends what a Java consumer with its
# claims and generation sends, in Kafka's own bytes: sticky in user data, cooperative-sticky in
# owned partitions too. A member with neither joins as a new consumer. Racks are sent since 3.5
# (KIP-881). Source: ``ConsumerProtocol``.
KAFKA_JAVA = JavaClient(
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
    listed=RELEASES,
    oldest="2.4.0",
    owned=attrgetter("claims"),
)


# Called as the broker does in a KIP-848 group. The previous target assignment, which the broker
# knows itself, is the valid owner of each partition. The assignor does not see claims that lost,
# nor topics that do not exist.
KAFKA_BROKER = JavaClient(
    name="kafka-broker",
    source="Apache Kafka's broker, org.apache.kafka:kafka-group-coordinator, in a JVM",
    assignors={"uniform": "UniformAssignor", "range": "RangeAssignor"},
    artifact="kafka-group-coordinator",
    package="org.apache.kafka.coordinator.group.assignor",
    caller="BrokerGroup",
    listed=RELEASES[:-1],
    oldest="3.9.0",
    owned=attrgetter("owned_claims"),
)


# Our assignors for the broker, of the module in java/; `make jar` packs the same classes.
JAVA_OPTIMAL = replace(
    KAFKA_BROKER,
    name="java-optimal",
    source="the optimum as an assignor of Kafka's broker, the classes of assay-assignor, in a JVM",
    assignors={
        "optimal": "OptimalPartitionAssignor",
        "optimal-racks": "OptimalRackPartitionAssignor",
    },
    package="assay.broker",
    listed=RELEASES[:1],
)


# The broker's task assignor for streams groups (KIP-1071), which is in the same jar.
BROKER_STREAMS = replace(
    KAFKA_BROKER,
    source="Kafka's broker for streams groups, org.apache.kafka:kafka-group-coordinator, in a JVM",
    assignors={"sticky": "streams.assignor.StickyTaskAssignor"},
    package="org.apache.kafka.coordinator.group",
    oldest="4.1.0",
)
