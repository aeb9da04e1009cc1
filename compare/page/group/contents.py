"""Contents of one group on a page, for its template."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from compare.hosts import HostRow
    from compare.moves import Move
    from compare.page.drawing import Drawing
    from compare.page.group.holders import Holdings, MoveGrid
    from compare.page.group.line import Line, Strip
    from compare.reasons.explanation import Lines
    from optimal.solution import Solution


@dataclass(frozen=True)
class Planned:
    """An assignor's result on a group, or why there is none.

    Attributes
    ----------
    cells : (value, excess over the best) for each of `Detail.planned_heads`
    """

    name: str
    strip: Strip | None
    loads: str | None
    cells: tuple[tuple[str, str], ...]
    reason: str | None


@dataclass(frozen=True)
class Detail:
    """One group in full.

    Attributes
    ----------
    sentences : the verdict first, then what else is known and what to do
    next : what happens if nobody does anything; empty if that is not known
    holdings : who holds what, for the chart; None if the group was not judged
    limit : greatest load in the best assignment; None if there is none
    is_floor : whether no assignment has a lower greatest load
    hosts : hosts of the members, fullest first; `more_hosts` are left out
    moves_data : the moves as CSV; None if too long for a page
    planned_heads : (heading, whether it has numbers) of the columns of `planned`
    planned_lag : what the assignors' peak lags are compared with; None if not known
    planned_elsewhere : which of the assignors need the protocol that the group does not use
    choice : why these moves were chosen among equally good ones; empty if nothing was searched
    made_by : which assignor makes these moves; empty if there are none
    trade : the figure of what each move buys; None if it is not drawn
    why : sentences on why it cannot be better
    proved : the optimum with its proof; None if nothing is proved
    documents : group and solution as ``assay check`` takes them; empty if there is no room
    """

    line: Line
    sentences: tuple[str, ...]
    next: str = ""
    holdings: Holdings | None = None
    limit: int | None = None
    is_floor: bool = False
    hosts: tuple[HostRow, ...] = ()
    more_hosts: int = 0
    moves: tuple[Move, ...] = ()
    choice: str = ""
    made_by: str = ""
    more_moves: int = 0
    grid: MoveGrid | None = None
    planned_heads: tuple[tuple[str, bool], ...] = ()
    planned: tuple[Planned, ...] = ()
    planned_lag: str | None = None
    planned_elsewhere: str = ""
    who_reads_is_open: bool = False
    assumed: tuple[str, ...] = ()
    why: tuple[str, ...] = ()
    lines: tuple[Lines, ...] = ()
    proved: Solution | None = None
    documents: tuple[str, ...] = ()
    moves_data: str | None = ""
    trade: Drawing | None = None
