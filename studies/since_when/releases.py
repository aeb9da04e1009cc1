"""Releases: what the registry of each client has, asked by the client's own tool."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from datetime import date
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from groups import BadInput
from heuristics.shipped.cache import newest_first
from heuristics.shipped.java import jars

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

SECONDS = 300.0
# Before these there is nothing to call: no such interface, or no sticky assignor.
OLDEST = {
    "kafka-clients": (2, 4),
    "kafka-python": (2, 0),
    "aiokafka": (0, 6),
    "confluent-kafka": (1, 6),
}
SARAMA = ("github.com/Shopify/sarama", "github.com/IBM/sarama")
# Archives that are built the same every time carry a date of long before.
BUILT_THE_SAME = 2012


@dataclass(frozen=True)
class Release:
    """One release of a client.

    Attributes
    ----------
    version : as its registry has it
    date : of the day it was made, where that can be told
    source : the Go module it is a version of; empty elsewhere
    """

    version: str
    date: str | None = None
    source: str = ""


def releases_of(client: str) -> list[Release]:
    """Return the releases of a client, oldest first, without candidates.

    Raises
    ------
    BadInput
        Where its registry does not answer.
    """
    return _LISTS[client]()


def date_in_archive(archive: Path) -> str | None:
    """Return the day of the newest file in a jar or a wheel, None where that is no real day."""
    with zipfile.ZipFile(archive) as opened:
        newest = max(one.date_time for one in opened.infolist())
    return date(*newest[:3]).isoformat() if newest[0] >= BUILT_THE_SAME else None


def oldest_first(versions: Iterable[str]) -> list[str]:
    """Return the releases among versions, without candidates."""
    found = [v for v in versions if v.replace(".", "").isdigit()]
    return list(reversed(newest_first(found)))


def asked(command: Sequence[str], folder: str | None = None) -> str:
    """Return what a tool prints.

    Raises
    ------
    BadInput
        Where it fails.
    """
    try:
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, timeout=SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise BadInput(str(error)) from None
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["failed"])[-1]
        raise BadInput(last.removeprefix("ERROR: "))
    return done.stdout


def _of_maven(artifact: str) -> list[Release]:
    from jgo.maven import MavenContext

    project = MavenContext().project(jars.KAFKA, artifact)
    project.update()
    versions = oldest_first(project.metadata.versions)
    return _since(artifact, versions)


def _of_pip(package: str) -> list[Release]:
    said = asked([sys.executable, "-m", "pip", "index", "versions", package])
    listed = next(line for line in said.splitlines() if line.startswith("Available versions:"))
    return _since(package, oldest_first(listed.partition(":")[2].replace(",", " ").split()))


def _since(name: str, versions: Sequence[str]) -> list[Release]:
    return [Release(v) for v in versions if jars.release(v) >= OLDEST.get(name, (0, 0))]


def _of_go(*modules: str) -> list[Release]:
    found = []
    with TemporaryDirectory() as folder:
        asked(["go", "mod", "init", "listing"], folder)
        for module in modules:
            said = asked(["go", "list", "-m", "-versions", module], folder).split()[1:]
            versions = oldest_first(v.removeprefix("v") for v in said)
            names = [f"{module}@v{version}" for version in versions]
            told = asked(["go", "list", "-m", "-f", "{{.Time}}", *names], folder)
            dates = [line[:10] for line in told.splitlines()]
            found += [Release(v, d, module) for v, d in zip(versions, dates, strict=True)]
    return found


def _of_npm(package: str) -> list[Release]:
    said = json.loads(asked(["npm", "view", package, "versions", "--json"]))
    return [Release(version) for version in oldest_first(said)]


_LISTS: dict[str, Callable[[], list[Release]]] = {
    "kafka-java": lambda: _of_maven("kafka-clients"),
    "kafka-broker": lambda: _of_maven("kafka-group-coordinator"),
    "kafka-python": lambda: _of_pip("kafka-python"),
    "aiokafka": lambda: _of_pip("aiokafka"),
    "librdkafka": lambda: _of_pip("confluent-kafka"),
    "franz-go": lambda: _of_go("github.com/twmb/franz-go"),
    "sarama": lambda: _of_go(*SARAMA),
    "kafkajs": lambda: _of_npm("kafkajs"),
}
