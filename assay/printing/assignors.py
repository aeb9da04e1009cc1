"""The table of assignors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.printing.table import Table

if TYPE_CHECKING:
    from collections.abc import Iterable

    from heuristics import Assignor


def print_assignors(listed: Iterable[tuple[Assignor, str | None]]) -> None:
    """Print each assignor with the reason why it cannot be scored here, None where it can."""
    table = Table("name", "kind", "source", "version", "available")
    for found, reason in listed:
        table.add(found.name, found.kind, found.source, found.version, reason or True)
    table.show()
