"""kafka-java: the assignors of Apache Kafka's own consumer, called in a JVM."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from groups.errors import BadInput
from heuristics.rounds import to_quiescence
from heuristics.shipped.client import Client, tiny
from heuristics.shipped.java import jars
from heuristics.shipped.java.java_group import Classes, JavaGroup

if TYPE_CHECKING:
    from groups import Group
    from heuristics.assignor import Plan

ARTIFACT, SOURCE = "kafka-clients", "ClientGroup"
VERSIONS = ("4.4.0", "4.0.2", "3.9.2", "2.8.2")
OLDEST = (2, 4)
ASSIGNORS = {
    "range": "RangeAssignor",
    "roundrobin": "RoundRobinAssignor",
    "sticky": "StickyAssignor",
    "cooperative-sticky": "CooperativeStickyAssignor",
}


def plan(group: Group, assignor: str, version: str) -> Plan:
    """Let Kafka's own class make the assignment, as the leader of a classic group does.

    Each member says what a Java consumer with its claims and generation says, in Kafka's own
    bytes: sticky in user data, cooperative-sticky in owned partitions too. A member with neither
    joins as a new consumer does. Racks travel since 3.5 (KIP-881). Cooperative-sticky runs until
    nobody must revoke.

    Source: ``org.apache.kafka.clients.consumer.*Assignor``, ``ConsumerProtocol``.

    Raises
    ------
    Refused
        Where a number does not fit into the 32 bits that Kafka has for it.
    Failed
        Where the class throws, or the rounds would go on for ever.
    """
    once = partial(one_round, assignor=assignor, version=version)
    if assignor == "cooperative-sticky":
        return to_quiescence(group, once, withhold=False)
    return once(group)


def one_round(group: Group, assignor: str, version: str) -> Plan:
    """Call the class once: cooperative-sticky holds back what members must first revoke.

    Raises
    ------
    Refused, Failed
        As `plan` does.
    """
    return held(group, assignor, version).plan()


def missing(assignor: str, version: str) -> str | None:
    """Say why an assignor of a release cannot be called here; None where it can."""
    if jars.release(version) < OLDEST:
        return f"kafka-java/{assignor}: {_too_old(version)}: assay fetch kafka-java@{VERSIONS[0]}"
    return jars.missing("kafka-java", ARTIFACT, version, SOURCE)


def prepare(assignor: str, version: str) -> None:
    """Start the JVM, load the release and run the assignor once."""
    one_round(tiny(), assignor, version)


def fetch(version: str) -> None:
    """Bring the jars of a release to this machine.

    Raises
    ------
    BadInput
        Where that cannot be done.
    """
    if jars.release(version) < OLDEST:
        raise BadInput(f"kafka-java: {_too_old(version)}")
    jars.fetch(ARTIFACT, version, SOURCE)


def held(group: Group, assignor: str, version: str) -> JavaGroup:
    """Return the group in the JVM, as its leader sees it.

    Raises
    ------
    Refused, Failed
        As `plan` does.
    """
    classes = Classes(ARTIFACT, version, SOURCE)
    name = f"org.apache.kafka.clients.consumer.{ASSIGNORS[assignor]}"
    return JavaGroup(group, group.claims, classes, name)


def _too_old(version: str) -> str:
    return f"release {version} has other classes, 2.4.0 is the oldest that can be called"


def _versions() -> tuple[str, ...]:
    return VERSIONS


CLIENT = Client(
    name="kafka-java",
    source="Apache Kafka's consumer, org.apache.kafka:kafka-clients, in a JVM",
    assignors=tuple(ASSIGNORS),
    versions=_versions,
    plan=plan,
    missing=missing,
    prepare=prepare,
    fetch=fetch,
)
