"""What a capture had, and when."""

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
