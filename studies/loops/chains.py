"""Chains: moves that only together even out loads, which no rule for single moves can see."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from groups.assignment import Assignment
from groups.wording import listed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from groups.arrays import Int64


class Link(NamedTuple):
    """One move of a chain: a partition, as topic and number, from one member to another."""

    topic: str
    number: int
    leaves: str
    to: str


class Chain(NamedTuple):
    """Moves of which each goes to the member that the next one leaves.

    The first member has at least two partitions more than the last; only these two change their
    loads.

    Attributes
    ----------
    links : the moves, in order
    loads, after : (members,) how many partitions each member holds before, and once all have moved
    """

    links: tuple[Link, ...]
    loads: tuple[int, ...]
    after: tuple[int, ...]


def chains(assignment: Assignment) -> tuple[Chain, ...]:
    """Return chains that, one after the other, make an assignment's balance the best there is.

    Each is a shortest one in what those before it leave; of these one that takes from the member
    with most. There is none exactly where the balance is optimal already: balance is a sum of
    functions of the loads that are convex, and where it can be improved at all, a path in the
    graph of who may pass a partition to whom improves it.

    Raises
    ------
    InvalidAssignment
        Where the assignment is not valid.
    """
    assignment.require_valid()
    group, found = assignment.group, []
    while links := _shortest(assignment):
        owner, named = assignment.owner.copy(), []
        for partition, to in links:
            topic, number = group.topics[group.topic[partition]], int(group.number[partition])
            leaves = group.members[owner[partition]]
            named.append(Link(topic, number, leaves, group.members[to]))
            owner[partition] = to
        after = Assignment(group, owner)
        loads = (tuple(one.loads.tolist()) for one in (assignment, after))
        found.append(Chain(tuple(named), *loads))
        assignment = after
    return tuple(found)


def why_unseen(assignment: Assignment) -> str | None:
    """Return which chains would make a balance the best there is; None where it is that.

    Where the first one has two moves or more, no single move would improve the balance, so that a
    rule that looks at one partition at a time ends there.
    """
    found, said = chains(assignment), []
    for links, loads, after in found:
        moves = [f"{one.topic}-{one.number} from {one.leaves} to {one.to}" for one in links]
        through = [links[0].leaves, *(one.to for one in links)]
        places = [assignment.group.members.index(member) for member in through]
        before, then = (
            ", ".join(f"{member} {held[m]}" for member, m in zip(through, places, strict=True))
            for held in (loads, after)
        )
        said.append(f"{listed(moves)}: {before} become {then}")
    if not found:
        return None
    single = "A" if len(found[0].links) == 1 else "No"
    return f"{'; then '.join(said)}. {single} single move improves the balance."


def _shortest(at: Assignment) -> list[tuple[int, int]]:
    """Return the shortest chain, as partitions and the members they go to; none without one."""
    loads, best = at.loads.tolist(), list[tuple[int, int]]()
    for source in sorted(range(len(loads)), key=lambda member: (-loads[member], member)):
        best = _from(at, loads, source, len(best) or len(loads)) or best
        if len(best) == 1:
            break
    return best


def _from(
    at: Assignment, loads: Sequence[int], source: int, shorter_than: int
) -> list[tuple[int, int]]:
    """Return the shortest chain from a member; nothing unless it has fewer links than so many."""
    group, owner = at.group, at.owner
    chain: dict[int, list[tuple[int, int]]] = {source: []}
    queue, seen = deque([source]), set[int]()
    while queue:
        member = queue.popleft()
        if len(chain[member]) + 1 >= shorter_than:
            return []
        held = np.flatnonzero(owner == member)
        for topic in np.unique(group.topic[held]).tolist():
            if topic in seen:
                continue
            seen.add(topic)
            # What it owns stays with it, where it holds something else of the topic.
            mine: Int64 = held[group.topic[held] == topic]
            partition = int(min(mine, key=lambda p: (group.owner[p] == member, p)))
            for reader in group.subscribers(topic).tolist():
                if reader in chain:
                    continue
                chain[reader] = [*chain[member], (partition, reader)]
                if loads[reader] <= loads[source] - 2:
                    return chain[reader]
                queue.append(reader)
    return []
