"""Assignors that ship, where they can be called here."""

import pytest

from heuristics import Assignor, assignor_named


def called(name: str) -> Assignor:
    """An assignor; a test of one that cannot be called here is skipped, and says why."""
    one = assignor_named(name)
    if (reason := one.missing()) is not None:
        pytest.skip(reason)
    return one
