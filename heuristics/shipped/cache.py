"""Cache: where jars are noted and drivers are built, outside of the project."""

from __future__ import annotations

import os
from pathlib import Path

from platformdirs import user_cache_path

from groups.errors import BadInput


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
