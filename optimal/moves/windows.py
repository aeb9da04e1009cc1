"""Windows: how many partitions each member may hold, where budgets are about that."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from groups.arrays import Int64
    from optimal.exchange.choices import Choices


@dataclass(frozen=True, eq=False)
class Windows:
    """The choices within budgets on counts.

    Attributes
    ----------
    hull : with what every member holds at least and at most in all of them
    each : those in which the least and the most differ by no more than the budget
    spread : by how much the counts of two members may differ, None for any
    """

    hull: Choices
    each: list[Choices]
    spread: int | None = None

    @staticmethod
    def of(choices: Choices, at_most: Mapping[str, int], even: Int64) -> Windows:
        """Return the choices within budgets.

        Parameters
        ----------
        even : (members,) int64, how many each member holds where that is as even as can be; the
            least and the greatest of it say which windows there are
        """
        counts = counts_within(choices.members, len(choices.read), at_most)
        if counts is None:
            return Windows(choices, [choices])
        least, most = counts
        spread = at_most.get("load_spread")
        hull = _within(choices, least, most)
        if spread is None:
            return Windows(hull, [hull])
        first = max(0, int(even.max()) - spread)
        each = [
            _within(choices, max(low, least), min(low + spread, most))
            for low in range(first, int(even.min()) + 1)
        ]
        return Windows(hull, each, spread)


def counts_within(
    members: int, partitions: int, at_most: Mapping[str, int]
) -> tuple[int, int] | None:
    """(the fewest, the most) partitions that a member holds within budgets, None for any number.

    All others hold at most the budget on the spread more than the emptiest, and at most that less
    than the fullest, and all hold them all. Nobody is idle where there are enough.
    """
    if not members or not {"load_spread", "idle_members"} & at_most.keys():
        return None
    least, most = 0, partitions
    if (spread := at_most.get("load_spread")) is not None:
        apart = (members - 1) * spread
        least, most = max(0, -((apart - partitions) // members)), (partitions + apart) // members
    if at_most.get("idle_members") == 0:
        least = max(least, int(partitions >= members))
        most = most if partitions >= members else 1
    return least, min(most, partitions)


def _within(choices: Choices, least: int, most: int) -> Choices:
    low, high = np.full_like(choices.least, least), np.full_like(choices.most, most)
    return replace(
        choices, least=np.maximum(choices.least, low), most=np.minimum(choices.most, high)
    )
