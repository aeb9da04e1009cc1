"""Point: a trade-off of two tiers and what is known of it; Frontier: all of them; the knee."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from groups.framed import Framed
from optimal.proof import ProofKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from groups.assignment import Assignment


@dataclass(frozen=True, eq=False)
class Point:
    """A trade-off of two tiers and what is known of it.

    Attributes
    ----------
    first_value, second_value : the values of the two tiers
    first_bound : no assignment with so small a second value has less in the first tier; None
        where nothing is known
    second_bound : no assignment with so small a first value has less in the second tier
    assignment : an assignment with these values
    proof : what the bounds rest on where both meet their values, else of kind ``none``
    complete : whether it is proved that no efficient trade-off lies between this point and the
        next one; of the last point, that no assignment has less in the second tier
    tiers : names of the two tiers; ``point["moves"]`` is the value of one
    """

    first_value: int
    second_value: int
    first_bound: int | None
    second_bound: int | None
    assignment: Assignment
    proof: ProofKind
    complete: bool = False
    tiers: tuple[str, str] = ("first", "second")

    def __getitem__(self, tier: str) -> int:
        """Return the value of a tier, by its name.

        Raises
        ------
        KeyError
            Where the point is about two other tiers.
        """
        return dict(zip(self.tiers, self.at, strict=True))[tier]

    @property
    def proved(self) -> bool:
        """Whether it is proved that nothing is better in one tier and as good in the other."""
        return self.proof is not ProofKind.NONE

    @property
    def at(self) -> tuple[int, int]:
        """The values of both tiers."""
        return self.first_value, self.second_value

    def weakly_dominates(self, other: Point) -> bool:
        """Return whether it is as good as another one in both tiers."""
        return self.first_value <= other.first_value and self.second_value <= other.second_value


class Frontier(Framed, tuple[Point, ...]):
    """The trade-offs that were found, and why others may be missing.

    Attributes
    ----------
    left_out : in words what is not here, and why; None where it is proved that nothing is missing
    """

    left_out: str | None

    def __new__(cls, points: Iterable[Point], left_out: str | None = None) -> Frontier:
        """Hold points in order."""
        made = super().__new__(cls, points)
        made.left_out = left_out
        return made

    def to_rows(self) -> Iterator[dict[str, object]]:
        """Return a row a point.

        The columns are the two tiers by their names, ``NAME_bound`` of each, None where nothing
        is known, and `proved` and `complete`, as a point has them.
        """
        for point in self:
            bounds = (point.first_bound, point.second_bound)
            named = zip(point.tiers, bounds, strict=True)
            yield {
                **dict(zip(point.tiers, point.at, strict=True)),
                **{f"{tier}_bound": bound for tier, bound in named},
                "proved": point.proved,
                "complete": point.complete,
            }


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
    >>> from optimal.frontier.point import knee
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
