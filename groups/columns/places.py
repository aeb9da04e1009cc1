"""Places: the hosts or racks on which members stand, and what else a snapshot says of members."""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import lcm
from typing import TYPE_CHECKING, Literal

import numpy as np

from groups.arrays import NOBODY

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from groups.arrays import Int64


PlaceKind = Literal["host", "rack"]
# What tells the threads of a process apart at the end of a client id, as in orders-3 and
# app-StreamThread-2-consumer.
_THREAD = re.compile(r"(-StreamThread-\d+(-consumer)?|[-._#]\d+)$")
# The finer kind first: a host stands in one rack.
PLACE_KINDS: tuple[PlaceKind, ...] = ("host", "rack")


@dataclass(frozen=True)
class MemberDetails:
    """What a snapshot says of a member besides its subscription, claims and rack."""

    instance_id: str | None = None
    client_id: str | None = None
    host: str | None = None
    assignors: tuple[str, ...] | None = None
    capacity: int | None = None
    epoch: int | None = None
    target: Mapping[str, tuple[int, ...]] | None = None
    subscription_regex: str | None = None


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
    def of(named: Sequence[str | None]) -> Places:
        """Return the places on which members stand, (members,) names, None if unknown."""
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


def host_of_client(client_id: str) -> str:
    """Return the client id without what tells the threads of a process apart at its end.

    Examples
    --------
    >>> host_of_client("orders-pod7-3"), host_of_client("app-5f-StreamThread-2-consumer")
    ('orders-pod7', 'app-5f')
    """
    return _THREAD.sub("", client_id) or client_id
