"""Lightest: what a member carries at least that holds a heavy partition, topics being even."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from groups.arrays import Bools, Int64
    from optimal.exchange.choices import Choices


def lightest_with_one(
    choices: Choices, only: Bools, heaviest: int
) -> Iterator[tuple[Int64, Int64]]:
    """Yield of each topic with a heaviest partition its readers, and what they carry with it.

    They hold their share, rounded down, of every topic that they read, the lightest of it.

    Parameters
    ----------
    only : (kinds,) bool, whether some members alone may hold partitions of a kind
    heaviest : what the heaviest partition of those weighs
    """
    piles, members = choices.least.shape
    share = choices.least.max(axis=1, initial=0)
    order = np.lexsort((choices.size, choices.pile))
    starts = np.searchsorted(choices.pile[order], np.arange(piles + 1))
    size = choices.size[order]
    light = [int(size[starts[t] : starts[t] + share[t]].sum()) for t in range(piles)]
    row = np.zeros((piles, members), bool)
    row[choices.pile] = choices.may[choices.kind]
    of_member = np.where(row, np.array(light, np.int64)[:, None], 0).sum(axis=0)
    heavy = only[choices.kind] & (choices.size >= heaviest)
    for t in np.unique(choices.pile[heavy]).tolist():
        mine = size[starts[t] : starts[t + 1]]
        others = int(mine[: max(0, int(share[t]) - 1)].sum())
        readers = np.flatnonzero(row[t])
        yield readers, of_member[readers] - light[t] + heaviest + others
