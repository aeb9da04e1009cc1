"""The table of assignors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.printing.table import Table
from assay.printing.terminal import tell

if TYPE_CHECKING:
    from collections.abc import Iterable

    from heuristics import Assignor


def print_assignors(listed: Iterable[tuple[Assignor, str | None]]) -> None:
    """Print each assignor, and below why some cannot be scored here: None where one can."""
    table = Table("name", "kind", "version", "available", "source", whole=[0], gives_way=[4])
    without: dict[str, list[str]] = {}
    for found, reason in listed:
        table.add(found.name, found.kind, found.version, reason is None, found.source)
        if reason is not None:
            without.setdefault(reason, []).append(found.name)
    table.show()
    for reason, names in without.items():
        tell(f"{', '.join(names)}: {reason}")
