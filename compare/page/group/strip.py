"""Strip: the loads of a group as small bars, with the best greatest load as a line over them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from groups.wording import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

MOST_BARS = 48
HEIGHT = 24
GAP = 1
# Of few members the bars are wider, so that they can be seen.
NARROWEST, WIDEST, ROOM = 4, 10, 40


@dataclass(frozen=True)
class Strip:
    """Bars in a box of `width` x `height`, as paths of SVG.

    Attributes
    ----------
    below, above : the bars up to the line, and what is over it
    line : how far down the line is; None where there is none
    told : the same in words
    """

    width: int
    height: int
    below: str
    above: str
    line: float | None
    told: str


def strip(loads: Sequence[int], limit: int | None, *, most: int | None = None) -> Strip | None:
    """Return the bars of some loads, the greatest first; None where nobody holds anything.

    Of more members than there is room for, evenly spaced ones of the sorted row are drawn.

    Parameters
    ----------
    limit : the greatest load in the best assignment
    most : the load that the box is as high as; None: the greatest
    """
    ordered = sorted(loads, reverse=True)
    if not ordered or not ordered[0]:
        return None
    if len(ordered) > MOST_BARS:
        last = len(ordered) - 1
        ordered = [ordered[round(i * last / (MOST_BARS - 1))] for i in range(MOST_BARS)]
    top = max(ordered[0], limit or 0, most or 0)
    step = max(NARROWEST, min(WIDEST, ROOM // len(ordered)))
    below, above = [], []
    for i, load in enumerate(ordered):
        under = load if limit is None else min(load, limit)
        below.append(_bar(i * step, step, 0, under, top))
        if under < load:
            above.append(_bar(i * step, step, under, load, top))
    least = "" if min(loads) == max(loads) else f"{min(loads):,} to "
    told = f"{counted(len(loads), 'member')} with {least}{max(loads):,} each"
    if limit is not None:
        told += f"; at best {limit:,} at most"
    return Strip(
        width=len(ordered) * step,
        height=HEIGHT,
        below="".join(below),
        above="".join(above),
        line=None if limit is None else _down(limit, top),
        told=told,
    )


def _bar(left: int, step: int, low: int, high: int, top: int) -> str:
    if high <= low:
        return ""
    foot, head = _down(low, top), _down(high, top)
    return f"M{left} {foot:g}V{head:g}h{step - GAP}V{foot:g}z"


def _down(load: int, top: int) -> float:
    return round(HEIGHT - HEIGHT * load / top, 1)
