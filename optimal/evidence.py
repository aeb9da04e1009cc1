"""Evidence: derived columns of an assignment of a fleet: readers, owners, moves, costs, values."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from groups.arrays import exact_sums
from groups.assignment import valid_in
from groups.tiers import cost_of, racks_of, values_in

if TYPE_CHECKING:
    from groups.arrays import Bools, Int32, Int64, Ints
    from groups.assignment import Assignment
    from groups.fleet import Fleet
    from groups.group import Group
    from groups.tiers import Exact, Objective


@dataclass(frozen=True, eq=False)
class Evidence:
    """Derived columns of an assignment of a fleet, each computed once.

    Arrays of shape (read,) have an entry for each partition that somebody reads.

    Attributes
    ----------
    assignment : of `fleet.group`, which holds all groups of the fleet
    """

    fleet: Fleet
    assignment: Assignment
    _values: dict[str, Exact] = field(default_factory=dict)

    @property
    def group(self) -> Group:
        """The groups side by side."""
        return self.fleet.group

    @property
    def held(self) -> Int32:
        """(all partitions,) int32: the holder of each, -1 nobody."""
        return self.assignment.owner

    @property
    def loads(self) -> Int64:
        """(members,) int64: how many partitions each member holds."""
        return self.assignment.loads

    @cached_property
    def all_read(self) -> bool:
        """Whether every partition has a reader."""
        return bool((self.group.readers[self.group.partitions > 0] > 0).all())

    @cached_property
    def read(self) -> Int64 | slice:
        """The partitions that somebody reads."""
        if self.all_read:
            return slice(None)
        return np.flatnonzero(self.group.readers[self.group.topic] > 0)

    @cached_property
    def owned(self) -> Bools:
        """(read,) bool: whether a partition has a valid owner."""
        return np.asarray(self.group.owner[self.read] >= 0, bool)

    @cached_property
    def moved(self) -> Bools:
        """(read,) bool: whether a partition has a valid owner and is not with it now."""
        if not self.owned.any():
            return self.owned
        differs = (self.group.owner != self.held)[self.read]
        return np.asarray(differs if self.owned.all() else self.owned & differs, bool)

    @cached_property
    def valid(self) -> Bools:
        """(groups,) bool: whether readers hold all that is read, and nobody the rest."""
        return valid_in(self.assignment, self.fleet)

    def values(self, objective: Objective) -> Exact:
        """Return the value of each tier for each group: (groups, tiers)."""
        new = tuple(tier for tier in objective if tier not in self._values)
        if new:
            found = values_in(self.assignment, self.fleet, new)
            self._values.update(zip(new, found.T, strict=True))
        return np.stack([self._values[tier] for tier in objective], axis=1)

    def far(self, tier: str, member: Ints) -> Int64:
        """(read,) int64: 1 where `member` is far from a partition's replicas or copies."""
        racks = racks_of(self.group, (tier,))
        if racks is None:
            return np.zeros(len(member), np.int64)
        return racks.lack(racks.replicas[self.read], racks.member[member]).astype(np.int64)

    def leaving(self, tier: str) -> Int64 | Bools:
        """(read,) int64 or bool: what each partition would cost in a tier if it left its owner."""
        return self._weighed(self.owned, tier)

    def costs(self, tier: str) -> Int64 | Bools:
        """(read,) int64 or bool: what each partition costs in a tier with its holder."""
        if cost_of(tier).far:
            return self.far(tier, self.held[self.read])
        return self._weighed(self.moved, tier)

    def _weighed(self, chosen: Bools, tier: str) -> Int64 | Bools:
        """(read,) int64 or bool: the cost of leaving the owner for chosen partitions, else 0."""
        if cost_of(tier).weight is None and cost_of(tier).leaving:
            return chosen
        return np.where(chosen, cost_of(tier).of_leaving(self.group, self.read), 0)

    def dearest(self, tier: str) -> Int64 | Bools:
        """(read,) int64: the most that each partition can cost in a tier: far, or moved."""
        far = cost_of(tier).far
        return np.ones(len(self.owned), np.int64) if far else self.leaving(tier)

    def of_groups(self, column: Int64 | Bools) -> Exact:
        """Return the sum of a column, (read,), over the partitions of each group, (groups,)."""
        if self.all_read or len(self.fleet) == 1:
            start = self.fleet.partition_start if self.all_read else np.array([0, len(column)])
            return exact_sums(column, start)
        every = np.zeros(len(self.held), np.int64)
        every[self.read] = column
        return exact_sums(every, self.fleet.partition_start)

    @cached_property
    def even_squares(self) -> Int64:
        """(topics,) int64: the least sum of squares: readers' shares differ by 1 at most."""
        share, more = np.divmod(self.group.partitions, np.maximum(self.group.readers, 1))
        least = more * (share + 1) ** 2 + (self.group.readers - more) * share**2
        return np.where(self.group.readers > 0, least, 0)
