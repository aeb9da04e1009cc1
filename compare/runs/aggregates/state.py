"""State: of which files of the tables some aggregates are, so that the same are not made twice."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from compare.runs.tables.files import good
from compare.runs.tables.keys import content_key
from compare.runs.tables.schemas import TABLES

if TYPE_CHECKING:
    from pathlib import Path

MADE_OF = ("optima", "scores")
# Of what is counted and how: those of another version are made again.
VERSION = 2


def state_of(folder: Path, objective: str) -> str:
    """Return the content key of what the aggregates of an objective are made of, and how."""
    files = {
        name: [
            file.name for file in good(folder, name)[0] if _only(file, "objective") == objective
        ]
        for name in MADE_OF
    }
    return content_key({"objective": objective, "version": VERSION, **files})


def stored_aggregates(folder: Path, objective: str) -> tuple[str, pa.Table] | None:
    """Return the newest aggregates of an objective and their state; None where there are none."""
    for file in reversed(good(folder, "aggregates")[0]):
        if _only(file, "objective") == objective:
            return str(_only(file, "state")), pq.read_table(file, schema=TABLES["aggregates"])
    return None


def has_state(folder: Path, state: str) -> bool:
    """Return whether the aggregates of a state are stored."""
    return any(_only(file, "state") == state for file in good(folder, "aggregates")[0])


def _only(file: Path, column: str) -> str | None:
    """Return the value that all rows of a file have in a column, without reading them."""
    metadata = pq.read_metadata(file)
    names = [metadata.schema.column(i).path for i in range(metadata.num_columns)]
    number = names.index(column)
    found = {
        metadata.row_group(i).column(number).statistics.min for i in range(metadata.num_row_groups)
    }
    return found.pop() if len(found) == 1 else None
