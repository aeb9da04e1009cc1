"""Enumeration: all assignments of a small group, table by table, and their values.

Every tier is written here from its definition, for brute force and for the recount of small
groups.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from groups.arrays import NOBODY
from optimal.formulations import Formulations

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from groups.arrays import Int32, Int64
    from groups.columns.racks import Racks
    from groups.group import Group
    from groups.tiers import Objective

MOST_ASSIGNMENTS = 1_000_000
CELLS_AT_ONCE = 2**18
# The values of an assignment, tier by tier, and its holders: (all partitions,) int32.
Best = tuple[tuple[int, ...], "Int32"] | tuple[None, None]


def best_so_far(group: Group, objective: Objective, at_most: Mapping[str, int]) -> Iterator[Best]:
    """Yield the best assignment of those looked at, after each table of them.

    Of several best ones it is the lexicographically first; (None, None) as long as none keeps to
    the budgets `at_most`. Values have to be below 2^62.
    """
    best: tuple[int, ...] | None = None
    found: Int32 | None = None
    for owner in _assignments(group):
        values = []
        for tier, most in at_most.items():
            owner = owner[ENUMERATED_TIERS[tier](group, owner) <= most]
        for tier in objective if len(owner) else ():
            value = ENUMERATED_TIERS[tier](group, owner)
            values.append(int(value.min()))
            owner = owner[value == values[-1]]
        if values and (best is None or tuple(values) < best):
            best, found = tuple(values), owner[0].copy()
        yield (None, None) if best is None or found is None else (best, found)


def enumerates_at_once(group: Group) -> bool:
    """Return whether all assignments fit in one table of `CELLS_AT_ONCE`, looked at in 5 ms."""
    number = count(group)
    return number is not None and number * _width(group) <= CELLS_AT_ONCE


def is_enumerable(group: Group) -> bool:
    """Return whether there are at most `MOST_ASSIGNMENTS` assignments."""
    number = count(group)
    return number is not None and number <= MOST_ASSIGNMENTS


def count(group: Group) -> int | None:
    """Return the number of assignments, None from 10^15 on."""
    if digits(group) >= 15:
        return None
    read = group.readers > 0
    choices = zip(group.readers[read].tolist(), group.partitions[read].tolist(), strict=True)
    number: int = math.prod(readers**partitions for readers, partitions in choices)
    return number


def digits(group: Group) -> float:
    """Return the number of assignments as a power of ten."""
    read = group.readers > 0
    return float((np.log10(group.readers[read]) * group.partitions[read]).sum())


def _width(group: Group) -> int:
    return max(1, group.n_partitions, len(group.members))


def _read(group: Group) -> Int64:
    """(read,) int64: the partitions that somebody reads."""
    return np.flatnonzero(group.readers[group.topic] > 0)


def _assignments(group: Group) -> Iterator[Int32]:
    """Yield all assignments in lexicographic order, (rows, all partitions) int32 at a time."""
    readers = [group.subscribers(t) for t in range(len(group.topics))]
    topic, read = group.topic.tolist(), _read(group).tolist()
    total = math.prod(len(readers[topic[p]]) for p in read)
    rows = max(1, CELLS_AT_ONCE // _width(group))
    for start in range(0, total, rows):
        rest = np.arange(start, min(start + rows, total))
        owner = np.full((len(rest), group.n_partitions), NOBODY, np.int32)
        for p in reversed(read):
            rest, choice = np.divmod(rest, len(readers[topic[p]]))
            owner[:, p] = readers[topic[p]][choice]
        yield owner


def _loads(group: Group, owner: Int32, partitions: Int64, load: Int64 | None = None) -> Int64:
    """(assignments, members) int64: the sum of `load` over what each holds; None: the number."""
    loads = np.zeros((len(owner), len(group.members)), np.int64)
    row = np.arange(len(owner))
    for p in partitions.tolist():
        loads[row, owner[:, p]] += 1 if load is None else load[p]
    return loads


def _pairs(loads: Int64) -> Int64:
    """(assignments,) int64: KIP-54's score, the sum of the differences of all pairs of members."""
    score = np.zeros(len(loads), np.int64)
    for m in range(loads.shape[1]):
        score += np.abs(loads[:, m + 1 :] - loads[:, m, None]).sum(axis=1)
    return score


def _topic_balance(group: Group, owner: Int32) -> Int64:
    squares = np.zeros(len(owner), np.int64)
    for t in np.flatnonzero(group.readers).tolist():
        held = _loads(group, owner, np.arange(group.first[t], group.first[t + 1]))
        squares += (held**2).sum(axis=1)
    return squares


def _of_places(group: Group, owner: Int32, place: Sequence[str | None]) -> Int64:
    """(assignments,) int64: the weighted sum of squares of what places have."""
    loads, value = _loads(group, owner, _read(group)), np.zeros(len(owner), np.int64)
    members = Counter(place)
    for name, number in members.items():
        on_it = [m for m, its in enumerate(place) if its == name]
        value += math.lcm(*members.values()) // number * loads[:, on_it].sum(axis=1) ** 2
    return value


def _racks_of_members(group: Group) -> list[str | None]:
    racks = group.racks
    if racks is None:
        return [None] * len(group.members)
    return [None if rack < 0 else racks.names[rack] for rack in racks.member.tolist()]


def _stickiness(group: Group, owner: Int32) -> Int64:
    owned = np.flatnonzero(group.owner != NOBODY)
    moved: Int64 = (owner[:, owned] != group.owner[owned]).sum(axis=1)
    return moved


def _moved_weight(group: Group, owner: Int32) -> Int64:
    moved = np.zeros(len(owner), np.int64)
    if group.weight is None:
        return moved
    for p in np.flatnonzero(group.owner != NOBODY).tolist():
        moved += np.where(owner[:, p] != group.owner[p], group.weight[p], 0)
    return moved


def _misses(group: Group, owner: Int32, racks: Racks | None) -> Int64:
    """(assignments,) int64: how many partitions have a member whose rack is none of theirs."""
    misses = np.zeros(len(owner), np.int64)
    if racks is None:
        return misses
    for p in _read(group).tolist():
        at = int(racks.replicas[p])
        # A partition without a set of racks is never far.
        if at >= 0:
            near = racks.of_set(at)
            far = [rack < 0 or racks.names[rack] not in near for rack in racks.member.tolist()]
            misses += np.array(far)[owner[:, p]]
    return misses


def _stateful_balance(group: Group, owner: Int32) -> Int64:
    read = _read(group)
    stateful = read[:0] if group.copies is None else read[group.copies.replicas[read] >= 0]
    squares: Int64 = (_loads(group, owner, stateful) ** 2).sum(axis=1)
    return squares


def _member_loads(group: Group, owner: Int32, column: Int64 | None) -> Int64:
    return _loads(group, owner, _read(group) if column is not None else np.arange(0), column)


def _peak(loads: Int64) -> Int64:
    peak: Int64 = loads.max(axis=1, initial=0)
    return peak


def _spread(loads: Int64) -> Int64:
    return loads.max(axis=1) - loads.min(axis=1) if loads.shape[1] else _peak(loads)


def _time(group: Group, owner: Int32) -> Int64:
    lag = _member_loads(group, owner, group.lag_records)
    return _peak(-(-lag // np.maximum(group.capacity, 1)))


def _idle(group: Group, owner: Int32) -> Int64:
    held = _loads(group, owner, _read(group)) > 0
    could = min(len(group.members), len(_read(group)))
    idle: Int64 = could - held.sum(axis=1)
    return idle


ENUMERATED_TIERS: Formulations[Callable[[Group, Int32], Int64]] = Formulations(
    "brute",
    "ENUMERATED_TIERS of optimal.enumeration",
    {
        "balance": lambda g, owner: _pairs(_loads(g, owner, _read(g))),
        "topic_balance": _topic_balance,
        "load_squares": lambda g, owner: (_loads(g, owner, _read(g)) ** 2).sum(axis=1),
        "host_balance": lambda g, owner: _of_places(g, owner, [one.host for one in g.details]),
        "rack_balance": lambda g, owner: _of_places(g, owner, _racks_of_members(g)),
        "stateful_balance": _stateful_balance,
        "restores": lambda g, owner: _misses(g, owner, g.copies),
        "stickiness": _stickiness,
        "moved_weight": _moved_weight,
        "racks": lambda g, owner: _misses(g, owner, g.racks),
        "load_spread": lambda g, owner: _spread(_loads(g, owner, _read(g))),
        "idle_members": _idle,
        "peak_lag": lambda g, owner: _peak(_member_loads(g, owner, g.lag_records)),
        "lag_spread": lambda g, owner: _spread(_member_loads(g, owner, g.lag_records)),
        "lag_balance": lambda g, owner: _pairs(_member_loads(g, owner, g.lag_records)),
        "peak_weight": lambda g, owner: _peak(_member_loads(g, owner, g.weight)),
        "weight_spread": lambda g, owner: _spread(_member_loads(g, owner, g.weight)),
        "peak_time": _time,
        "weight_balance": lambda g, owner: _pairs(_member_loads(g, owner, g.weight)),
    },
)
