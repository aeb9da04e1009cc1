"""Hosts: whether what members hold is uneven between the hosts on which they stand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from groups.errors import AssayError
from groups.tiers import Objective, places_of
from optimal.solve import solve

if TYPE_CHECKING:
    from groups.arrays import Int64
    from groups.assignment import Assignment
    from groups.group import Group

SECONDS = 1.0
EVEN_HOSTS = "balance > host_balance > moves"
NO_ASSIGNOR = (
    "No assignor of Kafka's or ours makes it: they know no hosts. What helps: "
    "docs/how-to/even-out-pods.md#what-makes-it-even."
)


@dataclass(frozen=True, eq=False)
class UnevenHosts:
    """Hosts that hold less even loads than the loads of their members allow.

    Attributes
    ----------
    fullest, emptiest : the host with most and the one with least for a member: its name, its
        partitions and its members
    could : (hosts,) int64, what each holds where they are most even of all assignments whose
        members are as even as can be
    """

    fullest: tuple[str, int, int]
    emptiest: tuple[str, int, int]
    could: Int64


def evened_by(group: Group, command: str) -> str:
    """Return what writes the assignment with hosts as even as they could be, and who makes it.

    Parameters
    ----------
    command : what solves the group for `EVEN_HOSTS`
    """
    solve_it = f"{command} writes that assignment."
    # Assignors of Kafka Streams know the processes of their threads.
    return solve_it if group.of_streams else f"{solve_it} {NO_ASSIGNOR}"


def uneven_hosts(now: Assignment, target: Assignment, objective: Objective) -> UnevenHosts | None:
    """Return which hosts have most and least for a member, and how even they could be.

    None where that is not known, each host has one member or all are on one, the objective is
    about places itself, or hosts are as even as such loads allow, now or in the best assignment.
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
