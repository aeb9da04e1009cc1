"""Loading kafka-python, once it is needed."""

from __future__ import annotations

import warnings
from importlib import import_module

from groups.extras import require


def load_kafka_python(*more: str) -> None:
    """Load the client with all its messages.

    Parameters
    ----------
    more : modules with further messages

    Raises
    ------
    BadInput
        Where it is not installed.
    """
    require("kafka", extra="clients")
    with warnings.catch_warnings():
        # It reads its schemas by a function that Python 3.11 calls deprecated.
        warnings.simplefilter("ignore", DeprecationWarning)
        for module in ("kafka", *more):
            import_module(module)
