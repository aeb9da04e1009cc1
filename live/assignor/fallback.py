"""The fallback: a sticky and balanced plan in plain Python, for when there is no optimal one.

It loads no array library and no solver, takes time in proportion to the group, and has nothing
to fail at.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from heapq import heapify, heappop, heapreplace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from live.assignor.rebalance import Plan, Rebalance

Partition = tuple[str, int]
# Moves between pools may need several turns; no group needs to be served better than this here.
TURNS = 4


def fallback(rebalance: Rebalance) -> Plan:
    """Return a valid plan in which members keep what they own unless others have less.

    Where all members read the same topics, loads differ by at most one.
    """
    owner = owners(rebalance)
    loads = Counter(owner.values())
    pools = _pools(rebalance)
    for readers, pool in pools.items():
        _deal(readers, pool, owner, loads)
    for _ in range(TURNS):
        if not sum(_even_out(readers, pool, owner, loads) for readers, pool in pools.items()):
            break
    plan: Plan = {member: {} for member in rebalance.members}
    for (topic, number), member in sorted(owner.items()):
        plan[member].setdefault(topic, []).append(number)
    return plan


def owners(rebalance: Rebalance) -> dict[Partition, str]:
    """Return who validly owns which partitions, by their claims.

    The newest generation wins, two claims of one generation void each other, and a winner that
    does not read the topic any more owns nothing there.
    """
    newest: dict[Partition, int] = {}
    owner: dict[Partition, str | None] = {}
    exists = {topic: frozenset(numbers) for topic, numbers in rebalance.numbers.items()}
    for member, joined in rebalance.members.items():
        generation = joined.claim.generation
        for topic, numbers in joined.claim.owned.items():
            reader = member if topic in joined.topics else None
            for number in exists.get(topic, frozenset()).intersection(numbers):
                partition = (topic, number)
                if generation > newest.get(partition, -2):
                    newest[partition], owner[partition] = generation, reader
                elif generation == newest[partition]:
                    owner[partition] = None
    return {partition: member for partition, member in owner.items() if member is not None}


def _pools(rebalance: Rebalance) -> Mapping[tuple[str, ...], Sequence[Partition]]:
    """Return the partitions that the same members read, those with the fewest readers first."""
    readers: defaultdict[str, list[str]] = defaultdict(list)
    for member, joined in rebalance.members.items():
        for topic in joined.topics & rebalance.numbers.keys():
            readers[topic].append(member)
    pools: defaultdict[tuple[str, ...], list[Partition]] = defaultdict(list)
    for topic, numbers in rebalance.numbers.items():
        pools[tuple(readers[topic])] += [(topic, number) for number in numbers]
    return dict(sorted(pools.items(), key=lambda pool: (len(pool[0]), pool[0])))


def _deal(
    readers: Sequence[str],
    pool: Sequence[Partition],
    owner: dict[Partition, str],
    loads: Counter[str],
) -> None:
    """Give what nobody owns to the readers that have least."""
    queue = [(loads[member], member) for member in readers]
    heapify(queue)
    for partition in pool:
        if partition not in owner:
            load, member = queue[0]
            owner[partition] = member
            loads[member] = load + 1
            heapreplace(queue, (load + 1, member))


def _even_out(
    readers: Sequence[str],
    pool: Sequence[Partition],
    owner: dict[Partition, str],
    loads: Counter[str],
) -> int:
    """Move partitions from who has most to who has least; return how many moved."""
    held: defaultdict[str, list[Partition]] = defaultdict(list)
    for partition in pool:
        held[owner[partition]].append(partition)
    most = [(-loads[member], member) for member in held]
    least = [(loads[member], member) for member in readers]
    heapify(most)
    heapify(least)
    moved = 0
    while most and -most[0][0] - least[0][0] > 1:
        giver, taker = most[0][1], least[0][1]
        owner[held[giver].pop()] = taker
        moved += 1
        loads[giver] -= 1
        loads[taker] += 1
        heapreplace(least, (loads[taker], taker))
        if held[giver]:
            heapreplace(most, (-loads[giver], giver))
        else:
            heappop(most)
    return moved
