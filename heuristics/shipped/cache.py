"""Cache: where jars are noted and drivers are built, outside of the project; what is in it."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from platformdirs import user_cache_path

from groups.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Iterable


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
