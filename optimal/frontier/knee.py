"""Knee: the trade-off up to which a unit of one tier buys more of the other than after it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from optimal.frontier.point import Point


def knee(points: Sequence[Point]) -> int | None:
    """Return the number of the knee, None where no point is below the line between the ends.

    It is the point furthest from that line, with each tier measured by its range: the one where
    the share lost in the one tier and the share lost in the other add up to least. Of several the
    first. (V. Satopää et al., Finding a "Kneedle" in a Haystack, 2011,
    doi:10.1109/ICDCSW.2011.20, without its smoothing.)

    Parameters
    ----------
    points : as `frontier` returns them

    Examples
    --------
    >>> from assay import Group, frontier
    >>> from optimal.frontier.knee import knee
    >>> document = {"format": "assay-group/1", "group": "orders", "topics": {"t0": 6}}
    >>> members = {"c0": {"subscription": ["t0"], "owned": {"t0": [0, 1, 2, 3, 4, 5]}}}
    >>> members |= {c: {"subscription": ["t0"]} for c in ("c1", "c2", "c3")}
    >>> group = Group.from_dict(document | {"members": members})
    >>> points = frontier(group, "balance", "stickiness")
    >>> [(point.first_value, point.second_value) for point in points]
    [(4, 4), (6, 3), (12, 2), (16, 1), (18, 0)]
    >>> knee(points)
    1
    """
    if len(points) < 3:
        return None
    first, last = points[0], points[-1]
    wide = last.first_value - first.first_value
    high = first.second_value - last.second_value
    below = [
        wide * high
        - (point.first_value - first.first_value) * high
        - (point.second_value - last.second_value) * wide
        for point in points
    ]
    most = max(below)
    return below.index(most) if most > 0 else None
