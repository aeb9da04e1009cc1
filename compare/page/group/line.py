"""Line: one group in the table of groups."""

from __future__ import annotations

from typing import TYPE_CHECKING

from compare.lag.behind import peak_lag
from compare.page.group.contents import Line
from compare.page.group.strip import strip
from compare.page.words import MARKS, to_do, to_do_in
from compare.sentences import moves_needed, spread

if TYPE_CHECKING:
    from compare.lag.lowest import LowestPeak
    from compare.overview import Glance
    from compare.verdict import Judged
    from groups.assignment import Assignment


def line_of(judged: Judged, number: int, lowest: LowestPeak | None, *, repeats: bool) -> Line:
    """Return the line of a judged group.

    Parameters
    ----------
    lowest : the lowest peak lag that there can be; None where that is not known
    repeats : whether another line has its name
    """
    verdict, group = judged.verdict, judged.group
    best = shown_best(judged)
    there = judged.best is not None
    mark, tone = MARKS[verdict.says]
    moves = None
    if verdict.says == "as good as can be":
        moves = 0
    elif verdict.says == "improvable":
        moves = moves_needed(judged)
    limit = None if best is None else int(best.loads.max(initial=0))
    return Line(
        number=number,
        anchor=f"group-{number}",
        name=group.name,
        captured_at=group.captured_at,
        repeats=repeats,
        members=len(group.members),
        partitions=group.n_partitions,
        says=verdict.says,
        mark=mark,
        tone=tone,
        to_do=to_do(judged),
        now=spread(judged.now.loads) if there else None,
        best=None if best is None else spread(best.loads),
        strip=strip(judged.now.loads.tolist(), limit) if there else None,
        moves=moves,
        idle=len(judged.now.idle) if there else 0,
        lag_now=peak_lag(judged.now),
        lag_best=None if lowest is None else lowest.records,
        lag_proved=lowest is not None and lowest.proved,
    )


def line_of_glance(glance: Glance, number: int, *, repeats: bool) -> Line:
    """Return the line of a group of which only that much is known."""
    says = glance.verdict.says
    mark, tone = MARKS[says]
    limit = None if glance.best is None else int(glance.best.rpartition("-")[2])
    return Line(
        number=number,
        anchor=f"group-{number}",
        name=glance.name,
        captured_at=glance.captured_at,
        repeats=repeats,
        members=glance.members,
        partitions=glance.partitions,
        says=says,
        mark=mark,
        tone=tone,
        to_do=to_do_in(glance.verdict, glance.to_move),
        now=glance.now,
        best=glance.best,
        strip=strip(glance.loads, limit) if glance.loads else None,
        moves=glance.moves,
        idle=glance.idle,
    )


def shown_best(judged: Judged) -> Assignment | None:
    """Return the best assignment, where it is not open what that is."""
    return None if judged.verdict.question else judged.target
