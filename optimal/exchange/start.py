"""Start: longest first under the counts, where the choices are the same for all."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from groups.arrays import Int64
    from optimal.exchange.choices import Choices


def longest_first(choices: Choices) -> Int64 | None:
    """Give the heaviest partition left to the member that carries least and has room.

    Graham's rule (1969, doi:10.1137/0117039) with counts: of each pile only as many members may
    hold one more than the least as are left over when all hold the least.

    Returns
    -------
    (read,) int64 members; None where some partition finds no member, which happens only where
    members may hold different partitions
    """
    holder = np.full(len(choices.read), -1, np.int64)
    loads = np.zeros(choices.members, np.int64)
    held = np.zeros(choices.least.shape, np.int64)
    spare = np.bincount(choices.pile, minlength=len(held)) - choices.least.sum(axis=1)
    for p in np.lexsort((np.arange(len(holder)), -choices.size)).tolist():
        pile = int(choices.pile[p])
        limit = choices.most[pile] if spare[pile] > 0 else choices.least[pile]
        open_to = np.flatnonzero(choices.may[choices.kind[p]] & (held[pile] < limit))
        if not len(open_to):
            return None
        heights = choices.heights(loads + choices.size[p] * (choices.rate is not None))
        member = int(open_to[heights[open_to].argmin()])
        spare[pile] -= held[pile, member] >= choices.least[pile, member]
        holder[p] = member
        held[pile, member] += 1
        loads[member] += choices.size[p]
    return holder if choices.keeps(holder) else None
