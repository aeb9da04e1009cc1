"""Contents: the values of a page, for its template."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

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
    best : the sentence that says which assignor to run
    drawn : the assignors in the figures; empty if all are
    unscored : why assignors have no score of some groups
    data : the data to download, as CSV; None if too long for a page
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
    sources : names of what was read
    times : times of capture of the groups
    unread : the first inputs that could not be read; `unread_count` is the number of all
    assumed : (line, names of groups, number of groups) of what was assumed
    yours, benchmark : assignors over the reader's groups, and over benchmark groups
    unknown : number of groups with unknown subscriptions
    trend : figures of groups over time
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
    title : number of groups, or the name of the only one; `where` and `when` they were captured
    lead : number of groups with each verdict
    history : sentences on groups that were captured several times
    details : the first lines' groups in full, in the order of the lines
    says : (verdict, number of groups), worst verdict first
    missed : what the table shows as the verdict of each group without a snapshot
    lag_given : the condition of the lags of some groups; empty if there is none
    without_reader : records in partitions that nobody reads, a sentence for each group
    not_solved : why no group could be judged; None if one was
    """

    title: str
    where: str
    when: str
    lead: str
    lines: tuple[Line, ...]
    details: tuple[Detail, ...]
    says: tuple[tuple[str, int], ...]
    missed: Mapping[str, str]
    history: tuple[str, ...]
    lag_given: str
    without_reader: tuple[str, ...]
    not_solved: str | None

    @property
    def captured(self) -> int:
        """Number of captured groups; a group that was captured twice counts twice."""
        return sum(count for _, count in self.says)
