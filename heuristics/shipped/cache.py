"""Cache: where jars are noted and drivers are built, outside of the project."""

from __future__ import annotations

import os
from pathlib import Path

from platformdirs import user_cache_path


def cache_folder(*below: str) -> Path:
    """Return a folder of the user's cache, made if it is not there.

    The environment variable ``KAFKA_ASSAY_CACHE`` names another place for all of it.
    """
    top = os.environ.get("KAFKA_ASSAY_CACHE")
    folder = (Path(top) if top else user_cache_path("kafka-assay")).joinpath(*below)
    folder.mkdir(parents=True, exist_ok=True)
    return folder
