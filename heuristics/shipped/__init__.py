"""SHIPPED: the code that people run, called as it is; one client a file.

A new client is a new file in the room of its kind and one line in ``CLIENTS``.
"""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import TYPE_CHECKING

from groups import BadInput
from heuristics.nearest import nearest
from heuristics.shipped.client import Client, assignor_of
from heuristics.shipped.consumers import franz_go, kafkajs, librdkafka, sarama
from heuristics.shipped.java import kafka_broker, kafka_java
from heuristics.shipped.python import aiokafka, kafka_python
from heuristics.shipped.strategies import known_as

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from heuristics.assignor import Assignor

__all__ = ["CLIENTS", "Client", "client_and_version", "client_named", "listed", "shipped_named"]

_CLIENTS: tuple[Client, ...] = (
    kafka_java.CLIENT,
    kafka_broker.CLIENT,
    kafka_python.CLIENT,
    aiokafka.CLIENT,
    librdkafka.CLIENT,
    franz_go.CLIENT,
    sarama.CLIENT,
    kafkajs.CLIENT,
)

CLIENTS: Mapping[str, Client] = MappingProxyType({client.name: client for client in _CLIENTS})

ALL = "assay assignors lists all"
_VERSION = re.compile(r"[0-9][0-9A-Za-z.+-]{0,99}")


def listed() -> Iterator[Assignor]:
    """Return the assignors to list: of every client in each of the versions it lists."""
    for client in CLIENTS.values():
        for version in client.versions():
            for name in client.assignors:
                yield assignor_of(client, name, version)


def shipped_named(name: str) -> Assignor:
    """Return the assignor of a name such as ``kafka-java/sticky@4.4.0``.

    Without a version: that of the newest that can be called here.

    Raises
    ------
    BadInput
        Where there is no such client, assignor or version.
    """
    before, _, after = name.partition("/")
    assignor, _, version = after.partition("@")
    client = CLIENTS.get(before)
    if client is None or assignor not in client.assignors:
        asked, known = name.partition("@")[0], CLIENTS.values() if client is None else [client]
        near = nearest(asked, (f"{one.name}/{a}" for one in known for a in one.assignors))
        raise BadInput(f"assignor: unknown name {name!r}; nearest: {near}; {ALL}")
    if not version:
        versions = client.versions()
        here = (v for v in versions if client.missing(assignor, v) is None)
        version = next(here, versions[0])
    return assignor_of(client, assignor, _version(version, name))


def client_and_version(name: str) -> tuple[Client, str]:
    """Return the client of a name such as ``kafka-java@4.4.0``, and which version of it.

    What stands between a slash and the @ counts for nothing, and an assignor as people know it,
    ``cooperative-sticky``, means its client; without a version it is the first that is listed.

    Raises
    ------
    BadInput
        Where there is no such client, or what follows the @ is no version.
    """
    before, _, version = (known_as(name) or name).partition("@")
    client = client_named(before.partition("/")[0])
    return client, _version(version or client.versions()[0], name)


def client_named(name: str) -> Client:
    """Return the client of that name.

    Raises
    ------
    BadInput
        Where there is none.
    """
    if name not in CLIENTS:
        raise BadInput(f"client: unknown name {name!r}; nearest: {nearest(name, CLIENTS)}; {ALL}")
    return CLIENTS[name]


def _version(version: str, name: str) -> str:
    if not _VERSION.fullmatch(version) or ".." in version:
        raise BadInput(f"assignor: {name!r} has no version after the @, as in 4.4.0")
    return version
