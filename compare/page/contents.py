"""Contents: what a page holds, as plain values that a template can lay out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from compare.over_groups import NotScored
    from compare.page.drawing import Drawing
    from compare.page.group.contents import Detail
    from compare.page.group.line import Line
    from groups.errors import Failure


@dataclass(frozen=True)
class Standing:
    """How assignors that fared the same did over some groups; counts, and of each tier the excess.

    Attributes
    ----------
    assignors : names
    place : from 1 among those that gave an assignment of every group; equal for those that are
        equal in what they are ranked by. 0 for the others, and for what is there now
    tied : whether another row has the same place
    groups : in which it gave an assignment; `unscored`: in which it gave none
    maybe : in which it may be as good as can be, for all that is proved
    counted : in which a fact holds, by its name, as of `compare.scores.COUNTED`
    tiers : of each tier the number of groups where it is known to be above the optimum, of how
        many it has an excess in that tier, and the worst that is sure
    """

    groups: int
    unscored: int
    optimal: int
    maybe: int
    counted: tuple[tuple[str, int], ...]
    tiers: tuple[tuple[str, int, int, int], ...]
    assignors: tuple[str, ...] = ()
    place: int = 0
    tied: bool = False


@dataclass(frozen=True)
class Comparison:
    """Assignors over many groups.

    Attributes
    ----------
    drawn : the assignors in the figures, where that is not all of them
    unscored : why assignors have no score of some groups
    data : what is drawn, as CSV; None where that is too long for a page
    """

    groups: int
    standings: tuple[Standing, ...]
    drawings: tuple[Drawing, ...]
    drawn: tuple[str, ...]
    unscored: tuple[NotScored, ...]
    data: str | None


@dataclass(frozen=True)
class Made:
    """How a page was made."""

    at: str
    command: str
    objective: str
    meaning: str
    time_limit: float
    versions: tuple[tuple[str, str], ...]
    runs: tuple[str, ...] = ()


@dataclass(frozen=True)
class Page:
    """A page: the reader's own groups, some in full, assignors over them, and a benchmark.

    Attributes
    ----------
    title : how many groups, or which one; `where` and `when` they were captured
    lead : the sentence of the terminal
    history : sentences on how groups went that were captured several times
    details : of the lines, in their order
    says : verdicts with the number of groups that have them, the worst first
    unread_count : of all that was not read
    assumed : what was assumed, of which groups, and of how many
    lag_given : the condition under which lag is as shown, and of which groups; nothing if without
    without_reader : what waits in partitions that nobody reads, a sentence for each group
    yours, benchmark : assignors over the reader's groups and over those that are not
    unknown : groups of which it is not known who reads what
    not_solved : why no group could be judged; None where one was
    trend : how groups went over time, each drawing with its data as CSV
    """

    title: str
    where: str
    when: str
    lead: str
    made: Made
    lines: tuple[Line, ...]
    details: tuple[Detail, ...]
    unread: tuple[Failure, ...] = ()
    says: tuple[tuple[str, int], ...] = ()
    history: tuple[str, ...] = ()
    unread_count: int = 0
    assumed: tuple[tuple[str, tuple[str, ...], int], ...] = ()
    lag_given: str = ""
    without_reader: tuple[str, ...] = ()
    yours: Comparison | None = None
    unknown: int = 0
    benchmark: Comparison | None = None
    not_solved: str | None = None
    trend: tuple[tuple[Drawing, str], ...] = ()

    @property
    def captured(self) -> int:
        """Groups that the page is about; a group that was captured twice counts twice."""
        return sum(count for _, count in self.says)
