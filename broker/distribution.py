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
            f"python -m broker --fetch {version}"
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
    own = f"kafka-clients-{release}.jar"
    jars = [jar for jar in noted(SERVER, release) if jar.name == own]
    jars = jars or noted("kafka-clients", release)
    if not jars:
        raise BadInput(
            f"the jars of kafka-clients {release} are not here{others_here('kafka-clients')}: "
            f"assay fetch kafka-java@{release}"
        )
    # Its classes come before those of the broker's own release; the broker's jars bring a log.
    return os.pathsep.join([*map(str, jars), classes])


def archive(version: str) -> Path:
    """Return where the classes of a release are kept for this Java, which may not be there.

    Raises
    ------
    BadInput
        As of `java`.
    """
    program, classes = java(version)
    return archive_of_classes("brokers", program.parents[1], version, classes)


def kept_classes(version: str) -> tuple[str, ...]:
    """Return the options with which a Java has the classes of a release at once, where kept.

    Its class path begins with that of the release; with another one it starts as without them.

    Raises
    ------
    BadInput
        As of `java`.
    """
    kept = archive(version)
    # Where they do not serve it, Java says so on standard output, which is that of a tool.
    return (f"-XX:SharedArchiveFile={kept}", "-Xlog:cds*=off") if kept.is_file() else ()


def command(java: Path, heap_mb: int, *told: str | Path) -> list[str | Path]:
    """Return the command that runs a class: more options, its name and its arguments."""
    return [java, *SHORT_LIVED, f"-Xmx{heap_mb}m", *LOG_SETTINGS, *told]


def tethered(
    command: Sequence[str | Path], classes: str, log: IO[bytes], folder: str | None = None
) -> subprocess.Popen[bytes]:
    """Start a Java that ends when its standard input does, and so with this process.

    Parameters
    ----------
    classes : class path
    log : takes its standard error
    folder : where it runs
    """
    return subprocess.Popen(
        [sys.executable, "-I", "-S", HERE / "tether.py", *command],
        env=os.environ | {"CLASSPATH": classes},
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=log,
        cwd=folder,
    )


# The first one that a release has; the later ones are where older releases have them.
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
        Where the tool is not known, or the release does not have it.
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


def with_end_of(lines: Iterable[str], reason: str, most: int) -> str:
    """Return a reason and the last lines of a log under it, of those that say something."""
    last = [line for line in lines if line.strip()][-most:]
    said = "; the end of its log:\n" + "\n".join(last) if last else ""
    return f"{reason}{said}"
