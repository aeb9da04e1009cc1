"""Sentences: verdicts in words, for the terminal and the page alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from compare.verdict import NO_COMMAND
from groups.errors import Refused
from groups.wording import ON_THE_WAY, counted, few
from heuristics.protocol import choose

if TYPE_CHECKING:
    from collections.abc import Sequence

    from compare.judged import Judged
    from compare.verdict import Verdict
    from groups import Assignment, Group
    from groups.arrays import Int64

BALANCE = "balance: the sum over all pairs of members of the difference of their loads (KIP-54)"


def not_valid(now: Assignment) -> str:
    """Return why an assignment is not valid; where partitions are only not given out, how many."""
    first, *rest = now.violations
    if all(one.kind == "unassigned" for one in now.violations):
        count = counted(len(now.violations), "partition")
        named = few([f"{one.topic}-{one.partition}" for one in now.violations])
        return f"{count} {'are' if rest else 'is'} with nobody for now: {named}"
    return f"{first}{f', and {len(rest)} more' if rest else ''}"


def sentence(judged: Judged) -> str:
    """Return in one or two sentences what is known of a group, and what to do."""
    return f"{_sentence(judged)}{_under_way(judged.group)}"


def _under_way(group: Group) -> str:
    """Return a sentence of its own where the verdict is about the end of a rebalance."""
    found = next((line for line in group.assumed if line.startswith(ON_THE_WAY)), None)
    return "" if found is None else f" {found[0].upper()}{found[1:]}."


def _sentence(judged: Judged) -> str:
    verdict, name = judged.verdict, judged.group.name
    waiting = records_waiting(verdict.waiting)
    if verdict.says == "nobody reads":
        return (
            f"{name}: nobody reads. {waiting}, and the group has no members. Start its consumers; "
            "one that calls assign() is no member and is not seen here."
        )
    if verdict.says == "no members":
        return f"{name}: no members, so there is nothing to assign."
    members = counted(len(judged.group.members), "member")
    if verdict.says == "nothing assigned yet":
        return f"{name}: nothing assigned yet to its {members}.{waiting and f' {waiting}.'}"
    if verdict.says == "not valid":
        return f"{name}: not valid. {not_valid(judged.now)}."
    partitions = counted(int((judged.now.owner >= 0).sum()), "partition")
    one = members == "1 member"
    holds = f"{members} {'holds' if one else 'hold'} {spread(judged.now.loads)}"
    holds += f"{'' if one else ' each'} of {partitions}"
    if verdict.says == "as good as can be":
        given = f", if {verdict.condition}" if verdict.condition else ""
        return f"{name}: as good as can be{given}. {holds}."
    if verdict.says == "improvable":
        return f"{name}: {_improvable(judged, partitions)}"
    tier = verdict.tier or ""
    most = "" if verdict.at_most is None else f", at most {verdict.at_most} less {_told(tier)}"
    if verdict.says == "not proved":
        return f"{name}: not proved in the time given. A better one may exist{most}. {holds}."
    return (
        f"{name}: depends on who reads what: {verdict.question} "
        f"If so, it is improvable{most}; if not, another topic may decide it. {holds}."
    )


def records_waiting(records: int | None) -> str:
    """Return ``1,328 records wait``; nothing where none does, or that is not known."""
    return f"{counted(records, 'record')} {'waits' if records == 1 else 'wait'}" if records else ""


def start_consumers(verdict: Verdict) -> str:
    """Return what to do about a group that nobody reads, in a few words."""
    return f"start its consumers: {records_waiting(verdict.waiting)}"


def assigned_by(group: Group) -> str | None:
    """Return the assignor that a group ends up with, where all members tell what they list."""
    listed = {
        member: details.assignors
        for member, details in zip(group.members, group.details, strict=False)
        if details.assignors
    }
    if len(listed) < len(group.members):
        return None
    try:
        return choose(listed).assignor
    except Refused:
        return None


def moves_needed(judged: Judged) -> int | None:
    """Return how many partitions move to what is sure to be possible, None where unknown."""
    target = judged.target
    return None if target is None else len(target.moved)


def called(tier: str) -> str:
    """Return what a tier counts, as people call it."""
    return "moves" if tier == "stickiness" else tier


def spread(loads: Int64 | Sequence[int]) -> str:
    """Return loads as ``4-18``, or ``10`` where all are equal; a dash for nobody."""
    if not len(loads):
        return "-"
    least, most = int(min(loads)), int(max(loads))
    return str(least) if least == most else f"{least}-{most}"


def captures(captured: int, groups: int) -> str:
    """Return ``3 groups``, or ``4 captures of 3 groups`` where a group was captured twice."""
    told = counted(groups, "group")
    return told if captured == groups else f"{captured:,} captures of {told}"


def _improvable(judged: Judged, partitions: str) -> str:
    verdict = judged.verdict
    surely = f" if {verdict.condition}" if verdict.condition else " for sure"
    moves, target = moves_needed(judged), judged.target
    if target is None:
        return f"improvable{surely}."
    now, best = judged.now.loads, target.loads
    members = judged.group.members
    if verdict.tier != "balance":
        by = "" if verdict.at_least is None else f" by {verdict.at_least}"
        lowers = f"Moving {moves} of {partitions} lowers {verdict.tier}{by}."
        return f"improvable{surely}. {lowers} {NO_COMMAND}"
    least, most = int(np.argmin(now)), int(np.argmax(now))
    return (
        f"improvable{surely}. Moving {moves} of {partitions} gives everyone {spread(best)}; now "
        f"{members[most]} holds {now[most]} and {members[least]} holds {now[least]}. {NO_COMMAND}"
    )


def _told(tier: str) -> str:
    return "in the sum of all pairs' differences" if tier == "balance" else f"in {tier}"
