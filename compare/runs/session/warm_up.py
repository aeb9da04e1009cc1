"""Warm-up: what is needed next is loaded while Java starts, and starts while Java loads."""

from __future__ import annotations

from contextlib import suppress
from importlib import import_module
from threading import Thread
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark import SparkContext

# The first is what py4j asks for a number, and it loads pandas.
MODULES = ("pyspark.testing.utils", "pyspark.sql.pandas.conversion", "pyspark.sql.pandas.map_ops")


def import_meanwhile() -> None:
    """Begin to import what a session needs here once it is there."""
    Thread(target=_import, name="imports", daemon=True).start()


def start_workers(context: SparkContext) -> None:
    """Begin to start Python workers, as many as there are cores.

    Java needs a second or so for its own part of the first query.
    """
    Thread(target=_start, args=[context], name="starts workers", daemon=True).start()


def _import() -> None:
    # Who needs it for good says what is wrong.
    with suppress(ImportError):
        for name in MODULES:
            import_module(name)


def _start(context: SparkContext) -> None:
    # A session that ends, or has no Python to start: the first query says so.
    with suppress(Exception):
        cores = context.defaultParallelism
        context.parallelize(range(cores), cores).foreach(bool)
