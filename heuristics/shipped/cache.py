"""Cache: where jars are noted and drivers built, outside of the project, and by what tools."""

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
    """Return a folder of the user's cache, which need not be there: looking writes nothing.

    The environment variable ``KAFKA_ASSAY_CACHE`` names another place for all of it.

    Raises
    ------
    BadInput
        Where no folder can have that name.
    """
    top = os.environ.get("KAFKA_ASSAY_CACHE")
    folder = (Path(top) if top else user_cache_path("kafka-assay")).joinpath(*below)
    try:
        folder.exists()
    except OSError as error:
        raise BadInput(f"{folder}: cannot be read: {error.strerror}") from None
    return folder


def archive_of_classes(kind: str, java: Path, *made_of: str) -> Path:
    """Return where Java's classes of a kind are kept, which may not be there.

    Java has them at once then (``java -XX:SharedArchiveFile``).

    Parameters
    ----------
    java : the home of the Java that they are for
    made_of : what else has to be the same, such as the class path

    Raises
    ------
    BadInput
        As of `cache_folder`.
    """
    release = java / "release"
    every = [str(java.resolve()), *made_of]
    every += [release.read_text()] if release.is_file() else []
    name = blake2b("\n".join(every).encode(), digest_size=8).hexdigest()
    return cache_folder(kind, f"{name}.jsa")


def names_in(folder: Path) -> list[str]:
    """Return the names of what is in a folder of the cache; none where there is no such folder."""
    try:
        return sorted(path.name for path in folder.iterdir())
    except OSError:
        return []


def newest_first(versions: Iterable[str]) -> tuple[str, ...]:
    """Return versions without repeats; the release 4.1.0 is newer than the candidate 4.1.0-rc1.

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
    what : is done, as the error begins
    seconds : after which it is ended
    folder : where it runs; the working directory unless told otherwise
    variables : of its environment, besides ours

    Raises
    ------
    BadInput
        Where it cannot be run, or takes longer.
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
