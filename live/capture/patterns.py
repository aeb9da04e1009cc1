"""Patterns: which groups are asked for, by name or as a shell has them."""

from __future__ import annotations

_WILD = frozenset("*?[")


def is_name(pattern: str) -> bool:
    """Return whether a pattern has no wildcard, and so is the name of one group.

    Examples
    --------
    >>> is_name("orders"), is_name("orders-*")
    (True, False)
    """
    return _WILD.isdisjoint(pattern)
