"""Latest run: its objective and its tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from compare.runs.tables.stored import read_table
from compare.score import CURRENT
from groups.errors import BadInput
from heuristics import assignors

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd


@dataclass(frozen=True, eq=False)
class Run:
    """The latest run under a folder: its objective and tables, each row once."""

    objective: str
    groups: pd.DataFrame
    optima: pd.DataFrame
    scores: pd.DataFrame
    failures: pd.DataFrame

    @property
    def assignors(self) -> list[str]:
        """Names of the assignors: ``current``, then in the order in which they are listed."""
        known = [CURRENT, *assignors()]
        rank = {name: i for i, name in enumerate(known)}
        return sorted(set(self.scores["assignor"]), key=lambda n: (rank.get(n, len(rank)), n))


def latest_run(folder: Path) -> Run:
    """Read the tables of the latest run under a folder.

    Raises
    ------
    BadInput
        Where the folder holds no run.
    """
    runs = read_table(folder, "runs")
    if runs.empty:
        raise BadInput(f"{folder}: no run in it; fill it with: assay run INPUT --out {folder}")
    objective = str(runs.sort_values("run")["objective"].iloc[-1])
    optima, scores = read_table(folder, "optima"), read_table(folder, "scores")
    optima = optima[optima["objective"] == objective].drop_duplicates("group_key", keep="last")
    scores = scores[scores["objective"] == objective]
    scores = scores.drop_duplicates(["group_key", "assignor"], keep="last")
    return Run(
        objective=objective,
        groups=read_table(folder, "groups"),
        optima=optima,
        scores=scores,
        failures=read_table(folder, "failures"),
    )
