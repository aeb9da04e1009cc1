"""Counts: how much a run came to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from compare.sentences import captures
from groups.wording import counted

if TYPE_CHECKING:
    from pathlib import Path

    from compare.runs.found import Ending


@dataclass(frozen=True)
class RunCounts:
    """How much a run came to.

    Attributes
    ----------
    out : folder of the tables
    found : what is known of the groups of the input
    new : how many of them were not complete in the tables before
    seconds : of the whole run
    keys : of the groups, as in the table ``groups``
    stages : where the seconds went, by the names in `compare.runs.work.stages`
    """

    out: Path
    found: Ending
    new: int
    seconds: float
    keys: tuple[str, ...]
    stages: tuple[tuple[str, float], ...] = ()

    @property
    def captured(self) -> int:
        """Snapshots in the input; a group that was captured twice counts twice."""
        return self.found.overview.captured + self.found.not_judged[0]

    @property
    def solved(self) -> int:
        """Snapshots of which the optimum is proved."""
        return self.found.proved

    @property
    def failures(self) -> int:
        """Inputs that could not become a group."""
        return self.found.unread[0]

    def line(self) -> str:
        """Return one line for people."""
        every = captures(self.captured, self.found.groups)
        return (
            f"{every}, {self.solved:,} of them with a proved optimum, "
            f"{self.new:,} of them new in this run, {counted(self.failures, 'input')} failed, "
            f"{self.seconds:.1f} s; tables in {self.out}"
        )
