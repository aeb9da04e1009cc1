"""The closed form for blocks in which every member reads every partition (DESIGN section 4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from groups.group import Int64


def closed_form(
    block: Int64, owned: Int64, floor: Int64, extra: Int64
) -> tuple[Int64, Int64, Int64]:
    """Return (kept, given, price) of members whose blocks need no flow, (members,) int64 each.

    The `extra` places above the floor go to those who own most, then to the first; each keeps
    what fits its place and is given the rest. Prices follow from who owns how much: where more
    own above the floor than places are free, the others are worth one less; else those who own
    above their place cost one more.

    Parameters
    ----------
    block : (members,) int64, block of each member
    owned : (members,) int64, partitions of the block that each owns
    floor, extra : (blocks,) int64
    """
    order = np.lexsort((-owned, block))
    starts = np.flatnonzero(np.concatenate(([True], block[order][1:] != block[order][:-1])))
    if not len(block):
        starts = np.empty(0, np.int64)
    size = np.diff(np.append(starts, len(block)))
    rank = np.empty(len(block), np.int64)
    rank[order] = np.arange(len(block)) - np.repeat(starts, size)
    place = floor[block] + (rank < extra[block])
    kept = np.minimum(owned, place)
    rich = np.bincount(block[owned > floor[block]], minlength=len(floor))
    contested = (rich > extra)[block] & (extra[block] > 0)
    above = owned > floor[block] + (extra[block] > 0)
    price = np.where(contested, -(owned <= floor[block]).astype(np.int64), above)
    return kept, place - kept, price
