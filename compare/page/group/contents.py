"""Contents of one group on a page, as plain values that a template can lay out."""

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
    """What an assignor would make of a group, or why it makes nothing of it.

    Attributes
    ----------
    cells : under the heads of `Detail.planned_heads`, each with how much worse it is than the best
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
    sentences : what is known and what to do, the verdict first
    next : what becomes of the group if nobody does anything; nothing where that is not known
    holdings : who holds what, and how much of it is drawn; None where nothing is judged
    limit : no member holds more than that in the best assignment; None where nothing is best
    is_floor : whether no assignment has a lower greatest load
    hosts : on which members stand, the fullest first; `more_hosts` are left out
    moves_data : the moves as CSV; None where that is too long for a page
    planned_heads : of the columns of `planned`, and whether one holds numbers
    planned_lag : what the peak lag of assignors is compared with; None where that is not known
    choice : why these moves, of all that are as good; empty where nothing was searched
    made_by : what makes such moves; empty where there are none
    trade : what each move buys; None where it is not drawn
    why : why it cannot be better, a sentence each
    proved : the optimum with its proof; None where nothing is proved
    documents : group and solution as ``assay check`` takes them; nothing where there is no room
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
    who_reads_is_open: bool = False
    assumed: tuple[str, ...] = ()
    why: tuple[str, ...] = ()
    lines: tuple[Lines, ...] = ()
    proved: Solution | None = None
    documents: tuple[str, ...] = ()
    moves_data: str | None = ""
    trade: Drawing | None = None
