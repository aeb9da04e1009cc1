"""Shipped assignors, for tests that skip if this machine cannot call one, and their processes."""

from contextlib import AbstractContextManager
from unittest.mock import patch

import pytest

from heuristics import Assignor, assignor_named
from heuristics.child import Child
from heuristics.time_limit import TimeLimit, _ClientProcess


class Kept(_ClientProcess):
    def close(self) -> None:
        """Stay for the next time limit; it ends with the tests, as every child does."""


# To start a process with Kafka's classes takes 1.2 s. That of assignors in Python is not kept: it
# imports modules by the path of the test that started it.
KEPT = {"kafka": Kept(Child(), set())}


def keeping_processes() -> AbstractContextManager:
    """Let all time limits in a block, and those of other blocks, share the process of KEPT."""

    def entered(limit: TimeLimit) -> TimeLimit:
        vars(limit)["_processes"].update(KEPT)
        return limit

    return patch.object(TimeLimit, "__enter__", entered)


def called(name: str) -> Assignor:
    """Return an assignor; skip the test, with the reason, if it cannot be called here."""
    assignor = assignor_named(name)
    if (reason := assignor.missing()) is not None:
        pytest.skip(reason)
    return assignor
