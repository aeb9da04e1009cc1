"""Shipped assignors, for tests that skip if this machine cannot call one."""

import pytest

from heuristics import Assignor, assignor_named


def called(name: str) -> Assignor:
    """Return an assignor; skip the test, with the reason, if it cannot be called here."""
    assignor = assignor_named(name)
    if (reason := assignor.missing()) is not None:
        pytest.skip(reason)
    return assignor
