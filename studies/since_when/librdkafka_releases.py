"""LibrdkafkaReleases: the library of each release of confluent-kafka, under its own version."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from groups import BadInput
from studies.since_when.wheels import OF_OLD, unpacked

PROGRAM = Path(__file__).with_name("librdkafka_consumer.py")
VERSION = (
    "import ctypes, sys; told = ctypes.CDLL(sys.argv[1]).rd_kafka_version_str; "
    "told.restype = ctypes.c_char_p; print(told().decode())"
)


@dataclass(frozen=True)
class LibraryDriver:
    """A :class:`~heuristics.shipped.consumers.consumer.Driver` of one library.

    Attributes
    ----------
    library : its file
    version : what it calls itself
    """

    library: Path
    version: str

    def versions(self) -> tuple[str, ...]:
        """Return the one version."""
        return (self.version,)

    def command(self, version: str) -> tuple[str, ...]:
        """Return what starts the program."""
        return (sys.executable, str(PROGRAM), str(self.library))

    def missing(self, assignor: str, version: str) -> str | None:
        """Return None: the library is here."""
        return None

    def fetch(self, version: str) -> None:
        """Bring nothing."""


def library_in(folder: Path) -> LibraryDriver:
    """Return the library in the folder of an unpacked wheel.

    Raises
    ------
    BadInput
        Where there is none, or it does not load here.
    """
    found = sorted(folder.glob("confluent_kafka.libs/librdkafka*"))
    if not found:
        raise BadInput("its wheel holds no librdkafka")
    done = subprocess.run(
        [sys.executable, "-I", "-c", VERSION, str(found[0])],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise BadInput(f"its library does not load: {done.stderr.strip().splitlines()[-1]}")
    return LibraryDriver(found[0], done.stdout.strip())


def release(version: str) -> Path:
    """Return the folder of a release of confluent-kafka.

    Raises
    ------
    BadInput
        Where there is no wheel of it.
    """
    return unpacked("confluent-kafka", version, ("", OF_OLD))
