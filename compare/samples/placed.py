"""Placed: what the members of a sample hold before something happens to them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from groups.arrays import NOBODY
from groups.fleet import Fleet
from groups.tiers import parse_objective

if TYPE_CHECKING:
    from collections.abc import Sequence

    from groups import Group
    from groups.arrays import Int32


def placed(groups: Sequence[Group]) -> list[Int32]:
    """Return an optimal assignment of each group: the owners, (all partitions,) int32.

    Which of those that are as good does not follow from how solutions decide between them, so
    that the groups of a seed stay what they are when that changes.
    """
    from optimal.flow.recipe import flow

    fleet = Fleet.of(groups)
    found = flow(fleet.group, parse_objective("kip-54"), settle_ties=False).owner
    assert found is not None
    return [
        np.where(owner < 0, NOBODY, owner - first).astype(np.int32)
        for owner, first in zip(
            np.split(found, fleet.partition_start[1:-1]),
            fleet.member_start[:-1].tolist(),
            strict=True,
        )
    ]
