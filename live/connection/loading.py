"""Loading kafka-python, once it is needed."""

from __future__ import annotations

import warnings
from importlib import import_module

from groups.extras import require


def load_kafka_python() -> None:
    """Load the client with all its messages.

    Raises
    ------
    BadInput
        Where it is not installed.
    """
    require("kafka", extra="clients")
    with warnings.catch_warnings():
        # It reads its schemas by a function that Python 3.11 calls deprecated.
        warnings.simplefilter("ignore", DeprecationWarning)
        import_module("kafka")
