"""Captures: the result of a capture, its time, and the names in patterns of groups."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from groups.errors import Failure
    from groups.importers import Imported


@dataclass(frozen=True)
class Captured:
    """The result of one capture: documents of groups, and why others have none.

    Both are sorted by the group's name; failures that concern no single group come last. The
    source of each is the address of the cluster.

    Attributes
    ----------
    is_partial : whether some broker did not list its groups, so that more may exist
    """

    documents: tuple[Imported, ...] = ()
    failures: tuple[Failure, ...] = ()
    is_partial: bool = False


def moment() -> str:
    """Return the present time in UTC, as in captures: ``2026-11-20T10:00:00Z``."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


_WILD = frozenset("*?[")


def is_name(pattern: str) -> bool:
    """Return whether a pattern has no wildcard, so that it names one group.

    Examples
    --------
    >>> is_name("orders"), is_name("orders-*")
    (True, False)
    """
    return _WILD.isdisjoint(pattern)
