"""Hosts: whether what members hold is uneven between the hosts on which they stand."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from compare.sentences import spread
from groups.errors import AssayError
from groups.tiers import places_of
from groups.wording import counted
from optimal.solve import solve

if TYPE_CHECKING:
    from compare.judged import Judged

SECONDS = 1.0
EVEN_HOSTS = "balance > host_balance > moves"


def hosts_told(judged: Judged) -> str | None:
    """Return which hosts have most and least for a member, and how even they could be.

    None where that is not known, each host has one member or all are on one, the objective is
    about places itself, or hosts are as even as such loads allow, now or in the best assignment.
    """
    now, target = judged.now, judged.target
    if target is None or judged.best is None or not now.is_valid:
        return None
    group, places = target.group, target.group.places("host")
    known = (places.member >= 0).all() and 1 < len(places.names) < len(group.members)
    if places_of(judged.best.objective) or not known:
        return None
    try:
        best = solve(group, EVEN_HOSTS, time_limit=SECONDS).assignment
    except AssayError:
        return None
    least = min(places.squares(one.loads) for one in (now, target))
    if best is None or least <= places.squares(best.loads):
        return None
    held, size = places.loads(now.loads), places.loads(np.ones_like(now.loads))
    order = np.argsort(held / size, kind="stable")
    few, many = (f"{held[at]:,} for {counted(int(size[at]), 'member')}" for at in order[[0, -1]])
    return (
        f"Hosts are uneven: {places.names[order[-1]]} has {many}, {places.names[order[0]]} {few}. "
        f"With loads as even they could have {spread(places.loads(best.loads))}."
    )
