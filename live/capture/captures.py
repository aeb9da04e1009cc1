"""Captures: what one had, and which groups are asked for."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from groups.errors import Failure
    from groups.importers import Imported


@dataclass(frozen=True)
class Captured:
    """What one capture had: groups that became documents, and why others did not.

    Both ascend by the name of the group; failures that are of no one group come last. The source
    of each is the address of the cluster.
    """

    documents: tuple[Imported, ...] = ()
    failures: tuple[Failure, ...] = ()


def moment() -> str:
    """Return the moment in UTC, as captures tell it: ``2026-11-20T10:00:00Z``."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


_WILD = frozenset("*?[")


def is_name(pattern: str) -> bool:
    """Return whether a pattern has no wildcard, and so is the name of one group.

    Examples
    --------
    >>> is_name("orders"), is_name("orders-*")
    (True, False)
    """
    return _WILD.isdisjoint(pattern)
