"""Jars: Kafka's classes by Maven coordinates, and our small ones compiled beside them."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import subprocess
import tempfile
from pathlib import Path

from groups.errors import BadInput
from heuristics.shipped.cache import cache_folder
from heuristics.shipped.java.runtime import INSTALL_JDK, OLDEST, found_java, java_home

SOURCES = Path(__file__).parent / "sources"
SHARED = ("GroupArrays", "StaticLoggerBinder")
PACKAGES = "pip install 'kafka-assay[java]'"


def release(version: str) -> tuple[int, int]:
    """Return the first two numbers of a version, 0 where there is none."""
    found = re.match(r"(\d+)(?:\.(\d+))?", version)
    return (int(found[1]), int(found[2] or 0)) if found else (0, 0)


def missing(client: str, artifact: str, version: str, source: str) -> str | None:
    """Say why the classes of an artifact cannot be loaded here; None where they can.

    The text ends with the command that changes this.

    Parameters
    ----------
    client : as users write it, for the command
    artifact : of the group ``org.apache.kafka``, such as ``kafka-clients``
    version : its release
    source : name of our Java source that is compiled beside it
    """
    for package in ("jpype", "jgo"):
        if importlib.util.find_spec(package) is None:
            return f"the Python package {package} is not installed: {PACKAGES}"
    fetch = f"assay fetch {client}@{version}"
    if not noted(artifact, version):
        return f"the jars of {artifact} {version} are not here: {fetch}"
    if found_java() is None:
        return f"no Java {OLDEST} or later in JAVA_HOME or PATH: {INSTALL_JDK}"
    if not _classes(artifact, version, source).is_dir() and found_java(compiler=True) is None:
        return f"no Java compiler, of version {OLDEST} or later, here: {INSTALL_JDK}"
    return None


def noted(artifact: str, version: str) -> list[Path]:
    """Return the jars of an artifact that was fetched before; none where one is gone."""
    note = _note(artifact, version)
    if not note.is_file():
        return []
    jars = [Path(line) for line in note.read_text().splitlines()]
    return jars if all(jar.is_file() for jar in jars) else []


def fetch(artifact: str, version: str, source: str) -> None:
    """Resolve an artifact and what it needs, note where the jars are, compile ours beside them.

    Raises
    ------
    BadInput
        Where there is no such release, no way to it, or no Java compiler.
    """
    try:
        import jgo
    except ImportError:
        raise BadInput(f"jgo: not installed: {PACKAGES}") from None
    coordinates = f"org.apache.kafka:{artifact}:{version}"
    try:
        # Without "!" the resolver may settle on another version than the one asked for.
        jars = [Path(jar).resolve() for jar in jgo.build(f"{coordinates}!").all_jars]
    except Exception as error:
        reason = " ".join(str(error).split())[:160]
        raise BadInput(f"{coordinates}: cannot be fetched: {reason}") from None
    if not any(jar.name == f"{artifact}-{version}.jar" for jar in jars):
        raise BadInput(f"{coordinates}: cannot be fetched: the resolver found no such jar")
    _note(artifact, version).write_text("".join(f"{jar}\n" for jar in jars))
    java_home()
    compiled(artifact, version, source)


def compiled(artifact: str, version: str, source: str) -> Path:
    """Return the folder of our classes, compiled against the jars if they are not there.

    Raises
    ------
    BadInput
        Where there is no compiler, or the release has other classes than we call.
    """
    target = _classes(artifact, version, source)
    if target.is_dir():
        return target
    home = found_java(compiler=True)
    if home is None:
        raise BadInput(f"no Java compiler, of version {OLDEST} or later, here: {INSTALL_JDK}")
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as folder:
        made = Path(folder) / "classes"
        command: list[str | Path] = [home / "bin" / "javac", "-nowarn", "-proc:none"]
        command += ["-encoding", "UTF-8", "--release", str(OLDEST), "-d", made]
        command += ["-cp", os.pathsep.join(map(str, noted(artifact, version)))]
        command += _sources(source)
        said = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
        if said.returncode:
            reason = re.search(r"error: (.+)", said.stderr)
            raise BadInput(
                f"{artifact} {version}: not the classes that {source} calls: "
                f"{reason[1] if reason else f'javac ended with {said.returncode}'}"
            )
        try:
            made.rename(target)
        except OSError:
            # Another process has compiled the same meanwhile.
            if not target.is_dir():
                raise
    return target


def _note(artifact: str, version: str) -> Path:
    return cache_folder("jars") / f"{artifact}-{version}.txt"


def _sources(source: str) -> list[Path]:
    return [SOURCES / f"{name}.java" for name in (source, *SHARED)]


def _classes(artifact: str, version: str, source: str) -> Path:
    """Where our classes go: a folder for each release and content of our sources."""
    content = b"\0".join(path.read_bytes() for path in _sources(source))
    key = hashlib.sha256(content).hexdigest()[:16]
    return cache_folder("classes") / f"{artifact}-{version}-{key}"
