"""Readers: which member should read which topic besides, for the lowest peak."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from compare.advice.advice import Change, NoGain, least_gain
from compare.advice.changed import with_reader
from compare.advice.members import lowest_of_all
from compare.advice.worlds import least_peaks, turn, with_few_moves
from compare.reasons.blocks import blocks_of
from groups.tiers import values
from groups.wording import counted
from optimal.proof import ProofKind

if TYPE_CHECKING:
    from compare.advice.advice import Lower
    from compare.advice.worlds import Best, Worlds
    from groups.arrays import Int64
    from groups.group import Group
    from optimal.time_left import TimeLeft

# Pairs of a member and a topic that are tried: each is one solve, by flows a quick one.
MOST_TRIED = {"peak_load": 64, "peak_lag": 12}
# Cells of members and topics that are looked at.
MOST_CELLS = 10**6


def one_more_reader(
    worlds: Worlds, best: Best, lower: Lower, time_left: TimeLeft, *, total: int
) -> Change | NoGain | None:
    """Return the member and the topic that it should read besides, for the lowest peak.

    Members that read the same are as good as each other for that: of those the one that has
    least is looked at. None where it is not known who reads what.
    """
    if not worlds.known:
        return None
    group = worlds.least
    pairs, every = _pairs(group, best, lower)
    if not every:
        reason = "every member reads every topic that somebody reads"
        if not _all_read_all(group):
            reason = "whoever could read more is as busy itself"
        return NoGain("subscription", f"{reason[0].upper()}{reason[1:]}.", proved=True)
    floor = max(-(-total // len(group.members)), lowest_of_all(worlds, lower)[0])
    if best.peak.value - floor < least_gain(best.peak.value):
        reason = "On average members have as much, or one partition alone has."
        return NoGain("subscription", reason, proved=True)
    seconds = turn(time_left, 2 * len(pairs))
    tried = [worlds.changed(partial(with_reader, member=m, topic=t)) for m, t in pairs]
    found: list[tuple[tuple[int, int], Best]] = []
    for pair, one in zip(pairs, least_peaks(tried, lower, seconds), strict=True):
        if one is not None and one.peak.value < best.peak.bound:
            found.append((pair, one))
    if not found:
        all_tried = len(pairs) == every
        which = "No member that reads one topic more" if all_tried else "None of the"
        if not all_tried:
            which += f" {counted(len(pairs), 'subscription')} tried of {every:,}"
        return NoGain(
            "subscription", f"{which} lowers it.", proved=all_tried and lower == "peak_load"
        )
    (member, topic), least = min(
        found,
        key=lambda one: (
            one[1].peak.value,
            len(one[1].assignment.moved),
            values(one[1].assignment, ("balance",)),
            one[0],
        ),
    )
    least = with_few_moves(least, lower, seconds)
    return Change(
        "subscription",
        before=best.peak,
        after=least.peak,
        assignment=least.assignment,
        moves=len(least.assignment.moved),
        member=group.members[member],
        topic=group.topics[topic],
        restarts=1,
    )


def _pairs(group: Group, best: Best, lower: Lower) -> tuple[list[tuple[int, int]], int]:
    """Return (member, topic) pairs to try, the most promising first, and how many there are.

    Of partitions, all others are proved not to lower the peak: the fullest block
    (docs/explanation/proof.md) holds more than it can at a lower peak, and only who is not of it
    can take something of it.
    """
    loads = best.assignment.loads
    topics = np.flatnonzero((group.readers > 0) & (group.partitions > 0))
    inside: set[int] = set()
    if lower == "peak_load" and best.solution.proof.kind is ProofKind.CERTIFICATE:
        blocks = blocks_of(best.solution)
        if blocks:
            inside, topics = set(blocks[0].members), np.array(blocks[0].topics, np.int64)
    weight = _weights(group, lower)
    order = topics[np.argsort(-weight[topics], kind="stable")]
    least: dict[int, int] = {}
    for m in np.argsort(loads, kind="stable").tolist():
        if m not in inside:
            least.setdefault(int(group.subscription_row[m]), m)
    members = list(least.values())
    looked_at = max(1, MOST_CELLS // max(1, len(order)))
    every = len(order) * max(0, len(members) - looked_at)
    members = members[:looked_at]
    pairs: list[tuple[int, int]] = []
    for topic in order.tolist():
        reads = group.subscribes(np.array(members, np.int64), np.full(len(members), topic))
        every += int((~reads).sum())
        if len(pairs) < MOST_TRIED[lower]:
            pairs += [(m, topic) for m, there in zip(members, reads, strict=True) if not there]
    return pairs[: MOST_TRIED[lower]], every


def _weights(group: Group, lower: Lower) -> Int64:
    """(topics,) int64: what each topic has of what the peak is made of."""
    if lower == "peak_load" or group.lag_records is None:
        return group.partitions
    found = np.zeros(len(group.topics), np.int64)
    np.add.at(found, group.topic, np.maximum(group.lag_records, 0))
    return found


def _all_read_all(group: Group) -> bool:
    wanted = (group.readers > 0) & (group.partitions > 0)
    return bool((group.readers[wanted] == len(group.members)).all())
