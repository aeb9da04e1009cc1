"""Results: the counts and findings of a run on Spark."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from compare.sentences import captures
from groups.wording import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from compare.over_groups import NotScored
    from compare.overview import Overview
    from groups.errors import Failure

# Of each of its lists, a run shows the first.
MOST_LINES = 20


@dataclass(frozen=True)
class Ending:
    """What a run has found out about the groups of its input.

    Attributes
    ----------
    overview : of its captures, with a line for each of the worst
    proved : number of captures with a proved optimum
    unread : number of inputs that are no group, and the first ones
    not_scored : the reasons why assignors have no score for some groups
    one_time : number of groups of whose latest time there are several captures, and the first ones
    """

    overview: Overview
    proved: int
    unread: tuple[int, tuple[Failure, ...]]
    not_scored: tuple[NotScored, ...] = ()
    one_time: tuple[int, Sequence[str]] = (0, ())

    @property
    def groups(self) -> int:
        """Number of distinct groups; one may be captured several times."""
        return self.overview.groups


@dataclass(frozen=True)
class RunCounts:
    """The counts of a run.

    Attributes
    ----------
    out : folder of the tables
    found : what is known about the groups of the input
    new : how many of them were not complete in the tables before
    seconds : of the whole run
    run : its name, as in the tables
    stages : (name, seconds) of each stage, by the names in `STAGES`
    """

    out: str
    found: Ending
    new: int
    seconds: float
    run: str
    stages: tuple[tuple[str, float], ...] = ()

    @property
    def captured(self) -> int:
        """Number of snapshots in the input; a group that was captured twice counts twice."""
        return self.found.overview.captured

    @property
    def solved(self) -> int:
        """Number of snapshots with a proved optimum."""
        return self.found.proved

    @property
    def failures(self) -> int:
        """Number of inputs that could not become a group."""
        return self.found.unread[0]

    def line(self) -> str:
        """Return the counts as a line for people."""
        every = captures(self.captured, self.found.groups)
        return (
            f"{every}, {self.solved:,} of them with a proved optimum, "
            f"{self.new:,} of them new in this run, {counted(self.failures, 'input')} failed, "
            f"{self.seconds:.1f} s; tables in {self.out}"
        )
