"""Job: what a run is asked for, and how much of it is there at the end."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING

from compare.runs.tables import content_key
from compare.sentences import captures
from groups.wording import counted

if TYPE_CHECKING:
    from pathlib import Path

    from groups.tiers import Objective


@dataclass(frozen=True)
class Job:
    """What to run: on which input, into which folder, for which objective and assignors."""

    source: Path
    out: Path
    objective: Objective
    assignors: tuple[str, ...]
    time_limit: float
    assume_equal: bool = False
    reset: str | None = None

    def optimum_key(self, group_key: str) -> str:
        """Return the key of a group's row in ``optima``."""
        return content_key({**self._made_by(group_key), "solver": version("ortools")})

    def score_key(self, group_key: str, assignor: str) -> str:
        """Return the key of a group's row in ``scores`` for an assignor."""
        return content_key({**self._made_by(group_key), "assignor": assignor})

    def _made_by(self, group_key: str) -> dict[str, object]:
        return {
            "group": group_key,
            "objective": self.objective,
            "time_limit": self.time_limit,
            "version": version("kafka-assay"),
        }


@dataclass(frozen=True)
class RunCounts:
    """How much a run came to.

    Attributes
    ----------
    out : folder of the tables
    names : the group of each capture in the input; one that was captured twice is there twice
    solved : of those, how many have a proved optimum
    new : of those, how many were not complete in the tables before
    failures : inputs that could not become a group
    seconds : of the whole run
    keys : of the captures, as in the table ``groups``
    """

    out: Path
    names: tuple[str, ...]
    solved: int
    new: int
    failures: int
    seconds: float
    keys: tuple[str, ...]

    def line(self) -> str:
        """Return one line for people."""
        return (
            f"{captures(self.names)}, {self.solved:,} of them with a proved optimum, "
            f"{self.new:,} of them new in this run, {counted(self.failures, 'input')} failed, "
            f"{self.seconds:.1f} s; tables in {self.out}"
        )
