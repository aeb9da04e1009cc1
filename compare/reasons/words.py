"""Words: an explanation in sentences, for people who know Kafka but no optimisation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from compare.members import member_meant
from compare.sentences import by_rebalance, on_the_way_sentence, rests_on, spread
from groups.tiers import called
from groups.wording import agreed, counted, listed
from optimal.proof import ProofKind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from compare.reasons.explanation import Block, Count, Downward, Explanation
    from groups.group import Group
    from optimal.solution import Solution

FEW = 3
MOST_NAMED = 5
LONGEST = 60
# The most counts to give for a group, and for one of its members.
MOST_COUNTS, MOST_OF_MEMBER = 6, 4
FEW_TOPICS = 4
AS_EVEN = (
    "The members of a line and of the lines above it are the only readers of the topics up to "
    "there. So together they hold at least those partitions, whatever is done. Here they hold "
    "just those, and inside a line loads differ by at most one. No assignment is more even."
)
WHOEVER = (
    "Members whose subscription is not known are taken to read every topic of which somebody "
    "holds a partition. More readers never make the best assignment worse."
)
SOLVER = "A solver reports that nothing is better. That is its word; there is no argument to show."
ENUMERATED = "Every assignment that could be better was looked at, and none is."
AFTER = "What comes after balance is proved as well: assay check verifies it without a solver."
PROVED = (
    "That nothing is better is proved, and assay check verifies it without a solver; the argument "
    "has no short form in words."
)


def headline(explanation: Explanation) -> str:
    """Return the sentence on the best and the current assignment."""
    group, best = explanation.group, explanation.best
    loads, now = spread(best.loads), spread(explanation.now.loads)
    unread = counted(int(group.partitions[group.readers == 0].sum()), "partition")
    left = "" if unread == "0 partitions" else f" {unread} that nobody reads stay with nobody."
    on_the_way = bool(on_the_way_sentence(group))
    if explanation.is_there:
        held = "will hold then" if on_the_way else "hold now"
        return f"{group.name}: what the members {held} is as good as can be: loads {now}.{left}"
    does = f"has loads {loads}"
    if "stickiness" in explanation.solution.objective:
        owned = counted(int(group.owned.sum()), "owned partition")
        moves = sum(best.moves_by_pair().values())
        does += f" and moves {moves:,} of {owned}"
    when = f"will be {now} then" if on_the_way else f"are {now} now"
    return f"{group.name}: the best assignment {does}; loads {when}.{left}"


def reasons(explanation: Explanation) -> list[str]:
    """Return the sentences that follow the table of blocks."""
    if not explanation.blocks:
        return []
    if len(explanation.blocks) == 1:
        return [even(explanation), *moves(explanation)]
    return [AS_EVEN, fullest(explanation), *moves(explanation)]


def even(explanation: Explanation) -> str:
    """Return the sentence on why loads cannot be more even, for a group with one block."""
    loads = explanation.best.loads
    members, total = len(loads), int(loads.sum())
    share, over = divmod(total, members)
    if not total:
        return "No member reads a topic that has partitions."
    if members == 1:
        return f"There is 1 member, and it holds all that it reads: {counted(total, 'partition')}."
    text = f"{counted(total, 'partition')} for {members:,} members are {share:,} each"
    if not over:
        return f"{text} at the best. No assignment is more even."
    more = f"{counted(over, 'member')} {agreed(over, 'hold')} {share + 1:,}"
    rest = f"{members - over:,} {agreed(members - over, 'hold')} {share:,}"
    return f"{text} and {over:,} over. At the best {more} and {rest}: no assignment is more even."


def fullest(explanation: Explanation) -> str:
    """Return the sentence on what the members of the fullest block hold in every assignment."""
    block, group = explanation.blocks[0], explanation.group
    who = named([group.members[m] for m in block.members])
    topics = named([group.topics[t] for t in block.topics])
    number = len(block.members)
    least = -(-block.partitions // number)
    if number == 1:
        held = f"it holds at least {counted(block.partitions, 'partition')}, whatever is done"
        return f"For example, {who} is the only reader of {topics}: {held}."
    return (
        f"For example, {who} are the only readers of {topics}, "
        f"{counted(block.partitions, 'partition')}: somebody holds at least {least:,}."
    )


def lead(group: Group, condition: str | None, *, whoever: bool) -> str | None:
    """Return the sentence before a proof in words: what it rests on; None if on nothing.

    Parameters
    ----------
    condition : as in `compare.verdict.Verdict`
    whoever : whether the proof is about members that read the most that they may
    """
    if given := rests_on(group, condition):
        return f"This holds if {given}."
    return WHOEVER if whoever else None


def moves(explanation: Explanation) -> list[str]:
    """Return what must move: a heading, a sentence for each count, and their sum."""
    found, group = explanation.moves, explanation.group
    if found is None:
        return []
    if not found.total:
        return ["No partition has to move for that."]
    alike = _alike(group, found.counts)
    shown = [
        (alike_sentence(group, counts), sum(count.moves for count in counts))
        for counts in alike[:MOST_COUNTS]
    ]
    if found.downward:
        down = sum(one.partitions for one in found.downward)
        shown.insert(0, (downward_sentence(group, found.downward), down))
    rest = [count for counts in alike[MOST_COUNTS:] for count in counts]
    if rest:
        more = sum(count.moves for count in rest)
        shown.append((f"{more:,} more in {counted(len(rest), 'such count')} of others.", more))
    must = f"At least {counted(found.total, 'partition')} must move for loads as even as that:"
    end = f"The best assignment moves just {found.total:,}. {by_rebalance(group)}"
    if len(shown) > 1:
        parts = " + ".join(f"{number:,}" for _, number in shown)
        end = f"{parts} = {found.total:,}, with no partition counted twice. {end}"
    return [must, *(f"- {text}" for text, _ in shown), end]


def alike_sentence(group: Group, counts: Sequence[Count]) -> str:
    """Return one sentence for members that own equally much and must give equally much away."""
    if len(counts) == 1:
        return count_sentence(group, counts[0])
    one, who = counts[0], named([group.members[c.members[0]] for c in counts])
    owned = counted(one.fixed + one.others, "partition")
    total = sum(count.moves for count in counts)
    most = f"hold at most {one.limit:,} each"
    return f"{who} own {owned} each and {most}: {one.moves:,} of each must go, {total:,} in all."


def _alike(group: Group, counts: Sequence[Count]) -> list[list[Count]]:
    """Group the counts that differ only in the member; those with most moves come first."""
    found: dict[object, list[Count]] = {}
    for count in counts:
        alone = len(count.members) == 1 and is_plain(group, count)
        what = (count.fixed + count.others, count.limit) if alone else count
        found.setdefault(what, []).append(count)
    return sorted(found.values(), key=lambda alike: -sum(count.moves for count in alike))


def is_plain(group: Group, count: Count) -> bool:
    """Return whether a count is only about partitions that its members own."""
    if count.kind == "need" or (count.fixed and len(count.members) > 1):
        return False
    owned = int(group.owned[list(count.members)].sum())
    return owned == count.owned == count.fixed + count.others


def count_sentence(group: Group, count: Count) -> str:
    """Return the sentence on why some members must give partitions away, or get some."""
    many = len(count.members)
    it, together = ("they", " together") if many > 1 else ("it", "")
    who = named([group.members[m] for m in count.members])
    owners = named([group.members[m] for m in count.owners])
    owning = f"{owners} {agreed(len(count.owners), 'own')}"
    if count.kind == "need":
        apart, rest = "that" if count.others == 1 else "these", "is none"
        if count.fixed:
            rest = f"{agreed(count.fixed, 'are')} only {count.fixed:,}"
        return (
            f"{who} {agreed(many, 'hold')} at least {count.limit:,}{together}. {owning} "
            f"{counted(count.others, 'partition')} that {it} may hold. Apart from {apart} there "
            f"{rest}, so {count.moves:,} must come from there."
        )
    most = f"{agreed(many, 'hold')} at most {count.limit:,}{together}"
    if is_plain(group, count):
        owned = counted(count.fixed + count.others, "partition")
        return f"{who} {agreed(many, 'own')} {owned} and {most}: {count.moves:,} must go."
    if not count.fixed:
        owned = f"{count.others:,} that it owns of its own line"
        return f"{who} {most}. Of {owned}, {count.moves:,} must go."
    topics = named([group.topics[t] for t in count.topics])
    theirs = f"{it} {agreed(many, 'own')}" if count.owners == count.members else owning
    fixed = f"The {counted(count.fixed, 'partition')} of {topics} can be with nobody else"
    rest = f"so of {count.others:,} more that {theirs}, {count.moves:,} must go"
    return f"{who} {most}. {fixed}, {rest}."


def downward_sentence(group: Group, downward: Sequence[Downward]) -> str:
    """Return the sentence on partitions that must go down to another line."""
    total = sum(one.partitions for one in downward)
    first = [
        f"{one.partitions:,} of {group.topics[one.topic]} with {group.members[one.owner]}"
        for one in downward[:FEW]
    ]
    if len(downward) > FEW:
        first.append(f"{sum(one.partitions for one in downward[FEW:]):,} more")
    return (
        f"Owned in a line further up than their topic: {', '.join(first)}. A line that kept what "
        f"is not its own would hold more than it has to: {total:,} must go."
    )


def other_proof(explanation: Explanation) -> str:
    """Return the sentence on the proof of what the counts do not show."""
    kind = explanation.solution.proof.kind
    if kind is ProofKind.CERTIFICATE:
        return AFTER if explanation.blocks else PROVED
    return ENUMERATED if kind is ProofKind.EXHAUSTION else SOLVER


def not_proved(solution: Solution) -> str:
    """Return the sentences for a solution without a proof: nothing to explain, and its bounds."""
    if solution.assignment is None:
        return "No assignment was found in the time given, so there is none to explain."
    terms = ", ".join(
        f"{called(t.name)} {t.value:,}"
        + ("" if t.bound in (None, t.value) else f" (no assignment is below {t.bound:,})")
        for t in solution.terms
    )
    return f"The best one known has {terms}. That none is better is not proved."


def named(names: Sequence[str]) -> str:
    """Return names as ``a, b and c``; a long list ends in the number of names left out."""
    shown: list[str] = []
    for name in names if len(names) <= MOST_NAMED else names[:FEW]:
        if shown and sum(map(len, shown)) + len(name) > LONGEST:
            break
        shown.append(name)
    left = len(names) - len(shown)
    return f"{', '.join(shown)} and {left:,} more" if left else listed(shown)


def about(explanation: Explanation, member: str) -> list[str]:
    """Return sentences on a member: what it holds, who reads the same topics, why no more or less.

    Parameters
    ----------
    member : its id, or a client id that no other member has

    Raises
    ------
    BadInput
        If the group has no such member, or several with that client id.
    """
    group = explanation.group
    m = member_meant(group, member, "member")
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
        who = f"{counted(len(others), 'other member')} {agreed(len(others), 'read')}"
        if not others:
            who = "nobody else reads"
        return (
            f"It reads {len(topics)} topics with {counted(total, 'partition')}; "
            f"{who} {'some' if others else 'any'} of them."
        )
    parts = []
    # Subtopologies are called 0, 1 and so on.
    noun = "" if group.streams is None else "topic "
    for t in topics:
        mates = [group.members[r] for r in group.subscribers(t).tolist() if r != m]
        who = f"read by {named(mates)} too" if mates else "read by nobody else"
        parts.append(
            f"{noun}{group.topics[t]} ({counted(int(group.partitions[t]), 'partition')}, {who})"
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
    """Return why a member holds no more and no less, if the group has several blocks."""
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
    more = len(found) - MOST_OF_MEMBER
    return [*found[:MOST_OF_MEMBER], *([f"It is in {more} more."] if more > 0 else [])]
