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


# To start a process with Kafka's classes takes 1.2 s, to start one for those as written 0.2 s.
KEPT = {name: Kept(Child(), set()) for name in ("", "kafka")}


def keeping_processes() -> AbstractContextManager:
    """Let all time limits in a block share the processes of these, also with other blocks."""

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
