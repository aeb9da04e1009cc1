"""Hosts: how many partitions each host holds, and whether hosts could be more even."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from groups.errors import AssayError
from groups.tiers import Objective, places_of
from groups.wording import few
from optimal.solve import solve

if TYPE_CHECKING:
    from collections.abc import Sequence

    from groups.arrays import Int64
    from groups.assignment import Assignment

SECONDS = 1.0
EVEN_HOSTS = "balance > host_balance > moves"
MOST_ON_HOST = 8


@dataclass(frozen=True)
class HostRow:
    """A host: its partitions now and in the best assignment, and each member's partitions now."""

    host: str
    now: int
    best: int
    members: tuple[tuple[str, int], ...]

    @property
    def each_holds(self) -> str:
        """What each member holds, as ``c0 5, c1 3``; only the first few of more than 8."""
        texts = [f"{member} {load}" for member, load in self.members]
        return few(texts) if len(texts) > MOST_ON_HOST else ", ".join(texts)


def host_rows(now: Assignment, best: Assignment, called: Sequence[str]) -> list[HostRow]:
    """Return a row for each host, the one with most partitions per member first.

    Empty if a host is unknown, if there is only one, or if each has only one member.

    Parameters
    ----------
    called : the name to show for each member
    """
    places = now.group.places("host")
    if (places.member < 0).any() or not 1 < len(places.names) < len(called):
        return []
    on: list[list[tuple[str, int]]] = [[] for _ in places.names]
    for member, at, load in zip(called, places.member, now.loads.tolist(), strict=True):
        on[at].append((member, load))
    held, then = (places.loads(of).tolist() for of in (now.loads, best.loads))
    rows = [HostRow(*row) for row in zip(places.names, held, then, map(tuple, on), strict=True)]
    return sorted(rows, key=lambda row: -row.now / len(row.members))


@dataclass(frozen=True, eq=False)
class UnevenHosts:
    """Hosts whose loads could be more even while members stay as even as can be.

    Attributes
    ----------
    fullest, emptiest : (name, partitions, members) of the host with most and least per member
    could : (hosts,) int64, what each host holds in the most even of the assignments whose members
        are as even as can be
    """

    fullest: tuple[str, int, int]
    emptiest: tuple[str, int, int]
    could: Int64


def uneven_hosts(now: Assignment, target: Assignment, objective: Objective) -> UnevenHosts | None:
    """Return the fullest and the emptiest host, and how even hosts could be.

    None if a host is unknown, if each host has one member or all members are on one, if the
    objective has a tier on places, or if hosts are as even as can be, now or in `target`.
    """
    group, places = target.group, target.group.places("host")
    known = (places.member >= 0).all() and 1 < len(places.names) < len(group.members)
    if places_of(objective) or not (known and now.is_valid):
        return None
    try:
        best = solve(group, EVEN_HOSTS, time_limit=SECONDS).assignment
    except AssayError:
        return None
    least = min(places.squares(one.loads) for one in (now, target))
    if best is None or least <= places.squares(best.loads):
        return None
    held, size = (places.loads(of).tolist() for of in (now.loads, np.ones_like(now.loads)))
    order = sorted(range(len(held)), key=lambda at: held[at] / size[at])
    few, many = ((places.names[at], held[at], size[at]) for at in (order[0], order[-1]))
    return UnevenHosts(many, few, places.loads(best.loads))
