"""Chains: moves that even out loads only together, so that no rule for single moves finds them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from compare.promises.trial import rejoined
from groups.wording import listed
from optimal import solve

if TYPE_CHECKING:
    from groups import Assignment


def why_unseen(assignment: Assignment) -> str | None:
    """Return the fewest moves to the best balance, in words; None if the balance is the best.

    They also say whether a single move improves the balance; if none does, a rule that looks at
    one partition at a time ends there.

    Raises
    ------
    InvalidAssignment
        If the assignment is not valid.
    """
    assignment.require_valid()
    group, best = assignment.group, solve(rejoined(assignment.group, assignment)).assignment
    assert best is not None
    moved = (assignment.owner != best.owner).nonzero()[0].tolist()
    if not moved:
        return None
    left = {p: (int(assignment.owner[p]), int(best.owner[p])) for p in moved}
    moves, through = list[str](), list[int]()
    while left:
        # Order the moves as a chain: if possible, a move leaves the member that the last one
        # reached.
        reached = {to for _, to in left.values()}
        next_one = [p for p, (leaves, _) in left.items() if through and leaves == through[-1]]
        first = [p for p, (leaves, _) in left.items() if leaves not in reached]
        partition = (next_one or first or [*left])[0]
        leaves, to = left.pop(partition)
        topic = group.topics[group.topic[partition]]
        who = group.members[leaves], group.members[to]
        moves.append(f"{topic}-{group.number[partition]} from {who[0]} to {who[1]}")
        through += [leaves, to]
    before, then = (
        ", ".join(f"{group.members[m]} {one.loads[m]}" for m in dict.fromkeys(through))
        for one in (assignment, best)
    )
    single = "A" if _a_single_move_improves(assignment) else "No"
    return f"{listed(moves)}: {before} become {then}. {single} single move improves the balance."


def _a_single_move_improves(assignment: Assignment) -> bool:
    group, loads = assignment.group, assignment.loads
    return any(
        (loads[group.subscribers(int(topic))] <= loads[holder] - 2).any()
        for topic, holder in zip(group.topic, assignment.owner, strict=True)
        if holder >= 0
    )
