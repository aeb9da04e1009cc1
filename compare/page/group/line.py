"""Line: one group in the table of groups."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from compare.overview import Glance, glance_of
from compare.page.group.short_names import labels_of
from compare.page.group.strip import Strip, strip
from compare.page.words import MARKS, to_do, to_do_in

if TYPE_CHECKING:
    from collections.abc import Mapping

    from compare.judged import Judged
    from compare.lag.lowest import LowestPeak
    from groups.assignment import Assignment


@dataclass(frozen=True, kw_only=True)
class Line(Glance):
    """One group in the table of groups: a glance at it, and what a page says besides.

    Attributes
    ----------
    number : of the line, from 1, the worst group first
    repeats : whether another line has the same name, so that the time of the capture tells them
        apart
    to_do : what to do, or what would decide the verdict
    labels : of members what they are called on the page, where that is not their id
    """

    number: int
    repeats: bool
    to_do: str
    labels: Mapping[str, str] = field(default_factory=dict)

    @property
    def anchor(self) -> str:
        """What stands after ``#`` in the address of its detail."""
        return f"group-{self.number}"

    @property
    def says(self) -> str:
        """The verdict in the words of tables."""
        return self.verdict.shown(self.fall)

    @property
    def mark(self) -> str:
        """A sign that tells the verdict without colour."""
        return MARKS[self.says][0]

    @property
    def tone(self) -> str:
        """The verdict's tone: "bad", "open", "good" or "none"."""
        return MARKS[self.says][1]

    @cached_property
    def strip(self) -> Strip | None:
        """The loads as small bars; None where there are none."""
        limit = None if self.best is None else int(self.best.rpartition("-")[2])
        return strip(self.loads, limit) if self.loads else None


def line_of(judged: Judged, number: int, lowest: LowestPeak | None, *, repeats: bool) -> Line:
    """Return the line of a judged group.

    Parameters
    ----------
    lowest : the lowest peak lag that there can be; None where that is not known
    repeats : whether another line has its name
    """
    labels = zip(judged.group.members, labels_of(judged.group), strict=True)
    return Line(
        **vars(glance_of(judged, lowest)),
        number=number,
        repeats=repeats,
        to_do=to_do(judged),
        labels={name: label for name, label in labels if name != label},
    )


def line_of_glance(glance: Glance, number: int, *, repeats: bool) -> Line:
    """Return the line of a group of which only that much is known."""
    said = to_do_in(
        glance.verdict,
        glance.to_move,
        glance.fall,
        glance.nouns,
        may_rebalance=glance.may_rebalance,
    )
    return Line(**vars(glance), number=number, repeats=repeats, to_do=said)


def shown_best(judged: Judged) -> Assignment | None:
    """Return the best assignment, where it is not open what that is."""
    return None if judged.verdict.question else judged.target
