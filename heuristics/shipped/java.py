"""Java: the one that Kafka's classes and Spark run on, found or fetched."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from groups.errors import BadInput

OLDEST = 17


def java_home() -> Path:
    """Return the home of a Java 17 or later: from JAVA_HOME, PATH, or fetched by cjdk.

    Raises
    ------
    BadInput
        Where there is none and none can be fetched; the message says what to install.
    """
    candidates = []
    if os.environ.get("JAVA_HOME"):
        candidates.append(Path(os.environ["JAVA_HOME"]))
    on_path = shutil.which("java")
    if on_path:
        candidates.append(Path(on_path).resolve().parent.parent)
    for home in candidates:
        if _version(home / "bin" / "java") >= OLDEST:
            return home
    return _fetched()


def _version(java: Path) -> int:
    try:
        said = subprocess.run(
            [java, "-version"], capture_output=True, text=True, timeout=60, check=False
        )
    except OSError:
        return 0
    found = re.search(r'version "(\d+)(?:\.(\d+))?', said.stderr + said.stdout)
    if found is None:
        return 0
    first, second = int(found[1]), int(found[2] or 0)
    return second if first == 1 else first


def _fetched() -> Path:
    try:
        import cjdk

        sys.stderr.write(f"No Java {OLDEST} or later here; fetching one with cjdk ...\n")
        return Path(cjdk.java_home(vendor="temurin", version=str(OLDEST)))
    except Exception as error:
        reason = " ".join(str(error).split())[:120]
        raise BadInput(
            f"Java: none of version {OLDEST} or later in JAVA_HOME or PATH, and none could be "
            f"fetched ({reason}); install one, as in: apt-get install openjdk-17-jre-headless"
        ) from None


if __name__ == "__main__":
    try:
        java_home()
    except BadInput as missing:
        sys.stderr.write(f"{missing}\n")
