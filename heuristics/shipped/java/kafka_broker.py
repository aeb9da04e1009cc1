"""kafka-broker: the assignors of Apache Kafka's broker (KIP-848), called in a JVM."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from groups import Claims
from groups.errors import BadInput
from heuristics.shipped.client import Client, tiny
from heuristics.shipped.java import jars
from heuristics.shipped.java.java_group import Classes, JavaGroup

if TYPE_CHECKING:
    from groups import Group
    from heuristics.assignor import Plan

ARTIFACT, SOURCE = "kafka-group-coordinator", "BrokerGroup"
VERSIONS = ("4.4.0", "4.0.2", "3.9.2")
OLDEST = (3, 9)
ASSIGNORS = {"uniform": "UniformAssignor", "range": "RangeAssignor"}


def plan(group: Group, assignor: str, version: str) -> Plan:
    """Let Kafka's own class make the target assignment, as the broker of a KIP-848 group does.

    The target assignment before is the valid owner of each partition: the broker knows it and
    asks nobody. It does not see claims that lost, nor topics that do not exist.

    Source: ``org.apache.kafka.coordinator.group.assignor.*Assignor``, KIP-848.

    Raises
    ------
    Failed
        Where the class throws.
    """
    return held(group, assignor, version).plan()


def missing(assignor: str, version: str) -> str | None:
    """Say why an assignor of a release cannot be called here; None where it can."""
    if jars.release(version) < OLDEST:
        fetched = f"assay fetch kafka-broker@{VERSIONS[0]}"
        return f"kafka-broker/{assignor}: {_too_old(version)}: {fetched}"
    return jars.missing("kafka-broker", ARTIFACT, version, SOURCE)


def prepare(assignor: str, version: str) -> None:
    """Start the JVM, load the release and run the assignor once."""
    plan(tiny(), assignor, version)


def fetch(version: str) -> None:
    """Bring the jars of a release to this machine.

    Raises
    ------
    BadInput
        Where that cannot be done.
    """
    if jars.release(version) < OLDEST:
        raise BadInput(f"kafka-broker: {_too_old(version)}")
    jars.fetch(ARTIFACT, version, SOURCE)


def held(group: Group, assignor: str, version: str) -> JavaGroup:
    """Return the group in the JVM as the broker sees it, each partition with its valid owner.

    Raises
    ------
    Refused, Failed
        As `plan` does.
    """
    classes = Classes(ARTIFACT, version, SOURCE)
    name = f"org.apache.kafka.coordinator.group.assignor.{ASSIGNORS[assignor]}"
    return JavaGroup(group, _valid(group), classes, name)


def _valid(group: Group) -> Claims:
    """The valid owners, as claims."""
    held = np.flatnonzero(group.owner >= 0)
    held = held[np.argsort(group.owner[held], kind="stable")]
    return Claims(group.owner[held], group.topic[held], group.number[held])


def _too_old(version: str) -> str:
    return f"release {version} has no such classes, 3.9.0 is the oldest that can be called"


def _versions() -> tuple[str, ...]:
    return VERSIONS


CLIENT = Client(
    name="kafka-broker",
    source="Apache Kafka's broker, org.apache.kafka:kafka-group-coordinator, in a JVM",
    assignors=tuple(ASSIGNORS),
    versions=_versions,
    plan=plan,
    missing=missing,
    prepare=prepare,
    fetch=fetch,
)
