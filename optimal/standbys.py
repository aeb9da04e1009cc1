"""Standbys: the best standby tasks beside given active tasks.

A task that keeps state has standbys on different processes, none on that of its active task. All
tiers are cheapest flows, one after the other, as for active tasks:

            at most 1               carry            lift
    task ------------> process ---> member ---> process ---> sink
    its standbys       that may
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING

import numpy as np

from groups.errors import BadInput
from groups.tiers import SAFE_TOTAL
from optimal.case import STANDBY_TIERS
from optimal.networks import Network, cheapest, least_squares, potentials
from optimal.proof import Proof, ProofKind
from optimal.solution import Standbys, Term
from optimal.time_left import TimeLeft

if TYPE_CHECKING:
    from groups.arrays import Int64
    from groups.assignment import Assignment
    from groups.group import Group
    from optimal.solution import Solution


def standbys_beside(actives: Assignment, replicas: int) -> Standbys:
    """Return the best standbys beside active tasks, minimised in the order of `STANDBY_TIERS`.

    Threads of a process share its state. A standby goes to the thread that has the copy, if that
    thread is to have a standby.

    Parameters
    ----------
    actives : a valid assignment of a streams group
    replicas : ``num.standby.replicas``

    Raises
    ------
    BadInput
        If it is unknown which tasks keep state, the active tasks are not a valid assignment, or
        the numbers of threads of the processes have no common multiple within 64 bits.
    """
    group, places, copies = actives.group, actives.group.places("host"), actives.group.copies
    if copies is None:
        raise BadInput("which tasks keep state is unknown, but standbys are copies of their state")
    if not actives.is_valid:
        raise BadInput(f"actives: {actives.violations[0]}, expected a valid assignment")
    members, processes, at = len(group.members), len(places.names), places.member
    stateful = np.flatnonzero((copies.replicas >= 0) & (actives.owner >= 0))
    each = max(0, min(replicas, processes - 1))
    most = (1 + each) * max(1, group.n_partitions)
    if max(places.weight, default=0) > SAFE_TOTAL // most**2:
        raise BadInput("hosts: their numbers of threads have no common multiple within 64 bits")
    network, task, host = _network_of(at[actives.owner[stateful]], at, processes, each)
    carry = len(task) + members + np.arange(members)
    flow = np.zeros_like(network.tail)
    asks = np.zeros((members + processes, len(STANDBY_TIERS)), np.int64)
    rack = copies.member[np.unique(at, return_index=True)[1]]
    restored = copies.lack(copies.replicas[stateful][task], rack[host])
    if each and len(stateful):
        loads, left, no_copy = actives.loads, TimeLeft.of(None), flow.copy()
        no_copy[: len(task)] = restored
        even = (int(loads.sum()) + each * len(stateful)) // members
        guess = np.maximum(even - loads, 0)
        flow, network, first = least_squares(network, carry, loads, guess, left)
        lift = carry[-1] + 1 + np.arange(processes)
        base, weight = places.loads(loads), np.array(places.weight, np.int64)
        flow, network, second = least_squares(network, lift, base, flow[lift], left, weight=weight)
        flow = cheapest(network, no_copy, left)
        distance = np.stack((first, second, potentials(network, no_copy, flow)), axis=1)
        asks = distance[-1] - distance[-1 - len(asks) : -1]
    taken = np.flatnonzero(flow[: len(task)])
    task, host = stateful[task[taken]], host[taken]
    member = _choose_threads(group, task, host, flow[carry])
    loads = actives.loads + np.bincount(member, minlength=members)
    found = int((loads**2).sum()), places.squares(loads), int(restored[taken].sum())
    prices = {"member": asks[:members], "host": asks[members:]}
    proof = Proof(ProofKind.CERTIFICATE, prices=prices)
    terms = tuple(map(Term, STANDBY_TIERS, found, found))
    return Standbys(actives, replicas, task, member, terms, proof)


def _network_of(
    of_active: Int64, at: Int64, processes: int, each: int
) -> tuple[Network, Int64, Int64]:
    """Return the network, and the task and process of each of its first arcs.

    Nodes are tasks, processes, members, processes again and the sink; arcs are of the four kinds
    of the figure, in its order.

    Parameters
    ----------
    of_active : (tasks,) int64, the process of each active task
    at : (members,) int64, the process of each member
    """
    task, host = np.nonzero(of_active[:, None] != np.arange(processes))
    first = np.cumsum([len(of_active), processes, len(at), processes])
    above, every, sink = first[2] + np.arange(processes), first[1] + np.arange(len(at)), first[3]
    supply, total = np.zeros(sink + 1, np.int64), each * len(of_active)
    supply[: len(of_active)], supply[-1] = each, -total
    endless = np.full(2 * len(at) + processes, total + 1)
    network = Network(
        tail=np.concatenate((task, first[0] + at, every, above)),
        head=np.concatenate((first[0] + host, every, first[2] + at, np.full_like(above, sink))),
        lower=np.zeros(len(task) + len(endless), np.int64),
        upper=np.concatenate((np.ones_like(task), endless)),
        supply=supply,
    )
    return network, task, host


def _choose_threads(group: Group, task: Int64, host: Int64, room: Int64) -> Int64:
    """(standbys,) int64: the member that has each standby, one of its process.

    Parameters
    ----------
    room : (members,) int64, how many standbys each member has
    """
    had, left = _copies_of(group), room.tolist()
    found = [had.get(pair, -1) for pair in zip(task.tolist(), host.tolist(), strict=True)]
    for number, m in enumerate(found):
        if m >= 0:
            found[number] = m if left[m] else -1
            left[m] -= left[m] > 0
    free: dict[int, list[int]] = {}
    for m, on in reversed([*enumerate(group.places("host").member.tolist())]):
        free.setdefault(on, []).extend([m] * left[m])
    dealt = (free[on].pop() if m < 0 else m for m, on in zip(found, host.tolist(), strict=True))
    return np.fromiter(dealt, np.int64, len(found))


def _copies_of(group: Group) -> dict[tuple[int, int], int]:
    """Return the member with the copy of each (task, process), that of a standby if it has one."""
    if group.streams is None:
        return {}
    at, members = group.places("host").member.tolist(), group.streams.members
    first = dict(zip(group.topics, group.first.tolist(), strict=False))
    return {
        (first[topic] + number, at[m]): m
        for role in ("active", "warmup", "standby")
        for m, name in enumerate(group.members)
        for topic, numbers in getattr(members[name].tasks, role).items()
        for number in numbers
    }


def standby_bounds(actives: Solution, replicas: int) -> tuple[int, int, int]:
    """Return lower bounds on `load_squares`, `host_balance` and `restores`, in this order.

    A process has each task that keeps state at most once, which bounds its load. Within these
    bounds, tasks are added at the least step, which is optimal for separable convex costs (Fox
    1966, doi:10.1287/opre.14.2.210). docs/explanation/proof.md has the argument.

    Parameters
    ----------
    actives : an optimal solution of a streams group in which it is known which tasks keep state
    replicas : ``num.standby.replicas``
    """
    group, places = actives.group, actives.group.places("host")
    threads = np.bincount(places.member, minlength=len(places.names)).tolist()
    each = max(0, min(replicas, len(threads) - 1))
    had = _count_copies(actives)
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


def _count_copies(actives: Solution) -> list[int]:
    """Return for each task that keeps state the number of processes with a copy."""
    copies = actives.group.copies
    assert copies is not None
    of_set = np.bincount(copies.holds // max(1, len(copies.names)), minlength=1)
    of_set = np.pad(of_set, (0, len(copies.replicas)))
    found: list[int] = of_set[copies.replicas[copies.replicas >= 0]].tolist()
    return found


def _restores(actives: Solution, had: list[int], each: int) -> int:
    """Return a lower bound on standbys on a process without a copy, whatever the active tasks.

    An active task that restores leaves one more copy to its standbys than one that does not.
    """
    none = had.count(0)
    restored = {term.name: term.value for term in actives.terms}.get("restores", len(had)) - none
    missing = sum(each if not copies else max(0, each - copies + 1) for copies in had)
    return missing - min(restored, sum(0 < copies <= each for copies in had))
