"""Stored aggregates: those of some families, added up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from compare.runs.aggregates.counted import ADDED
from compare.runs.aggregates.state import state_of, stored_aggregates
from compare.runs.aggregates.worst import worst_first
from groups.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


@dataclass(frozen=True, eq=False)
class Aggregates:
    """The aggregates of an objective.

    Attributes
    ----------
    table : rows of ``aggregates``
    current : whether they are of all that is in the tables now
    """

    table: pa.Table
    current: bool

    @staticmethod
    def read(folder: Path, objective: str) -> Aggregates:
        """Read the newest aggregates of an objective.

        Raises
        ------
        BadInput
            Where there are none: no run for this objective came to its end.
        """
        found = stored_aggregates(folder, objective)
        if found is None:
            raise BadInput(
                f"{folder}: no run for {objective} in it came to its end; the same command goes on"
            )
        state, table = found
        return Aggregates(table, state == state_of(folder, objective))

    @property
    def families(self) -> list[str]:
        """Names of the families, in order."""
        return sorted(filter(None, pc.unique(self.table["family"]).to_pylist()))

    def of(self, families: Sequence[str]) -> Aggregates:
        """Return the aggregates of some families alone."""
        chosen = pc.is_in(self.table["family"], pa.array(families, pa.string()))
        return Aggregates(self.table.filter(chosen), self.current)

    def rows(self, statistic: str, *by: str) -> list[dict[str, Any]]:
        """Return the rows of a statistic, those that are alike in some columns added up."""
        rows = self.table.filter(pc.equal(self.table["statistic"], statistic))
        added = rows.group_by(list(by)).aggregate([*ADDED.items()])
        names = {f"{name}_{how}": name for name, how in ADDED.items()}
        added = added.rename_columns([names.get(name, name) for name in added.column_names])
        found: list[dict[str, Any]] = added.sort_by([(one, "ascending") for one in by]).to_pylist()
        return found

    def counts(self, statistic: str) -> dict[str, int]:
        """Return how many groups there are for each label of a statistic."""
        return {row["label"]: row["count"] for row in self.rows(statistic, "label")}

    def worst(self, most: int) -> list[dict[str, Any]]:
        """Return the groups that people want to see first, over the families."""
        rows = self.table.filter(pc.equal(self.table["statistic"], "worst"))
        found: list[dict[str, Any]] = rows.take(worst_first(rows)[:most]).to_pylist()
        return found
