"""Places: the hosts or racks of members, and other details that a snapshot has of members."""

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
# The end of a client id that distinguishes the threads of a process, as in orders-3 and
# app-StreamThread-2-consumer.
_THREAD = re.compile(r"(-StreamThread-\d+(-consumer)?|[-._#]\d+)$")
# From fine to coarse: a host is in one rack.
PLACE_KINDS: tuple[PlaceKind, ...] = ("host", "rack")


@dataclass(frozen=True)
class MemberDetails:
    """What a snapshot says about a member, apart from its subscription, claims and rack."""

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
    """The hosts or racks of the members of a group, and the weight of each place's squared load.

    Attributes
    ----------
    names : the names of the places
    member : (members,) int64, index into `names`, -1 where unknown
    weight : for each place the least common multiple of all places' numbers of members, divided by
        its own number: then the weighted sum of squares is least if loads per member are most even
    """

    names: tuple[str, ...]
    member: Int64
    weight: tuple[int, ...]

    @staticmethod
    def of(named: Sequence[str | None]) -> Places:
        """Return the places of members from their names, (members,), None if unknown."""
        names = tuple(sorted({name for name in named if name is not None}))
        index = {name: at for at, name in enumerate(names)}
        member = np.array([NOBODY if n is None else index[n] for n in named], np.int64)
        size = np.bincount(member[member >= 0], minlength=len(names)).tolist()
        common = lcm(*size)
        return Places(names, member, tuple(common // n for n in size))

    def loads(self, loads: Int64) -> Int64:
        """Return the sum of members' loads at each place, (places,) int64."""
        there = self.member >= 0
        held = np.bincount(self.member[there], loads[there], len(self.names))
        return held.astype(np.int64)

    def squares(self, loads: Int64) -> int:
        """Return the weighted sum of squares of the places' loads, as a Python integer."""
        each = zip(self.weight, self.loads(loads).tolist(), strict=True)
        return sum(weight * load**2 for weight, load in each)


def host_of_client(client_id: str) -> str:
    """Return the client id without the thread or number at its end.

    Examples
    --------
    >>> host_of_client("orders-pod7-3"), host_of_client("app-5f-StreamThread-2-consumer")
    ('orders-pod7', 'app-5f')
    """
    return _THREAD.sub("", client_id) or client_id
