"""Standbys: where copies of the tasks that keep state stand by, once active tasks have a member.

Each task has one on some processes, none of them that of its active task. All tiers are cheapest
flows, one after the other, as those of active tasks are:

            at most 1               carry            lift
    task ------------> process ---> member ---> process ---> sink
    its standbys       that may
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from groups.errors import BadInput
from groups.tiers import SAFE_TOTAL
from optimal.networks.cheapest_flow import cheapest
from optimal.networks.least_squares import least_squares
from optimal.networks.network import Network, potentials
from optimal.proof import Proof, ProofKind
from optimal.solution import Term
from optimal.time_left import TimeLeft

if TYPE_CHECKING:
    from groups.arrays import Int64
    from groups.assignment import Assignment
    from groups.group import Group

STANDBY_TIERS = ("load_squares", "host_balance", "restores")


@dataclass(frozen=True, eq=False)
class Standbys:
    """Where standbys are beside active tasks, and what proves that none are better beside these.

    Attributes
    ----------
    actives : the active tasks
    replicas : how many standbys are asked for; a task that keeps state has so many, or one on
        each process other than that of its active task
    task, member : (standbys,) int64, a partition of the group and who has a standby of it; by
        ascending task, then process
    terms : `load_squares`, the sum over members of the square of their active and standby tasks
        together; `host_balance`, the same of processes, weighted as of active tasks; `restores`,
        standbys on a process without a copy. Each is least among those that are best before
    proof : what members and processes ask for a standby
    """

    actives: Assignment
    replicas: int
    task: Int64
    member: Int64
    terms: tuple[Term, ...]
    proof: Proof


def standbys_beside(actives: Assignment, replicas: int) -> Standbys:
    """Return the best standbys beside active tasks, in the order of `STANDBY_TIERS`.

    Threads of a process share its state. A standby stays with the thread that has a copy if that
    one has a standby to take.

    Parameters
    ----------
    actives : a valid assignment of a streams group
    replicas : ``num.standby.replicas``

    Raises
    ------
    BadInput
        Where it is not known which tasks keep state, the active tasks are not where they may be,
        or the numbers of threads of the processes have no common multiple within 64 bits.
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
    member = _threads(group, task, host, flow[carry])
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

    Nodes are tasks, processes, members, processes again and the sink; arcs are of four kinds, in
    the order of the way.

    Parameters
    ----------
    of_active : (tasks,) int64, the process of each active task; at : (members,) int64, of each
        member
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


def _threads(group: Group, task: Int64, host: Int64, room: Int64) -> Int64:
    """(standbys,) int64: who has each standby, a member of its process, (standbys,).

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
    """Return who has a copy of each task on each process, as a standby if so."""
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
