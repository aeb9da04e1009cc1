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


@dataclass(frozen=True)
class JavaClient:
    """A :class:`~heuristics.shipped.client.Client` whose classes are Kafka's own.

    Attributes
    ----------
    name, source : as users read them
    assignors : by the names that members list, Kafka's classes in `package`
    artifact : of the Maven group ``org.apache.kafka``
    package : of the classes
    caller : our Java class in ``sources/`` that calls them
    listed : releases that are listed whether they are here or not
    oldest : the first release whose classes can be called
    owned : what the members have, as the assignor is to see it
    """

    keeps_time: ClassVar[bool] = False
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
        """Return the releases to list, newest first, with those that were fetched besides."""
        return newest_first([*self.listed, *jars.fetched_versions(self.artifact)])

    def one_round(self, group: Group, assignor: str, version: str) -> Plan:
        """Call Kafka's class once: cooperative-sticky withholds what members must first revoke.

        Raises
        ------
        Refused
            If a number does not fit into the 32 bits that Kafka has for it.
        Failed
            If the class throws.
        """
        return self.held(group, assignor, version).plan()

    def held(self, group: Group, assignor: str, version: str) -> JavaGroup:
        """Return the group in the JVM, as the assignor sees it.

        Raises
        ------
        Refused, Failed
            As `one_round` does.
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
        """Bring the jars of a release to this machine.

        Raises
        ------
        BadInput
            If that cannot be done.
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


# As the leader of a classic group: each member says what a Java consumer with its claims and
# generation says, in Kafka's own bytes: sticky in user data, cooperative-sticky in owned
# partitions too. A member with neither joins as a new consumer does. Racks travel since 3.5
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
    listed=("4.4.0", "4.0.2", "3.9.2", "2.8.2"),
    oldest="2.4.0",
    owned=attrgetter("claims"),
)


# As the broker calls them in a KIP-848 group: the target assignment before is the valid owner of
# each partition; the broker knows it and asks nobody. It does not see claims that lost, nor topics
# that do not exist.
KAFKA_BROKER = JavaClient(
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


# Ours for the broker, of the module in java/; the jar of `make jar` has the same classes.
JAVA_OPTIMAL = replace(
    KAFKA_BROKER,
    name="java-optimal",
    source="the optimum as an assignor of Kafka's broker, the classes of assay-assignor, in a JVM",
    assignors={
        "optimal": "OptimalPartitionAssignor",
        "optimal-racks": "OptimalRackPartitionAssignor",
    },
    package="assay.broker",
    listed=("4.4.0",),
)


# Its assignor of tasks, of streams groups (KIP-1071), is in the same jar.
BROKER_STREAMS = replace(
    KAFKA_BROKER,
    source="Kafka's broker for streams groups, org.apache.kafka:kafka-group-coordinator, in a JVM",
    assignors={"sticky": "streams.assignor.StickyTaskAssignor"},
    package="org.apache.kafka.coordinator.group",
    oldest="4.1.0",
)
