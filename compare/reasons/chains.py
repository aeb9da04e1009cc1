"""Chains: moves that only together even out loads, which no rule for single moves can see."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from groups.arrays import NOBODY

if TYPE_CHECKING:
    from collections.abc import Sequence

    from groups import Assignment, Group
    from groups.arrays import Int64


@dataclass(frozen=True)
class Link:
    """One move of a chain: a partition, as topic and number, from one member to another."""

    topic: str
    number: int
    leaves: str
    to: str


@dataclass(frozen=True)
class Chain:
    """Moves of which each goes to the member that the next one leaves.

    The first member has at least two partitions more than the last; only these two change their
    loads.

    Attributes
    ----------
    links : the moves, in order
    loads : (members,) how many partitions each member holds before
    after : (members,) the same once all have moved
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
    owner = np.array(assignment.owner, np.int64)
    found = []
    while (links := _shortest(assignment.group, owner)) is not None:
        before = _loads(assignment.group, owner)
        named = []
        for partition, to in links:
            topic = int(assignment.group.topic[partition])
            number = int(assignment.group.number[partition])
            members = assignment.group.members
            leaves = members[int(owner[partition])]
            named.append(Link(assignment.group.topics[topic], number, leaves, members[to]))
            owner[partition] = to
        after = _loads(assignment.group, owner)
        found.append(Chain(tuple(named), tuple(before), tuple(after)))
    return tuple(found)


def said(assignment: Assignment, chain: Chain) -> str:
    """Return a chain in one sentence, with the loads of the members that it goes through.

    Examples
    --------
    >>> from groups import Assignment, Group
    >>> group = Group.from_dict({"format": "assay-group/1", "group": "g",
    ...     "topics": {"t": 1, "u": 2}, "members": {"a": {"subscription": ["u"]},
    ...     "b": {"subscription": ["t", "u"]}, "c": {"subscription": ["t"]}}})
    >>> made = Assignment.from_dict(group, {"a": {"u": [0, 1]}, "b": {"t": [0]}, "c": {}})
    >>> [said(made, one) for one in chains(made)]
    ['u-0 from a to b and t-0 from b to c: a 2, b 1, c 0 become a 1, b 1, c 1']
    """
    moves = [f"{one.topic}-{one.number} from {one.leaves} to {one.to}" for one in chain.links]
    text = moves[0] if len(moves) == 1 else f"{', '.join(moves[:-1])} and {moves[-1]}"
    through = [chain.links[0].leaves, *(one.to for one in chain.links)]
    places = [assignment.group.members.index(member) for member in through]
    named = [*zip(through, places, strict=True)]
    before, after = (
        ", ".join(f"{member} {loads[place]}" for member, place in named)
        for loads in (chain.loads, chain.after)
    )
    return f"{text}: {before} become {after}"


def why_unseen(assignment: Assignment) -> str | None:
    """Return which chains would make a balance the best there is; None where it is that.

    Where the first one has two moves or more, no single move would improve the balance, so that a
    rule that looks at one partition at a time ends there.
    """
    found = chains(assignment)
    if not found:
        return None
    sentences = "; then ".join(said(assignment, chain) for chain in found)
    single = "A" if len(found[0].links) == 1 else "No"
    return f"{sentences}. {single} single move improves the balance."


def _shortest(group: Group, owner: Int64) -> Sequence[tuple[int, int]] | None:
    """Return the shortest chain, as partitions and the members they go to; None without one."""
    loads = _loads(group, owner)
    best: list[tuple[int, int]] | None = None
    for source in sorted(range(len(loads)), key=lambda member: (-loads[member], member)):
        path = _from(group, owner, loads, source, len(best) if best is not None else len(loads))
        if path is not None:
            best = path
        if best is not None and len(best) == 1:
            break
    return best


def _from(
    group: Group, owner: Int64, loads: Sequence[int], source: int, shorter_than: int
) -> list[tuple[int, int]] | None:
    """Return the shortest chain from a member, if it has fewer links than so many."""
    came: dict[int, tuple[int, int]] = {source: (NOBODY, NOBODY)}
    depth, queue = {source: 0}, deque([source])
    seen: set[int] = set()
    while queue:
        member = queue.popleft()
        if depth[member] + 1 >= shorter_than:
            return None
        held = np.flatnonzero(owner == member)
        for topic in np.unique(group.topic[held]).tolist():
            if topic in seen:
                continue
            seen.add(topic)
            # What it owns stays with it, where it holds something else of the topic.
            mine = held[group.topic[held] == topic]
            partition = int(min(mine, key=lambda p: (group.owner[p] == member, p)))
            for reader in group.subscribers(topic).tolist():
                if reader in came:
                    continue
                came[reader], depth[reader] = (partition, member), depth[member] + 1
                if loads[reader] <= loads[source] - 2:
                    return _back(came, reader)
                queue.append(reader)
    return None


def _back(came: dict[int, tuple[int, int]], member: int) -> list[tuple[int, int]]:
    links = []
    while came[member][0] != NOBODY:
        partition, before = came[member]
        links.append((partition, member))
        member = before
    return links[::-1]


def _loads(group: Group, owner: Int64) -> list[int]:
    loads: list[int] = np.bincount(owner[owner != NOBODY], minlength=len(group.members)).tolist()
    return loads
