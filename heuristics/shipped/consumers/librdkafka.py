"""librdkafka: the C library under confluent-kafka and many other clients."""

from __future__ import annotations

import ctypes
import importlib.metadata
import importlib.util
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from groups import BadInput
from heuristics.shipped.client import Client, tiny
from heuristics.shipped.consumers.probed import INSTALL, missing_probe, probe_plan

if TYPE_CHECKING:
    from groups import Group
    from heuristics.assignor import Plan

PROGRAM = Path(__file__).parent / "drivers" / "librdkafka" / "driver.py"
# The version that is listed where the library is not installed.
NEWEST = "2.16.0"
COOPERATIVE = "cooperative-sticky"


def versions() -> tuple[str, ...]:
    """Return the version of the library that is installed with confluent-kafka."""
    return (_installed() or NEWEST,)


@cache
def _installed() -> str | None:
    """Return the version of the library, None where there is none.

    The library itself is asked: confluent-kafka counts on its own (its 2.16.1 holds librdkafka
    2.16.0), and loading all of it takes twenty times as long.
    """
    try:
        files = importlib.metadata.files("confluent-kafka") or []
    except importlib.metadata.PackageNotFoundError:
        return None
    for file in files:
        if file.name.startswith("librdkafka") and file.suffix != ".py":
            try:
                library = ctypes.CDLL(str(file.locate()))
            except OSError:
                continue
            library.rd_kafka_version_str.restype = ctypes.c_char_p
            return str(library.rd_kafka_version_str().decode())
    return None


def plan(group: Group, name: str, version: str) -> Plan:
    """Make the plan that a consumer of the library makes as the leader of the group."""
    cooperative = name == COOPERATIVE
    return probe_plan(
        group,
        command=(sys.executable, str(PROGRAM)),
        assignor=name,
        protocol=name,
        cooperative=cooperative,
        user_data="assignment" if cooperative else "none",
    )


def missing(name: str, version: str) -> str | None:
    """Say what is not installed."""
    if importlib.util.find_spec("confluent_kafka") is None:
        return f"confluent-kafka is not installed: {INSTALL}"
    if version != _installed():
        return f"confluent-kafka here has librdkafka {_installed()}; for another: {INSTALL}"
    return missing_probe()


def prepare(name: str, version: str) -> None:
    """Start a consumer."""
    plan(tiny(), name, version)


def fetch(version: str) -> None:
    """Bring nothing: the library comes with the extra.

    Raises
    ------
    BadInput
        Where it is not there, or in another version.
    """
    reason = missing(COOPERATIVE, version)
    if reason is not None:
        raise BadInput(reason)


CLIENT = Client(
    "librdkafka",
    "librdkafka of confluent-kafka, by the probe",
    ("range", "roundrobin", COOPERATIVE),
    versions,
    plan,
    missing,
    prepare,
    fetch,
)
