"""librdkafka: the C library under confluent-kafka and many other clients."""

from __future__ import annotations

import ctypes
import importlib.metadata
import importlib.util
import sys
from functools import cache
from pathlib import Path

from groups import BadInput
from heuristics.shipped.consumers.consumer import INSTALL, Consumer, missing_probe

PROGRAM = Path(__file__).parent / "drivers" / "librdkafka" / "driver.py"
# The version that is listed where the library is not installed.
NEWEST = "2.16.0"


class LibrdkafkaDriver:
    """The driver, of the library that is installed with confluent-kafka."""

    def versions(self) -> tuple[str, ...]:
        """Return the version of the library that is installed, or else the newest."""
        return (_installed() or NEWEST,)

    def command(self, version: str) -> tuple[str, ...]:
        """Return what starts the program."""
        return (sys.executable, str(PROGRAM))

    def missing(self, assignor: str, version: str) -> str | None:
        """Return what is not installed."""
        if importlib.util.find_spec("confluent_kafka") is None:
            return f"confluent-kafka is not installed: {INSTALL}"
        if version != _installed():
            return f"confluent-kafka here has librdkafka {_installed()}; for another: {INSTALL}"
        return None

    def fetch(self, version: str) -> None:
        """Bring nothing: the library comes with the extra.

        Raises
        ------
        BadInput
            Where it is not there, or in another version.
        """
        reason = self.missing("range", version) or missing_probe()
        if reason is not None:
            raise BadInput(reason)


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


CLIENT = Consumer(
    name="librdkafka",
    source="librdkafka of confluent-kafka, by the probe",
    assignors={"range": "none", "roundrobin": "none", "cooperative-sticky": "assignment"},
    driver=LibrdkafkaDriver(),
)
