"""Line: one group in the table of groups."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from compare.overview import glance_of
from compare.page.group.contents import Line
from compare.page.group.short_names import labels_of
from compare.page.group.strip import strip
from compare.page.words import MARKS, to_do, to_do_in

if TYPE_CHECKING:
    from compare.judged import Judged
    from compare.lag.lowest import LowestPeak
    from compare.overview import Glance
    from groups.assignment import Assignment


def line_of(judged: Judged, number: int, lowest: LowestPeak | None, *, repeats: bool) -> Line:
    """Return the line of a judged group.

    Parameters
    ----------
    lowest : the lowest peak lag that there can be; None where that is not known
    repeats : whether another line has its name
    """
    glance = glance_of(judged, lowest)
    labels = zip(judged.group.members, labels_of(judged.group), strict=True)
    return replace(
        line_of_glance(glance, number, repeats=repeats),
        to_do=to_do(judged),
        labels={name: label for name, label in labels if name != label},
    )


def line_of_glance(glance: Glance, number: int, *, repeats: bool) -> Line:
    """Return the line of a group of which only that much is known."""
    says = glance.verdict.shown(glance.fall)
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
        to_do=to_do_in(glance.verdict, glance.to_move, glance.fall, glance.nouns),
        now=glance.now,
        best=glance.best,
        strip=strip(glance.loads, limit) if glance.loads else None,
        moves=glance.advised_moves,
        idle=glance.idle,
        lag_now=glance.peak,
        lag_best=glance.lowest,
        lag_proved=glance.lowest_proved,
        nouns=glance.nouns,
    )


def shown_best(judged: Judged) -> Assignment | None:
    """Return the best assignment, where it is not open what that is."""
    return None if judged.verdict.question else judged.target
