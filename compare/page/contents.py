"""Contents: what a page holds, as plain values that a template can lay out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from compare.over_groups import NotScored, Standing
    from compare.page.drawing import Drawing
    from compare.page.group.contents import Detail
    from compare.page.group.line import Line
    from groups.errors import Failure


@dataclass(frozen=True)
class Comparison:
    """Assignors over many groups.

    Attributes
    ----------
    best : which assignor to run, in a sentence
    drawn : the assignors in the figures, where that is not all of them
    unscored : why assignors have no score of some groups
    data : what is drawn, as CSV; None where that is too long for a page
    """

    groups: int
    best: str
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


@dataclass(frozen=True, kw_only=True)
class Material:
    """What a page has besides its groups.

    Attributes
    ----------
    sources : what was read
    times : when groups were captured
    unread : the first of the inputs that are no groups; `unread_count` is the number of all
    assumed : what was assumed, of which groups, and of how many
    yours, benchmark : assignors over the reader's groups and over those that are not
    unknown : groups of which it is not known who reads what
    trend : how groups went over time
    """

    made: Made
    sources: Sequence[str]
    times: Sequence[str | None]
    unread: Sequence[Failure]
    unread_count: int
    assumed: Sequence[tuple[str, tuple[str, ...], int]]
    yours: Comparison | None
    unknown: int
    benchmark: Comparison | None
    trend: tuple[Drawing, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Page(Material):
    """A page: the reader's own groups, some in full, assignors over them, and a benchmark.

    Attributes
    ----------
    title : how many groups, or which one; `where` and `when` they were captured
    lead : how many groups have something to do; `sentence`: that of the terminal, with names
    history : sentences on how groups went that were captured several times
    details : of the lines, in their order
    says : verdicts with the number of groups that have them, the worst first
    lag_given : the condition under which lag is as shown, and of which groups; nothing if without
    without_reader : what waits in partitions that nobody reads, a sentence for each group
    not_solved : why no group could be judged; None where one was
    """

    title: str
    where: str
    when: str
    lead: str
    sentence: str
    lines: tuple[Line, ...]
    details: tuple[Detail, ...]
    says: tuple[tuple[str, int], ...]
    history: tuple[str, ...]
    lag_given: str
    without_reader: tuple[str, ...]
    not_solved: str | None

    @property
    def captured(self) -> int:
        """Groups that the page is about; a group that was captured twice counts twice."""
        return sum(count for _, count in self.says)
