"""Streams: a real Kafka Streams application, whose processes are children of this one."""

from __future__ import annotations

import os
import signal
import tempfile
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from broker import distribution
from broker.distribution import with_end_of
from groups.errors import BadInput
from heuristics.shipped.java.jars import compile_java, noted, others_here

if TYPE_CHECKING:
    from typing import Self

SOURCE = Path(__file__).with_name("StreamsApplication.java")
ARTIFACT = "kafka-streams"
COMMIT_MS = 200
HEAP_MB = 128
STOP_SECONDS = 20.0


@cache
def _compiled(version: str) -> tempfile.TemporaryDirectory[str]:
    folder = tempfile.TemporaryDirectory(prefix="assay-streams-classes-")
    reason = compile_java([SOURCE], noted(ARTIFACT, version), Path(folder.name))
    if reason is not None:
        raise BadInput(f"{SOURCE.name}: {reason}")
    return folder


class StreamsProcess:
    """A process of the application in `StreamsApplication.java`; leaving ``with`` kills it.

    It reads the topic ``orders``. Subtopology 0 has a task for each of its partitions and keeps no
    state; subtopology 1 has four tasks and a store.

    Parameters
    ----------
    bootstrap : ``host:port`` of a broker
    application : its application id, which is the group's name
    threads : number of threads, each a member of the group
    protocol : ``streams`` (KIP-1071) or ``classic``
    version : release of Kafka Streams
    settings : settings of the application, which override ours

    Raises
    ------
    BadInput
        If the jars, a Java or a compiler are missing.
    """

    def __init__(
        self,
        bootstrap: str,
        application: str,
        *,
        threads: int = 2,
        protocol: str = "streams",
        version: str = distribution.BROKER_RELEASE,
        settings: dict[str, str] | None = None,
    ) -> None:
        java, logging_classes = distribution.java(distribution.BROKER_RELEASE)
        jars = noted(ARTIFACT, version)
        if not jars:
            raise BadInput(
                f"the jars of {ARTIFACT} {version} are not here{others_here(ARTIFACT)}: "
                f"python -m broker --fetch-streams {version}"
            )
        classes = [_compiled(version).name, *map(str, jars), logging_classes]
        self._folder = tempfile.TemporaryDirectory(
            prefix="assay-streams-", ignore_cleanup_errors=True
        )
        properties = {
            "bootstrap.servers": bootstrap,
            "application.id": application,
            "group.protocol": protocol,
            "num.stream.threads": str(threads),
            "state.dir": f"{self._folder.name}/state",
            "auto.offset.reset": "earliest",
            "commit.interval.ms": str(COMMIT_MS),
            **(settings or {}),
        }
        self._log = Path(self._folder.name) / "log"
        with self._log.open("wb") as log:
            arguments = (f"{key}={value}" for key, value in properties.items())
            command = distribution.command(java, HEAP_MB, SOURCE.stem, *arguments)
            self._process = distribution.tethered(command, os.pathsep.join(classes), log)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def stop(self) -> None:
        """Make it leave its group and end."""
        self._process.send_signal(signal.SIGTERM)
        self._process.wait(STOP_SECONDS)
        self.kill()

    def kill(self) -> None:
        """Kill it at once, without leaving its group, and remove its state."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()
        self._folder.cleanup()

    def log(self) -> str:
        """Return the last lines of its log."""
        lines = self._log.read_text(encoding="utf-8", errors="replace").splitlines()
        return with_end_of(lines, "the Streams application")
