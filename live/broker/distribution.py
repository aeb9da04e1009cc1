"""Distribution: the jars that a broker and the console tools run on, by Maven coordinates."""

from __future__ import annotations

import os
from pathlib import Path

from groups.errors import BadInput
from heuristics.shipped.java.jars import KAFKA, NO_JAVA, fetched, noted, others_here
from heuristics.shipped.java.jars import release as release_of
from heuristics.shipped.java.runtime import java_home

NEWEST = "4.3.1"
SERVER = "kafka_2.13"
LOGGING = "org.apache.logging.log4j:log4j-slf4j-impl:2.25.4"
# Since then the server logs with Log4j 2, and brings no binding to it.
LOG4J_2 = (4, 0)
HERE = Path(__file__).parent
# What its Java is told of logging: warnings and errors, to standard error.
LOG_SETTINGS = (
    f"-Dlog4j2.configurationFile={HERE / 'log4j2.properties'}",
    f"-Dlog4j.configuration=file:{HERE / 'log4j.properties'}",
)


def fetch(version: str = NEWEST) -> None:
    """Bring the jars of a release to this machine, some 60 MB, where they are not here.

    Raises
    ------
    BadInput
        Where there is no such release, or no way to it.
    """
    beside = [f"{KAFKA}:kafka-tools:{version}"]
    if release_of(version) >= LOG4J_2:
        beside.append(LOGGING)
    fetched(KAFKA, SERVER, version, beside)


def java(version: str) -> tuple[Path, str]:
    """Return the Java program and the class path that a release runs with; fetches nothing.

    Raises
    ------
    BadInput
        Where the jars or a Java are not here; the message ends with the command to bring them.
    """
    jars = noted(SERVER, version)
    if not jars:
        raise BadInput(
            f"the jars of a Kafka {version} broker are not here{others_here(SERVER)}: "
            f"python -m live.broker --fetch {version}"
        )
    home = java_home()
    if home is None:
        raise BadInput(NO_JAVA)
    return home / "bin" / "java", os.pathsep.join(map(str, jars))


def classes_of_client(release: str | None) -> str:
    """Return the class path of a consumer of a release, the broker's newest where it is None.

    Raises
    ------
    BadInput
        Where the jars or a Java are not here; the message ends with the command to bring them.
    """
    _, classes = java(NEWEST)
    if release is None:
        return classes
    jars = noted("kafka-clients", release)
    if not jars:
        raise BadInput(
            f"the jars of kafka-clients {release} are not here{others_here('kafka-clients')}: "
            f"assay fetch kafka-java@{release}"
        )
    # Its classes come before those of the broker's own release; the broker's jars bring a log.
    return os.pathsep.join([*map(str, jars), classes])
