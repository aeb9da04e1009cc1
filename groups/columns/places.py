"""Places: where the members of a group stand, on hosts or in racks."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from math import lcm
from typing import TYPE_CHECKING, Literal

import numpy as np

from groups.arrays import NOBODY

if TYPE_CHECKING:
    from groups.arrays import Int64
    from groups.group import Group

PlaceKind = Literal["host", "rack"]
# What tells the threads of a process apart at the end of a client id, as in orders-3 and
# app-StreamThread-2-consumer.
_THREAD = re.compile(r"(-StreamThread-\d+(-consumer)?|[-._#]\d+)$")
# The finer kind first: a host stands in one rack.
PLACE_KINDS: tuple[PlaceKind, ...] = ("host", "rack")


@dataclass(frozen=True, eq=False)
class Places:
    """Where the members of a group stand, and what the square of a load counts there.

    Attributes
    ----------
    names : of the places on which members stand
    member : (members,) int64, index into `names`, -1 where unknown
    weight : of each place, the least common multiple of the numbers of members, divided by how
        many stand there: of the most even loads a member, the weighted squares add up to least
    """

    names: tuple[str, ...]
    member: Int64
    weight: tuple[int, ...]

    @staticmethod
    def of(group: Group, kind: PlaceKind) -> Places:
        """Return the hosts of a group's members, or their racks."""
        named: list[str | None] = [None] * len(group.members)
        if kind == "host":
            named = [one.host for one in group.details] or named
        elif group.racks is not None:
            named = [None if at < 0 else group.racks.names[at] for at in group.racks.member]
        names = tuple(sorted({name for name in named if name is not None}))
        index = {name: at for at, name in enumerate(names)}
        member = np.array([NOBODY if n is None else index[n] for n in named], np.int64)
        size = np.bincount(member[member >= 0], minlength=len(names)).tolist()
        common = lcm(*size)
        return Places(names, member, tuple(common // n for n in size))

    def loads(self, loads: Int64) -> Int64:
        """Return how many partitions each place has, (places,) int64, of each member's load."""
        there = self.member >= 0
        held = np.bincount(self.member[there], loads[there], len(self.names))
        return held.astype(np.int64)

    def squares(self, loads: Int64) -> int:
        """Return the weighted sum of the squares of what the places have, however large."""
        each = zip(self.weight, self.loads(loads).tolist(), strict=True)
        return sum(weight * load**2 for weight, load in each)


def on_hosts_by_client_id(group: Group) -> Group:
    """Return the group whose members stand on a host if their client ids begin alike.

    That is, up to ``-StreamThread-N`` or the last number. One without a client id has no host.
    """
    ids = [one.client_id for one in group.details]
    hosts = [None if name is None else _THREAD.sub("", name) or name for name in ids]
    details = (replace(one, host=h) for one, h in zip(group.details, hosts, strict=True))
    line = "hosts taken from client ids, without the thread or number at their end"
    return replace(group, details=tuple(details), assumed=(*group.assumed, line))
