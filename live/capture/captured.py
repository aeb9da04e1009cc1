"""What a capture had."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from groups.importers import Failure, Imported


@dataclass(frozen=True)
class Captured:
    """What one capture had: groups that became documents, and why others did not.

    Both ascend by the name of the group. The source of each is the address of the cluster.
    """

    documents: tuple[Imported, ...] = ()
    failures: tuple[Failure, ...] = ()
