"""Unwritten: rows that a task has made and that are not in a file yet."""

from __future__ import annotations

from dataclasses import dataclass, field
from time import perf_counter
from typing import TYPE_CHECKING

import pyarrow as pa

from compare.runs.tables.files import append
from compare.runs.tables.schemas import TABLES

if TYPE_CHECKING:
    from pathlib import Path

    from compare.runs.work.clock import Clock

# What is done is on disk about as soon as this.
WRITE_SECONDS = 10.0
MOST_ROWS = 20_000


@dataclass
class Unwritten:
    """Rows by table.

    Attributes
    ----------
    out, run : folder of the tables, and the name of the run, which the files bear
    """

    out: Path
    run: str
    clock: Clock
    rows: dict[str, list[pa.RecordBatch]] = field(default_factory=dict)
    written: float = field(default_factory=perf_counter)

    def add(self, name: str, rows: pa.RecordBatch) -> None:
        """Add rows of a table."""
        if len(rows):
            self.rows.setdefault(name, []).append(rows)

    @property
    def is_due(self) -> bool:
        """Whether the rows are many, or some of them old."""
        most = max((sum(map(len, batches)) for batches in self.rows.values()), default=0)
        return most > MOST_ROWS or perf_counter() - self.written > WRITE_SECONDS

    def write(self) -> None:
        """Write all to files, a group before what was found of it."""
        with self.clock.timed("write"):
            for name in TABLES:
                if name in self.rows:
                    rows = pa.Table.from_batches(self.rows.pop(name), TABLES[name])
                    append(self.out, name, rows, self.run)
        self.written = perf_counter()
