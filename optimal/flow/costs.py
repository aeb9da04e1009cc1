"""Costs: the tiers that cost each partition by itself, each in a line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from groups.arrays import Bools, Int64
    from groups.group import Group


@dataclass(frozen=True)
class Cost:
    """What a tier costs a partition: for its member alone, whatever the others have.

    Attributes
    ----------
    leaving : whether it costs something to leave the owner
    weight : how much that is, (partitions,) int64, -1 where unknown; None: 1 each
    far : whether a member costs 1 whose rack holds no replica
    """

    leaving: bool = False
    weight: Callable[[Group], Int64 | None] | None = None
    far: bool = False

    def of_leaving(self, group: Group, partitions: Int64) -> Int64:
        """Return what it costs some partitions to leave their owners, (len,) int64."""
        if not self.leaving:
            return np.zeros(len(partitions), np.int64)
        weight = None if self.weight is None else self.weight(group)
        if weight is None:
            return np.full(len(partitions), int(self.weight is None), np.int64)
        return weight[partitions]

    def greatest(self, group: Group) -> int:
        """Return a bound on what one partition costs."""
        if self.weight is None:
            return 1
        weight = self.weight(group)
        return 0 if weight is None else int(weight.max(initial=0))

    def dearest(self, group: Group) -> Int64 | Bools:
        """(all partitions,) int64 or bool: a bound on what each costs."""
        weight = None if self.weight is None else self.weight(group)
        if weight is None:
            return np.full(group.n_partitions, self.weight is None)
        return np.where(group.owner >= 0, np.maximum(weight, 0), 0)


COSTS = {
    "stickiness": Cost(leaving=True),
    "moved_weight": Cost(leaving=True, weight=lambda group: group.weight),
    "racks": Cost(far=True),
}
