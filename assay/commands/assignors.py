"""Assignors: which there are, and whether they can be scored here."""

from __future__ import annotations

from operator import itemgetter
from typing import Any

from assay.commands.options import Format
from assay.streams import show_json
from assay.terminal import Column, by_reason, show_table, tell
from heuristics import assignors as all_assignors
from heuristics.shipped.task_assignor import task_assignors


def assignors(*, format_: Format = "table") -> None:
    """List the assignors, and whether they can be scored here."""
    of_tasks = [found.assignor for found in task_assignors()]
    listed = [(found, found.missing()) for found in (*all_assignors().values(), *of_tasks)]
    rows: list[dict[str, Any]] = [
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
    if format_ == "json":
        show_json({"format": "assay-assignors/1", "assignors": rows})
        return
    show_table(
        rows,
        Column("name", itemgetter("name"), whole=True),
        *(Column(name, itemgetter(name)) for name in ("kind", "version", "available")),
        Column("source", itemgetter("source"), gives_way=1),
    )
    for line in by_reason((row["name"], row["reason"]) for row in rows):
        tell(line)
