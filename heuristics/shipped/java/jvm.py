"""JVM: one in a process, with a class loader for each release of Kafka's classes."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import gettempdir
from typing import Any

from groups import Failed
from groups.errors import BadInput
from heuristics.shipped.java.jars import NO_JAVA, compiled, noted
from heuristics.shipped.java.runtime import java_home, java_version

OPTIONS = ("-XX:+UseSerialGC", "-Xmx4g")
WARNS_OF_NATIVE_CALLS = 24


@cache
def loader(artifact: str, version: str, source: str) -> Any:
    """Return the class loader of an artifact in one version, our classes included.

    Its parent is the platform's, so that releases do not see each other.

    Raises
    ------
    BadInput
        Where there is no Java, or the jars are not here.
    """
    jars = noted(artifact, version)
    if not jars:
        raise BadInput(f"{artifact} {version}: its jars are not here")
    places = [compiled(artifact, version, source), *jars]
    start()
    import jpype

    java = jpype.JPackage("java")
    urls = jpype.JArray(java.net.URL)([java.io.File(str(p)).toURI().toURL() for p in places])
    return java.net.URLClassLoader(urls, java.lang.ClassLoader.getPlatformClassLoader())


def failure(error: Any) -> Failed:
    """Return a Java exception as the reason of a failure: its class and message."""
    name, message = str(type(error).class_.getName()), error.getMessage()
    text = "" if message is None else " ".join(str(message).split())
    return Failed(f"{name}: {text}" if text else name)


def start(*options: str, classes: str | None = None) -> None:
    """Start the JVM of this process, unless it runs.

    Parameters
    ----------
    options : of Java, after ours
    classes : class path; JPype's own where it is left out

    Raises
    ------
    BadInput
        Where there is no Java.
    """
    import jpype

    if jpype.isJVMStarted():
        return
    home = java_home()
    if home is None:
        raise BadInput(NO_JAVA)
    # A JVM that dies writes its report to the working folder unless told otherwise.
    report = Path(gettempdir()) / "kafka-assay-jvm-%p.log"
    told = [*OPTIONS, f"-XX:ErrorFile={report}", *options]
    if java_version(home) >= WARNS_OF_NATIVE_CALLS:
        told.append("--enable-native-access=ALL-UNNAMED")
    jpype.startJVM(str(_library(home)), *told, classpath=classes, convertStrings=False)


def _library(home: Path) -> Path:
    """Return the library of a Java that holds its JVM.

    Raises
    ------
    BadInput
        Where the folder has none.
    """
    for place in ("lib/server/libjvm.so", "lib/server/libjvm.dylib", "bin/server/jvm.dll"):
        if (home / place).is_file():
            return home / place
    raise BadInput(f"Java: {home} has no JVM library")
