"""SHIPPED: the code that people run, called as it is.

To add a client, add it to the file of its kind and to ``_CLIENTS``.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from groups import BadInput
from heuristics.nearest import nearest
from heuristics.shipped.classic_task_assignor import KAFKA_STREAMS
from heuristics.shipped.client import assignor_of, with_version
from heuristics.shipped.consumers.consumer import LIBRDKAFKA
from heuristics.shipped.consumers.library import FRANZ_GO, KAFKAJS, SARAMA
from heuristics.shipped.java.java_client import JAVA_OPTIMAL, KAFKA_BROKER, KAFKA_JAVA
from heuristics.shipped.python_client import AIOKAFKA, KAFKA_PYTHON

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from heuristics.assignor import Assignor
    from heuristics.shipped.client import Client


# Names that mean an assignor of Kafka or ours without a client's name in front.
_ALONE = ("uniform", "sticky", "cooperative-sticky", *JAVA_OPTIMAL.assignors)


def _known() -> dict[str, str]:
    """Return the client and assignor of each name in lower case.

    A class name that both the broker and the client have means the client's.
    """
    found = {}
    for client in (JAVA_OPTIMAL, KAFKA_BROKER, KAFKA_JAVA):
        for name, class_name in client.assignors.items():
            known = (class_name, f"{client.package}.{class_name}", name)
            ours = (said.lower() for said in known if said != name or name in _ALONE)
            found.update(dict.fromkeys(ours, f"{client.name}/{name}"))
    # Our assignors for consumers compute the same as ours for brokers.
    classes = ("OptimalAssignor", "CooperativeOptimalAssignor")
    listed = ("assay-optimal", *classes, *(f"assay.consumer.{one}" for one in classes))
    found.update((one.lower(), f"{JAVA_OPTIMAL.name}/optimal") for one in listed)
    return found


_KNOWN = _known()
_CLASSES = (*KAFKA_JAVA.assignors.values(), "UniformAssignor")


def names_like(name: str) -> tuple[str, ...]:
    """Return names to suggest for an unknown one: class names if it looks like a class."""
    return _CLASSES if "sign" in name.lower() else _ALONE


def known_as(name: str) -> str | None:
    """Return our name for an assignor's name in Kafka's configuration; None if it is not one.

    ``partition.assignment.strategy`` of the client takes a class name, members list the strategy's
    short name, and ``group.remote.assignor`` names one of the broker's (KIP-848).
    Case is ignored. A version after an @ is kept.

    Examples
    --------
    >>> known_as("CooperativeStickyAssignor")
    'kafka-java/cooperative-sticky'
    >>> known_as("uniform@4.0.2")
    'kafka-broker/uniform@4.0.2'
    """
    said, at, version = name.partition("@")
    meant = _KNOWN.get(said.lower())
    return None if meant is None else f"{meant}{at}{version}"


_CLIENTS: tuple[Client, ...] = (
    KAFKA_JAVA,
    KAFKA_BROKER,
    JAVA_OPTIMAL,
    KAFKA_PYTHON,
    AIOKAFKA,
    LIBRDKAFKA,
    FRANZ_GO,
    SARAMA,
    KAFKAJS,
)

CLIENTS: Mapping[str, Client] = MappingProxyType({client.name: client for client in _CLIENTS})

# Kafka Streams assigns tasks to threads, so it is no client here, but it is fetched like one.
FETCHED: Mapping[str, Client] = MappingProxyType({**CLIENTS, KAFKA_STREAMS.name: KAFKA_STREAMS})

ALL = "assay assignors lists all"


def listed() -> Iterator[Assignor]:
    """Yield every assignor of every client, in each version that the client lists."""
    for client in CLIENTS.values():
        for version in client.versions():
            for name in client.assignors:
                yield assignor_of(client, name, version)


def shipped_named(name: str) -> Assignor:
    """Return the assignor of a name such as ``kafka-java/sticky@4.4.0``.

    Without a version, it is the newest that can be called here.

    Raises
    ------
    BadInput
        If there is no such client, assignor or version.
    """
    before, _, after = name.partition("/")
    assignor = after.partition("@")[0]
    client = CLIENTS.get(before)
    if client is None or assignor not in client.assignors:
        asked, known = name.partition("@")[0], CLIENTS.values() if client is None else [client]
        near = nearest(asked, (f"{one.name}/{a}" for one in known for a in one.assignors))
        raise BadInput(f"assignor: unknown name {name!r}; nearest: {near}; {ALL}")
    _, version = with_version(name)
    if version is None:
        versions = client.versions()
        here = (v for v in versions if client.missing(assignor, v) is None)
        version = next(here, versions[0])
    return assignor_of(client, assignor, version)


def client_and_version(name: str) -> tuple[Client, str]:
    """Return the client and the version of a name such as ``kafka-java@4.4.0``.

    An assignor between a slash and the @ is ignored, and a name of Kafka's configuration, such as
    ``cooperative-sticky``, means its client. Without a version, it is the first that is listed.

    Raises
    ------
    BadInput
        If there is no such client, or what follows the @ is no version.
    """
    # The broker's assignor of tasks is in the broker's jar.
    said = name.replace(f"{KAFKA_STREAMS.name}/sticky", KAFKA_BROKER.name)
    before, version = with_version(known_as(said) or said)
    client = client_named(before.partition("/")[0])
    return client, version or client.versions()[0]


def client_named(name: str) -> Client:
    """Return the client of that name.

    Raises
    ------
    BadInput
        If there is none.
    """
    if name not in FETCHED:
        raise BadInput(f"client: unknown name {name!r}; nearest: {nearest(name, FETCHED)}; {ALL}")
    return FETCHED[name]
