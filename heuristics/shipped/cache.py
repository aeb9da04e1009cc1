"""Cache: the user's folder for jars and drivers, and the tools that fetch and build them."""

from __future__ import annotations

import os
import re
import subprocess
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING

from platformdirs import user_cache_path

from groups.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


def cache_folder(*below: str) -> Path:
    """Return a folder of the user's cache, which need not exist and is not created.

    The environment variable ``KAFKA_ASSAY_CACHE`` names another place for the cache.

    Raises
    ------
    BadInput
        If the path is impossible or cannot be read.
    """
    top = os.environ.get("KAFKA_ASSAY_CACHE")
    folder = (Path(top) if top else user_cache_path("kafka-assay")).joinpath(*below)
    try:
        folder.exists()
    except OSError as error:
        raise BadInput(f"{folder}: cannot be read: {error.strerror}") from None
    return folder


def archive_of_classes(kind: str, java: Path, *made_of: str) -> Path:
    """Return the path of an archive of loaded classes, which need not exist.

    It makes Java start faster (``java -XX:SharedArchiveFile``).

    Parameters
    ----------
    java : home of the Java that it is for
    made_of : what else it depends on, such as the class path

    Raises
    ------
    BadInput
        As `cache_folder` raises it.
    """
    release = java / "release"
    every = [str(java.resolve()), *made_of]
    every += [release.read_text()] if release.is_file() else []
    name = blake2b("\n".join(every).encode(), digest_size=8).hexdigest()
    return cache_folder(kind, f"{name}.jsa")


def names_in(folder: Path) -> list[str]:
    """Return the names in a folder of the cache; empty if there is no such folder."""
    try:
        return sorted(path.name for path in folder.iterdir())
    except OSError:
        return []


def newest_first(versions: Iterable[str]) -> tuple[str, ...]:
    """Return versions sorted and without repeats; 4.1.0 is newer than its candidate 4.1.0-rc1.

    Examples
    --------
    >>> newest_first(["3.9.2", "4.1.0-rc1", "3.10.0", "4.1.0", "3.9.2"])
    ('4.1.0', '4.1.0-rc1', '3.10.0', '3.9.2')
    """
    return tuple(sorted(set(versions), key=_age, reverse=True))


def _age(version: str) -> tuple[list[int], bool, str]:
    candidate = version.lstrip("0123456789.")
    numbers = version.removesuffix(candidate)
    return [int(digits) for digits in re.findall(r"\d+", numbers)], not candidate, candidate


def run_tool(
    what: str,
    command: Sequence[str | Path],
    *,
    seconds: float,
    folder: Path | None = None,
    variables: Mapping[str, str] | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run a tool to its end, and return its exit code and what it printed.

    Parameters
    ----------
    what : the action, with which an error message begins
    seconds : time after which it is killed
    folder : its working directory; None: ours
    variables : environment variables besides ours

    Raises
    ------
    BadInput
        If it cannot be run, or takes longer.
    """
    try:
        return subprocess.run(
            command,
            cwd=folder,
            env={**os.environ, **(variables or {})},
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise BadInput(f"{what}: {error}") from None
