"""Strategies: Kafka's own assignors by the names that configurations have for them.

``partition.assignment.strategy`` of the client takes a class name, members list the strategy's own
name, ``group.remote.assignor`` names one of the broker's (KIP-848).
"""

from __future__ import annotations

from heuristics.shipped.java import kafka_broker, kafka_java

_ALONE = ("uniform", "sticky", "cooperative-sticky")


def _known() -> dict[str, str]:
    """Return the names, in lower case; a class name alone is the client's if both have one."""
    found = {}
    for client in (kafka_broker.CLIENT, kafka_java.CLIENT):
        for name, class_name in client.assignors.items():
            known = (class_name, f"{client.package}.{class_name}", name)
            ours = (said.lower() for said in known if said != name or name in _ALONE)
            found.update(dict.fromkeys(ours, f"{client.name}/{name}"))
    return found


_KNOWN = _known()
_CLASSES = (*kafka_java.CLIENT.assignors.values(), "UniformAssignor")


def names_like(name: str) -> tuple[str, ...]:
    """Return the names to suggest to somebody who wrote another: classes to who named a class."""
    return _CLASSES if "sign" in name.lower() else _ALONE


def known_as(name: str) -> str | None:
    """Return what a configuration's name for an assignor means here; None where it is not one.

    Upper and lower case are alike. What follows an @ is kept.

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
