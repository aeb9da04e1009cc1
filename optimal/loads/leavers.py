"""Leavers: how many partitions have to leave their owners before no member carries too much."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from groups.arrays import Int64
    from optimal.loads.candidates import Candidates


@dataclass(frozen=True, eq=False)
class Leavers:
    """What each member owned, and how many partitions it may hold.

    Attributes
    ----------
    owned : of each member the sums of its 0, 1, 2, ... lightest partitions, int64 each
    light : (read + 1,) int64, the same of all partitions
    least, most : (members,) int64, how many partitions a member holds
    unowned : how many partitions nobody owns
    """

    owned: list[Int64]
    light: Int64
    least: Int64
    most: Int64
    unowned: int

    @staticmethod
    def of(candidates: Candidates) -> Leavers:
        """Sort what everybody owned."""
        home = candidates.home
        order = np.lexsort((candidates.size, home))
        starts = np.searchsorted(home[order], np.arange(candidates.members + 1))
        owned = [_sums(candidates.size[order[a:b]]) for a, b in pairwise(starts.tolist())]
        return Leavers(
            owned,
            _sums(np.sort(candidates.size)),
            candidates.least.sum(axis=0),
            np.minimum(candidates.most.sum(axis=0), len(home)),
            int((home < 0).sum()),
        )

    def needed(self, room: Int64) -> int:
        """Return a bound on the moves that it takes until nobody carries more than its room.

        Each member has to give up its heaviest partitions until the rest fits, with the lightest
        ones that make up its number. Those that owned too much, together, have to take as many
        back as their numbers ask for, and others have to give them up (docs/explanation/lag.md).

        Parameters
        ----------
        room : (members,) int64

        Returns
        -------
        more than there are partitions where no number of moves is enough
        """
        givers = [m for m, sums in enumerate(self.owned) if int(sums[-1]) > int(room[m])]
        gives = [self._gives(m, int(room[m])) for m in range(len(self.owned))]
        inside = sum(gives[m] for m in givers)
        outside = sum(gives) - inside
        out, back = self._exchanged(givers, sum(int(room[m]) for m in givers))
        return max(inside, out) + max(outside, back - self.unowned)

    def givers(self, room: Int64) -> tuple[int, ...]:
        """Return the members that owned more than their room."""
        return tuple(m for m, sums in enumerate(self.owned) if int(sums[-1]) > int(room[m]))

    def _gives(self, member: int, room: int) -> int:
        """Return how many partitions a member gives up at least."""
        sums = self.owned[member]
        count = len(sums) - 1
        given = np.arange(max(0, count - int(self.most[member])), count + 1)
        taken = np.maximum(int(self.least[member]) - count + given, 0)
        fits = sums[count - given] + self.light[np.minimum(taken, len(self.light) - 1)] <= room
        return int(given[fits.argmax()]) if fits.any() else len(self.light)

    def _exchanged(self, givers: list[int], room: int) -> tuple[int, int]:
        """(how many partitions leave some members together, how many come to them) at least."""
        nothing = np.zeros(0, np.int64)
        sizes = np.sort(np.concatenate([nothing, *(np.diff(self.owned[m]) for m in givers)]))
        sums, count = _sums(sizes), len(sizes)
        given = np.arange(max(0, count - int(self.most[givers].sum())), count + 1)
        taken = np.maximum(int(self.least[givers].sum()) - count + given, 0)
        fits = sums[count - given] + self.light[np.minimum(taken, len(self.light) - 1)] <= room
        if not fits.any():
            return len(self.light), 0
        at = int(fits.argmax())
        return int(given[at]), int(taken[at])


def _sums(sizes: Int64) -> Int64:
    """(n + 1,) int64: the sums of the first 0, 1, 2, ... of n numbers."""
    return np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
