"""Load the solver while a consumer joins, and not while its group waits for the leader's plan."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from threading import Thread

# What a plan of a group takes, the solver with it.
USED = ("groups", "optimal.solve", "optimal.flow.recipe")


@cache
def warm_up() -> Thread:
    """Begin to load what a plan needs, once in a process, in a thread of its own."""
    thread = Thread(target=_load, name="assay-warm-up", daemon=True)
    thread.start()
    return thread


def _load() -> None:
    for module in USED:
        import_module(module)
