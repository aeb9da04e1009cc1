"""Consumer: librdkafka, whose consumer leads groups through the probe."""

from __future__ import annotations

import ctypes
import importlib.metadata
import importlib.util
import math
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from groups import Assignment, BadInput
from groups.extras import command_for
from heuristics.assignor import Plan
from heuristics.shipped.client import COOPERATIVE

if TYPE_CHECKING:
    from groups import Group


INSTALL = command_for("clients")
PROGRAM = Path(__file__).parent / "drivers" / "librdkafka" / "driver.py"
# The version to list if the library is not installed.
NEWEST = "2.16.0"


@dataclass(frozen=True)
class Consumer:
    """A :class:`~heuristics.shipped.client.Client` that is called through the probe.

    Attributes
    ----------
    command : starts a program that joins a group with the library's consumer and polls for ever;
        bootstrap.servers, group id and assignor are appended
    name, source : as users read them
    assignors : the names that members list
    """

    keeps_time: ClassVar[bool] = True
    repeatable: ClassVar[bool] = True
    language: ClassVar[str] = "python"
    name: ClassVar[str] = "librdkafka"
    source: ClassVar[str] = "librdkafka of confluent-kafka, by the probe"
    assignors: ClassVar[tuple[str, ...]] = ("range", "roundrobin", COOPERATIVE)
    command: tuple[str, ...]

    def versions(self) -> tuple[str, ...]:
        """Return the version of the library that is installed, or else the newest."""
        return (_installed() or NEWEST,)

    def one_round(
        self,
        group: Group,
        assignor: str,
        version: str,
        *,
        seconds: float = math.inf,
        spent: float = 0.0,
    ) -> Plan:
        """Let a consumer lead the group, and return its plan.

        A cooperative assignor withholds what members must first revoke.

        Parameters
        ----------
        seconds, spent : as in :meth:`~heuristics.shipped.probe.round.Round.late`

        Raises
        ------
        Failed
            If the consumer makes no plan, or dies. Late if its time is up.
        Unavailable
            If it does not join.
        """
        if not group.members:
            return Plan(Assignment.from_holdings(group, []))
        # Imported late, because the probe loads asyncio and kafka-python.
        from heuristics.shipped.consumers.driver_process import driver_process

        driver = driver_process(self.command, assignor)
        held, took = driver.plan(group, assignor, seconds=seconds, spent=spent)
        return Plan(Assignment.from_holdings(group, held), seconds=took)

    def missing(self, assignor: str, version: str) -> str | None:
        """Return what is not installed; None if nothing is missing."""
        if importlib.util.find_spec("confluent_kafka") is None:
            return f"confluent-kafka is not installed: {INSTALL}"
        if version != _installed():
            return f"confluent-kafka here has librdkafka {_installed()}; for another: {INSTALL}"
        return missing_probe()

    def fetch(self, version: str) -> None:
        """Check that the library is installed; nothing is fetched.

        Raises
        ------
        BadInput
            If it is not installed, or another version is.
        """
        reason = self.missing("range", version)
        if reason is not None:
            raise BadInput(reason)


def missing_probe() -> str | None:
    """Return why the probe cannot run here, or None: it needs kafka-python for the protocol."""
    if importlib.util.find_spec("kafka") is None:
        return f"kafka-python is not installed: {INSTALL}"
    return None


@cache
def _installed() -> str | None:
    """Return the version of the library, None if there is none.

    The library itself is asked, because confluent-kafka has version numbers of its own (its 2.16.1
    holds librdkafka 2.16.0), and loading all of it takes twenty times as long.
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


LIBRDKAFKA = Consumer((sys.executable, str(PROGRAM)))
