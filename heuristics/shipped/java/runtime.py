"""Java: the one that Kafka's classes and Spark run on, found or fetched."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

from groups.errors import BadInput
from heuristics.shipped.cache import cache_folder

OLDEST = 17
INSTALL_JRE = "apt-get install openjdk-17-jre-headless"
INSTALL_JDK = "apt-get install openjdk-17-jdk-headless"


def java_home() -> Path:
    """Return the home of a Java 17 or later: from JAVA_HOME, PATH, or fetched by cjdk.

    Raises
    ------
    BadInput
        Where there is none and none can be fetched; the message says what to install.
    """
    return found_java() or _fetched()


def found_java(*, compiler: bool = False) -> Path | None:
    """Return the home of a Java 17 or later on this machine, None where there is none.

    Parameters
    ----------
    compiler : whether it must have one, as a JDK has and a JRE has not
    """
    candidates = []
    if os.environ.get("JAVA_HOME"):
        candidates.append(Path(os.environ["JAVA_HOME"]))
    on_path = shutil.which("java")
    if on_path:
        candidates.append(Path(on_path).resolve().parent.parent)
    noted = _note()
    if noted.is_file():
        candidates.append(Path(noted.read_text().strip()))
    for home in candidates:
        if compiler and not (home / "bin" / "javac").is_file():
            continue
        if java_version(home) >= OLDEST:
            return home
    return None


@cache
def java_version(home: Path) -> int:
    """Return the first number of a Java's version, 8 for 1.8; 0 where none runs there."""
    # The file that every Java since 9 has saves half a second of starting it.
    try:
        found = re.search(r'JAVA_VERSION="(\d+)(?:\.(\d+))?', (home / "release").read_text())
    except OSError:
        found = None
    return _feature(found) if found else _said_version(home / "bin" / "java")


def _said_version(java: Path) -> int:
    try:
        said = subprocess.run(
            [java, "-version"], capture_output=True, text=True, timeout=60, check=False
        )
    except OSError:
        return 0
    found = re.search(r'version "(\d+)(?:\.(\d+))?', said.stderr + said.stdout)
    return 0 if found is None else _feature(found)


def _feature(found: re.Match[str]) -> int:
    first, second = int(found[1]), int(found[2] or 0)
    return second if first == 1 else first


def _note() -> Path:
    """Where the home of a fetched Java is written down."""
    return cache_folder() / "java-home.txt"


def _fetched() -> Path:
    try:
        import cjdk

        sys.stderr.write(f"No Java {OLDEST} or later here; fetching one with cjdk ...\n")
        home = Path(cjdk.java_home(vendor="temurin", version=str(OLDEST)))
    except Exception as error:
        reason = " ".join(str(error).split())[:120]
        raise BadInput(
            f"Java: none of version {OLDEST} or later in JAVA_HOME or PATH, and none could be "
            f"fetched ({reason}); install one, as in: {INSTALL_JRE}"
        ) from None
    _note().write_text(f"{home}\n")
    return home


if __name__ == "__main__":
    try:
        java_home()
    except BadInput as missing:
        sys.stderr.write(f"{missing}\n")
