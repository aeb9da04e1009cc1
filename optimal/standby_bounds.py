"""Standby bounds: what standbys cost at least beside any active tasks that are as good."""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from optimal.solution import Solution


def standby_bounds(actives: Solution, replicas: int) -> tuple[int, int, int]:
    """Return lower bounds on `load_squares`, `host_balance` and `restores`, in this order.

    A process has a task that keeps state once at most, which bounds its load; what is left is
    filled up by the least step, which is optimal for separable convex costs (Fox 1966,
    doi:10.1287/opre.14.2.210). docs/explanation/proof.md has the argument.

    Parameters
    ----------
    actives : an optimal solution of a streams group of which it is known what keeps state
    replicas : ``num.standby.replicas``
    """
    group, places = actives.group, actives.group.places("host")
    threads = np.bincount(places.member, minlength=len(places.names)).tolist()
    each = max(0, min(replicas, len(threads) - 1))
    had = _copies(actives)
    stateful, tasks = len(had), group.n_partitions
    fewest, most = 0, tasks
    if actives.objective[0] == "balance":
        fewest, more = divmod(tasks, len(group.members))
        most = fewest + (more > 0)
    everywhere = stateful * (each == len(threads) - 1)
    loads = [max(everywhere, n * fewest) for n in threads]
    rooms = [stateful + min(tasks - stateful, n * most) for n in threads]
    steps = [
        (2 * (load // n) + 1, weight * (2 * load + 1), h)
        for h, (load, n, weight) in enumerate(zip(loads, threads, places.weight, strict=True))
    ]
    heapify(steps)
    for _ in range(tasks + each * stateful - sum(loads)):
        _, _, h = heappop(steps)
        loads[h] += 1
        if loads[h] < rooms[h]:
            step = 2 * (loads[h] // threads[h]) + 1
            heappush(steps, (step, places.weight[h] * (2 * loads[h] + 1), h))
    squares = 0
    for load, n in zip(loads, threads, strict=True):
        least, more = divmod(load, n)
        squares += n * least**2 + more * (2 * least + 1)
    even = sum(w * load**2 for w, load in zip(places.weight, loads, strict=True))
    return squares, even, _restores(actives, had, each)


def _copies(actives: Solution) -> list[int]:
    """Return on how many processes each task that keeps state has a copy."""
    copies = actives.group.copies
    assert copies is not None
    of_set = np.bincount(copies.holds // max(1, len(copies.names)), minlength=1)
    of_set = np.pad(of_set, (0, len(copies.replicas)))
    found: list[int] = of_set[copies.replicas[copies.replicas >= 0]].tolist()
    return found


def _restores(actives: Solution, had: list[int], each: int) -> int:
    """Return how many standbys are on a process without a copy, whichever actives restore.

    An active task that restores leaves one more copy to its standbys than one that does not.
    """
    none = had.count(0)
    restored = {term.name: term.value for term in actives.terms}.get("restores", len(had)) - none
    missing = sum(each if not copies else max(0, each - copies + 1) for copies in had)
    return missing - min(restored, sum(0 < copies <= each for copies in had))
