"""Assignors: which there are, and whether they can be scored here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.commands.options import Format
from assay.streams import show_json
from assay.terminal import Column, by_reason, show_table, tell
from heuristics import Assignor
from heuristics import assignors as all_assignors
from heuristics.shipped.task_assignor import task_assignors

if TYPE_CHECKING:
    from collections.abc import Sequence


def assignors(*, format_: Format = "table") -> None:
    """List the assignors, and whether they can be scored here."""
    of_tasks = [found.assignor for found in task_assignors()]
    listed = [(found, found.missing()) for found in (*all_assignors().values(), *of_tasks)]
    if format_ == "table":
        show_assignors(listed)
        return
    rows = [
        {
            "name": found.name,
            "kind": found.kind,
            "source": found.source,
            "version": found.version,
            "available": reason is None,
            "reason": reason,
        }
        for found, reason in listed
    ]
    show_json({"format": "assay-assignors/1", "assignors": rows})


def show_assignors(listed: Sequence[tuple[Assignor, str | None]]) -> None:
    """Print each assignor, and below why some cannot be scored here: None where one can."""
    show_table(
        listed,
        Column("name", lambda one: one[0].name, whole=True),
        Column("kind", lambda one: one[0].kind),
        Column("version", lambda one: one[0].version),
        Column("available", lambda one: one[1] is None),
        Column("source", lambda one: one[0].source, gives_way=1),
    )
    for line in by_reason((found.name, reason) for found, reason in listed):
        tell(line)
