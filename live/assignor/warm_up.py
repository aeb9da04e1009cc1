"""Load the solver while a consumer joins, and not while its group waits for the leader's plan."""

from __future__ import annotations

from contextlib import suppress
from functools import cache
from importlib import import_module
from threading import Thread


@cache
def warm_up(modules: tuple[str, ...]) -> Thread:
    """Begin to load modules, once in a process, in a thread of its own."""
    thread = Thread(target=_load, args=[modules], name="assay-warm-up", daemon=True)
    thread.start()
    return thread


def _load(modules: tuple[str, ...]) -> None:
    # What cannot be loaded is said by the plan that needs it.
    with suppress(ImportError):
        for module in modules:
            import_module(module)
