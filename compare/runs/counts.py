"""Counts: how much a run came to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from compare.sentences import captures
from groups.wording import counted

if TYPE_CHECKING:
    from pathlib import Path


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
    stages : where the seconds went, by the names in `compare.runs.work.stages`
    """

    out: Path
    names: tuple[str, ...]
    solved: int
    new: int
    failures: int
    seconds: float
    keys: tuple[str, ...]
    stages: tuple[tuple[str, float], ...] = ()

    def line(self) -> str:
        """Return one line for people."""
        every = captures(len(self.names), len(set(self.names)))
        return (
            f"{every}, {self.solved:,} of them with a proved optimum, "
            f"{self.new:,} of them new in this run, {counted(self.failures, 'input')} failed, "
            f"{self.seconds:.1f} s; tables in {self.out}"
        )
