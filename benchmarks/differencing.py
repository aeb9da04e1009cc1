"""Balanced differencing: the largest differencing method, with counts that differ by 1 at most."""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from groups.arrays import Int64


def balanced_differencing(size: Int64, members: int) -> Int64:
    """(partitions,) int64: the member of each partition, by the method BLDM.

    Partitions in descending order are cut into rows of one partition per member. The two rows of
    the greatest differences are merged, greatest to least, until one row is left.

    Source: Michiels, Korst, Aarts and van Leeuwen, Performance ratios for the differencing
    method applied to the balanced number partitioning problem, STACS 2003,
    doi:10.1007/3-540-36494-3_51.

    Parameters
    ----------
    size : (partitions,) int64, weight of each
    """
    holder = np.full(len(size), -1, np.int64)
    if not len(size):
        return holder
    order = np.argsort(-size, kind="stable")
    # Dummy partitions of weight 0 fill up the last row.
    padded = np.concatenate((order, np.full(-len(size) % members, -1, np.int64)))
    rows = [row[:, None] for row in padded.reshape(-1, members)]
    weight = np.append(size, 0)
    queue = [(-_difference(weight, row), number, row) for number, row in enumerate(rows)]
    heapify(queue)
    number = len(rows)
    while len(queue) > 1:
        (_, _, one), (_, _, other) = heappop(queue), heappop(queue)
        up = one[np.argsort(weight[one].sum(axis=1), kind="stable")]
        down = other[np.argsort(-weight[other].sum(axis=1), kind="stable")]
        row = np.concatenate((up, down), axis=1)
        heappush(queue, (-_difference(weight, row), number, row))
        number += 1
    last = queue[0][2]
    held = last >= 0
    holder[last[held]] = np.nonzero(held)[0]
    return holder


def _difference(weight: Int64, row: Int64) -> int:
    """Return the greatest sum of a row minus the least."""
    sums = weight[row].sum(axis=1)
    return int(sums.max() - sums.min())
