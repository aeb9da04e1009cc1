"""Distribution: the jars that a broker and the console tools run on, by Maven coordinates."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import IO, TYPE_CHECKING
from zipfile import ZipFile

from groups.errors import BadInput
from heuristics.shipped.cache import archive_of_classes
from heuristics.shipped.java.jars import (
    KAFKA,
    NO_JAVA,
    SHORT_LIVED,
    fetched,
    java_home,
    noted,
    others_here,
)
from heuristics.shipped.java.jars import release as release_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

# Of the brokers that tests start, unless they name another.
BROKER_RELEASE = "4.3.1"
SERVER = "kafka_2.13"
LOGGING = "org.apache.logging.log4j:log4j-slf4j-impl:2.25.4"
# First release that logs with Log4j 2, whose binding does not come with the server.
LOG4J_2 = (4, 0)
HERE = Path(__file__).parent
# Options of Java: log warnings and errors to standard error.
LOG_SETTINGS = (
    f"-Dlog4j2.configurationFile={HERE / 'log4j2.properties'}",
    f"-Dlog4j.configuration=file:{HERE / 'log4j.properties'}",
)


def fetch(version: str = BROKER_RELEASE) -> None:
    """Fetch the jars of a release, some 60 MB, unless they are here.

    Raises
    ------
    BadInput
        If there is no such release, or it cannot be fetched.
    """
    beside = [f"{KAFKA}:kafka-tools:{version}"]
    if release_of(version) >= LOG4J_2:
        beside.append(LOGGING)
    fetched(KAFKA, SERVER, version, beside)


def java(version: str) -> tuple[Path, str]:
    """Return the Java program and the class path for a release; nothing is fetched.

    Raises
    ------
    BadInput
        If the jars or a Java are missing; the message ends with the command to fetch them.
    """
    jars = noted(SERVER, version)
    if not jars:
        raise BadInput(
            f"the jars of a Kafka {version} broker are not here{others_here(SERVER)}: "
            f"python -m broker --fetch {version}"
        )
    home = java_home()
    if home is None:
        raise BadInput(NO_JAVA)
    return home / "bin" / "java", os.pathsep.join(map(str, jars))


def classes_of_client(release: str | None) -> str:
    """Return the class path of a consumer of a release; None: the broker's newest.

    Raises
    ------
    BadInput
        If the jars or a Java are missing; the message ends with the command to fetch them.
    """
    _, classes = java(BROKER_RELEASE)
    if release is None:
        return classes
    own = f"kafka-clients-{release}.jar"
    jars = [jar for jar in noted(SERVER, release) if jar.name == own]
    jars = jars or noted("kafka-clients", release)
    if not jars:
        raise BadInput(
            f"the jars of kafka-clients {release} are not here{others_here('kafka-clients')}: "
            f"assay fetch kafka-java@{release}"
        )
    # The client's classes must come first; the broker's jars are there for their logging.
    return os.pathsep.join([*map(str, jars), classes])


def archive(version: str) -> Path:
    """Return the path of a release's archive of loaded classes for this Java, which may not exist.

    Raises
    ------
    BadInput
        As `java` raises it.
    """
    program, classes = java(version)
    return archive_of_classes("brokers", program.parents[1], version, classes)


def kept_classes(version: str) -> tuple[str, ...]:
    """Return the options by which Java uses the archive of a release; empty if there is none.

    The class path must begin with that of the release; for others, Java ignores the archive.

    Raises
    ------
    BadInput
        As `java` raises it.
    """
    kept = archive(version)
    # Without the second option, Java warns on standard output, which belongs to a tool's answer.
    return (f"-XX:SharedArchiveFile={kept}", "-Xlog:cds*=off") if kept.is_file() else ()


def command(java: Path, heap_mb: int, *told: str | Path) -> list[str | Path]:
    """Return the command that runs a Java class.

    Parameters
    ----------
    told : further options, the class's name and its arguments
    """
    return [java, *SHORT_LIVED, f"-Xmx{heap_mb}m", *LOG_SETTINGS, *told]


def tethered(
    command: Sequence[str | Path], classes: str, log: IO[bytes], folder: str | None = None
) -> subprocess.Popen[bytes]:
    """Start a Java that ends when its standard input does, and so with this process.

    Parameters
    ----------
    classes : class path
    log : file for its standard error
    folder : its working directory
    """
    return subprocess.Popen(
        [sys.executable, "-I", "-S", HERE / "tether.py", *command],
        env=os.environ | {"CLASSPATH": classes},
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=log,
        cwd=folder,
    )


# Main classes of each tool, newest first: a release uses the first one that it has.
MAIN = {
    "acls": ("org.apache.kafka.tools.AclCommand", "kafka.admin.AclCommand"),
    "configs": ("org.apache.kafka.tools.ConfigCommand", "kafka.admin.ConfigCommand"),
    "consumer-groups": (
        "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand",
        "kafka.admin.ConsumerGroupCommand",
    ),
    "get-offsets": ("org.apache.kafka.tools.GetOffsetShell",),
    "groups": ("org.apache.kafka.tools.GroupsCommand",),
    "share-groups": ("org.apache.kafka.tools.consumer.group.ShareGroupCommand",),
    "streams-groups": ("org.apache.kafka.tools.streams.StreamsGroupCommand",),
    "topics": ("org.apache.kafka.tools.TopicCommand", "kafka.admin.TopicCommand"),
}


@cache
def main_class(name: str, classes: str) -> str:
    """Return the main class of a tool in a class path.

    Raises
    ------
    BadInput
        If the tool is unknown, or the release does not have it.
    """
    if name not in MAIN:
        raise BadInput(f"{name}: not a tool; there are {', '.join(sorted(MAIN))}")
    jars = [jar for jar in classes.split(os.pathsep) if "kafka-tools-" in jar or "kafka_2" in jar]
    there: set[str] = set()
    for jar in jars:
        with ZipFile(jar) as opened:
            there.update(opened.namelist())
    for main in MAIN[name]:
        if f"{main.replace('.', '/')}.class" in there:
            return main
    raise BadInput(f"{name}: this release of Kafka does not have it")


LAST_LINES = 12


def with_end_of(lines: Iterable[str], reason: str) -> str:
    """Return a reason, followed by the last lines of a log that are not blank."""
    last = [line for line in lines if line.strip()][-LAST_LINES:]
    said = "; the end of its log:\n" + "\n".join(last) if last else ""
    return f"{reason}{said}"
