"""Member: why one member holds what it holds in an optimum, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from compare.members import members_named
from compare.reasons.words import count_sentence, named
from groups.errors import BadInput
from groups.wording import agreed, counted, listed
from heuristics.nearest import nearest

if TYPE_CHECKING:
    from compare.reasons.explanation import Block, Explanation

FEW_TOPICS = 4
FEW_MEMBERS = 3
MOST_COUNTS = 4


def about(explanation: Explanation, member: str) -> list[str]:
    """Return sentences about a member: what it holds, with whom it shares, why no more or less.

    Parameters
    ----------
    member : its id, or the client id that it alone has

    Raises
    ------
    BadInput
        Where the group has no such member, or several of that client id.
    """
    group = explanation.group
    meant = members_named(group, member)
    if not meant:
        has = f"which has {named(group.members)}"
        if len(group.members) > FEW_MEMBERS:
            has = f"which has {counted(len(group.members), 'member')}"
            has += f"; nearest: {nearest(member, group.members)}"
        raise BadInput(f"member {member}: no member of group {group.name}, {has}")
    if len(meant) > 1:
        those = named([group.members[m] for m in meant])
        raise BadInput(f"member {member}: {len(meant):,} members have that client id: {those}")
    (m,) = meant
    found = [_holds(explanation, m), *_gives(explanation, m), _reads(explanation, m)]
    blocks = explanation.blocks
    at = next((i for i, block in enumerate(blocks) if m in block.members), None)
    if at is not None:
        found += _in_block(explanation, m, at) if len(blocks) > 1 else [_evenly(blocks[0])]
    return found + _counts(explanation, m)


def _holds(explanation: Explanation, m: int) -> str:
    name, now, best = (
        explanation.group.members[m],
        int(explanation.now.loads[m]),
        int(explanation.best.loads[m]),
    )
    if now == best:
        return f"{name} holds {counted(best, 'partition')}, now and in the best assignment."
    return f"{name} holds {counted(now, 'partition')} now and {best:,} in the best assignment."


def _gives(explanation: Explanation, m: int) -> list[str]:
    name = explanation.group.members[m]
    pairs = explanation.best.moves_by_pair()
    given = [(count, to) for (origin, to), count in pairs.items() if origin == name]
    taken = [(count, origin) for (origin, to), count in pairs.items() if to == name]
    found = []
    for verb, way, moves in (("gives", "to", given), ("gets", "from", taken)):
        if moves:
            moves.sort(key=lambda move: (-move[0], move[1]))
            found.append(f"It {verb} {named([f'{n} {way} {who}' for n, who in moves])}.")
    return found


def _reads(explanation: Explanation, m: int) -> str:
    group = explanation.group
    topics = [t for t in group.subscription(m).tolist() if group.partitions[t]]
    if not topics:
        return "It reads no topic that has partitions, so it holds none."
    if len(topics) > FEW_TOPICS:
        total = int(group.partitions[topics].sum())
        others = {r for t in topics for r in group.subscribers(t).tolist()} - {m}
        some = f"{counted(len(others), 'other member')} {agreed(len(others), 'read')}"
        if not others:
            some = "nobody else reads"
        return (
            f"It reads {len(topics)} topics with {counted(total, 'partition')}; "
            f"{some} {'some' if others else 'any'} of them."
        )
    parts = []
    for t in topics:
        mates = [group.members[r] for r in group.subscribers(t).tolist() if r != m]
        who = f"read by {named(mates)} too" if mates else "read by nobody else"
        parts.append(
            f"{group.topics[t]} ({counted(int(group.partitions[t]), 'partition')}, {who})"
        )
    return f"It reads {listed(parts)}."


def _evenly(block: Block) -> str:
    members = len(block.members)
    if members == 1:
        return "It is the only member."
    share, over = divmod(block.partitions, members)
    held = f"{share} or {share + 1}" if over else str(share)
    return (
        f"{counted(block.partitions, 'partition')} for {members} members: "
        f"in an assignment as even as can be everybody holds {held}."
    )


def _in_block(explanation: Explanation, m: int, at: int) -> list[str]:
    """Return why a member of one block among several holds no more and no less."""
    group, blocks = explanation.group, explanation.blocks
    block, size = blocks[at], len(blocks[at].members)
    if not group.partitions[group.subscription(m)].any():
        return []
    topics = named([group.topics[t] for t in block.topics])
    held = f"{block.least} or {block.most}" if block.least < block.most else f"{block.least}"
    share = f"{counted(block.partitions, 'partition')} for {counted(size, 'member')}"
    found = [f"Line {at + 1} has {topics}: {share}, so {held} each."]
    lower = {t for later in blocks[at + 1 :] for t in later.topics}
    besides = sorted(lower & set(group.subscription(m).tolist()))
    if besides:
        what = named([group.topics[t] for t in besides])
        found.append(
            f"No more: {what}, which it reads too, {agreed(len(besides), 'are')} for lines "
            "further down."
        )
    else:
        found.append("No more: it reads nothing else.")
    if at + 1 < len(blocks):
        found.append(f"No less: nobody in a line further down reads {topics}.")
    elif size < len(group.members):
        found.append("No less: nobody in a line further up holds less.")
    return found


def _counts(explanation: Explanation, m: int) -> list[str]:
    group, moves = explanation.group, explanation.moves
    if moves is None:
        return []
    found = []
    for one in moves.downward:
        if one.owner == m:
            what = f"{counted(one.partitions, 'partition')} of {group.topics[one.topic]}"
            found.append(f"It owns {what}, for a line further down: {one.partitions} must go.")
    for count in moves.counts:
        if m in count.members or m in count.owners:
            found.append(count_sentence(group, count))
    more = len(found) - MOST_COUNTS
    return [*found[:MOST_COUNTS], *([f"It is in {more} more."] if more > 0 else [])]
